/** Files of `config/` that are too large, by hand or by a mistake of a program, are wrong files like others. */
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { configBytes, mostConfigBytes } from '../../../../core/host/load/config-bytes.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'

const clock = createClock()
/** More than a text of JavaScript may have. */
const huge = 600 * 1024 * 1024

const rootWith = async (t: ExecutionContext) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const fileOf = (name: string): string => join(root, 'config', name)
  mkdirSync(join(root, 'config'), { recursive: true })
  const write = (name: string, text: string, size?: number): void => {
    writeFileSync(fileOf(name), text)
    if (size !== undefined) truncateSync(fileOf(name), size)
  }
  return { root, fileOf, write }
}

test('runtime-5: a file that grows too large in a running daemon is named with its size, and the last good one stays', async (t) => {
  const { root, write } = await rootWith(t)
  write('hooks.toml', '[hooks.guard]\nevent = "pre_tool_use"\nexecutor = { type = "command", command = "true" }\n')
  write('models.toml', 'idle_timeout_ms = 5000\n')
  const { daemon, request } = await startTestDaemon(t, { root })
  const told = (): string[] => daemon.view.warnings().map(({ code, message }) => `${code} ${message}`)
  write('hooks.toml', '', huge)
  write('models.toml', '', huge)
  const rules = [
    /^config_entry_invalid config\/hooks\.toml has 629145600 bytes, and may have 8388608 .* What held before stays\./u,
    /^config_invalid .*config\/models\.toml has 629145600 bytes, and may have 8388608 /u,
  ]
  const isTold = (rule: RegExp): boolean => told().some((line) => rule.test(line))
  for (let look = 0; look < 100 && !rules.every(isTold); look += 1) await clock.sleep(100)
  t.true(rules.every(isTold), told().join('\n'))
  t.is((await request('GET', '/healthz')).status, 200)
})

test('runtime-5: a file that is too large ends a start by its name and size, and a safe one does without', async (t) => {
  const { root, write } = await rootWith(t)
  write('schedules.toml', '', huge)
  await t.throwsAsync(startTestDaemon(t, { root }), {
    code: 'config_invalid',
    message: /^config\/schedules\.toml has 629145600 bytes, and may have 8388608 \(8 MiB\) at most/u,
  })
  const { daemon } = await startTestDaemon(t, { root, flags: { safe: 'true' } })
  t.true(
    daemon.view
      .warnings()
      .some(({ code, message }) => code === 'plugin_not_loaded' && /schedules\.toml has/u.test(message)),
  )
})

test('a file of the most bytes is read, a larger one is not, and of one that grows meanwhile no more than that', async (t) => {
  const { fileOf, write } = await rootWith(t)
  const [disk, file] = [createDisk(), fileOf('routes.toml')]
  write('routes.toml', '', mostConfigBytes)
  t.is(configBytes(disk, file)?.length, mostConfigBytes)
  const early = disk.stat(file)
  write('routes.toml', '', huge)
  const unread = { ...disk, readFile: () => t.fail('it is read') as never }
  t.throws(() => configBytes(unread, file), { code: 'config_invalid', message: /has 629145600 bytes/u })
  t.throws(() => configBytes({ ...disk, stat: () => early }, file), { message: /has 8388609 bytes/u })
})
