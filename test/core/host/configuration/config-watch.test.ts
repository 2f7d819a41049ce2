import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { configContent } from '../../../../core/host/configuration/config-content.js'
import { watchConfig } from '../../../../core/host/configuration/config-watch.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'

const clock = createClock()

const watchLists = async (
  t: ExecutionContext,
  root: string,
  lists: Parameters<typeof watchConfig>[0]['lists'],
): Promise<void> => {
  const disk = createDisk()
  const watching = await watchConfig({
    disk,
    clock,
    root,
    log: { debug: () => {}, info: () => {}, error: () => {}, warn: () => {} },
    before: configContent(disk, root),
    plugins: [],
    lists,
    check: () => {},
    lasting: [],
  })
  t.teardown(watching.close)
}

test('runtime-5: a changed file in config is noticed, a wrong one is named, and the daemon keeps what it started with', async (t) => {
  const daemon = await startTestDaemon(t)
  const codes = async (): Promise<string[]> => {
    const { body } = await daemon.request('GET', '/v1/status')
    const { health } = body as { health: { warnings?: { code: string; message: string }[] } }
    return (health.warnings ?? [])
      .filter(({ code }) => code.startsWith('config_'))
      .map(({ code, message }) => (code === 'config_invalid' ? `${code} ${message}` : code))
  }
  const until = async (wanted: RegExp): Promise<string> => {
    for (let attempt = 0; attempt < 100; attempt += 1) {
      const found = (await codes()).join()
      if (wanted.test(found)) return found
      await clock.sleep(100)
    }
    return (await codes()).join()
  }
  const file = join(daemon.root, 'config', 'models.toml')
  mkdirSync(join(daemon.root, 'config'), { recursive: true })
  t.deepEqual(await codes(), [])

  writeFileSync(file, 'colour = "red"\n')
  t.regex(await until(/config_invalid/u), /config\/models\.toml:1 colour is not a known field/u)
  const action = () => daemon.daemon.view.warnings().find(({ code }) => code.startsWith('config_'))?.action ?? ''
  t.regex(action(), /^Correct config\/models\.toml:1: the next start would refuse it/u, 'runtime-8')

  writeFileSync(file, 'idle_timeout_ms = 5000\n')
  t.is(await until(/config_changed/u), 'config_changed')
  t.is(action(), 'Restart the daemon to use config/models.toml.', 'runtime-8')
  t.regex(
    daemon.daemon.view
      .warnings()
      .map(({ message }) => message)
      .join(),
    /^config\/models\.toml has changed/mu,
  )

  writeFileSync(join(daemon.root, 'config', 'plugins.toml'), '[hello]\nfrom = "nowhere"\nrequird = true\n')
  const told = await until(/config_invalid/u)
  t.regex(told, /config\/plugins\.toml:2 hello\.from .*, hello\.requird is not a known field; did you mean required\?/u)
  t.regex(told, /hello\.from must be "state:<folder>" or "npm:<package>"/u)
  writeFileSync(join(daemon.root, 'config', 'plugins.toml'), '[hello]\nfrom = "state:hello"\ncolour = "x"\n')
  t.regex(
    await until(/hello\.colour/u),
    /hello\.colour is not a known field: settings .* stand in config\/hello\.toml/u,
  )
})

test('what was already wrong at the start is not told again when another file changes', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const config = join(root, 'config')
  mkdirSync(config, { recursive: true })
  writeFileSync(join(config, 'schedules.toml'), 'colour = "red"\n')
  const daemon = await startTestDaemon(t, { root, flags: { safe: 'true' } })
  const told = (): string[] => daemon.daemon.view.warnings().map(({ code, message }) => `${code} ${message}`)
  const until = async (wanted: RegExp): Promise<void> => {
    for (let attempt = 0; attempt < 100 && !told().some((line) => wanted.test(line)); attempt += 1)
      await clock.sleep(100)
    t.true(
      told().some((line) => wanted.test(line)),
      told().join('\n'),
    )
  }
  t.true(told().some((line) => /plugin_not_loaded.*schedules/u.test(line)))
  writeFileSync(join(config, 'models.toml'), 'idle_timeout_ms = 5000\n')
  await until(/^config_/u)
  t.false(
    told().some((line) => line.startsWith('config_invalid')),
    told().join('\n'),
  )
  writeFileSync(join(config, 'schedules.toml'), 'shape = "round"\n')
  await until(/^config_invalid.*schedules\.toml:1 shape/u)
})

test('runtime-39: a file in config that nobody reads is named, with the one that was meant, and is no change', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const config = join(root, 'config')
  mkdirSync(config, { recursive: true })
  const write = (...files: string[]): void => files.forEach((file) => writeFileSync(join(config, file), ''))
  write(
    'hook.toml',
    'mcp.tml',
    'mcp.json',
    'unheard-of.toml',
    'hooks.toml.bak',
    '.hook.toml.swp',
    'hook.toml~',
    'README',
  )
  writeFileSync(join(config, 'plugins.toml'), '[hello]\nfrom = "state:hello"\n')
  write('hello.toml', 'retention.toml', 'usage.toml')
  const daemon = await startTestDaemon(t, { root, flags: { safe: 'true' } })
  const told = (code: string) => daemon.daemon.view.warnings().filter((warning) => warning.code === code)
  const until = async (holds: () => boolean): Promise<void> => {
    for (let attempt = 0; attempt < 100 && !holds(); attempt += 1) await clock.sleep(100)
    t.true(holds(), JSON.stringify(daemon.daemon.view.warnings()))
  }
  await until(() => told('config_file_unknown').length > 0)
  const strange = told('config_file_unknown')
  t.deepEqual(strange.map(({ related_id }) => related_id).toSorted(), [
    'hook.toml',
    'mcp.json',
    'mcp.tml',
    'unheard-of.toml',
  ])
  const [line = ''] = /mv .*$/u.exec(strange.find(({ related_id }) => related_id === 'hook.toml')?.action ?? '') ?? []
  t.is(spawnSync('sh', ['-c', line]).status, 0)
  t.true(existsSync(join(config, 'hooks.toml')))
  await until(() => told('config_file_unknown').length === 3)
  write('goal.toml')
  await until(() => told('config_file_unknown').length === 4)
  t.deepEqual(told('config_changed'), [])
  writeFileSync(join(config, 'usage.toml'), 'day_zone = "Europe/Berlin"\n')
  await until(() => told('config_changed').length === 1)
  t.regex(told('config_changed')[0]?.message ?? '', /^config\/usage\.toml has changed/u)
})

test('a file in config that cannot be read is told and ends nothing', async (t) => {
  const root = await freshRoot()
  const config = join(root, 'config')
  mkdirSync(config, { recursive: true })
  const disk = createDisk()
  const before = configContent(disk, root)
  const looked: string[] = []
  const watching = await watchConfig({
    disk,
    clock,
    root,
    log: { debug: () => {}, info: () => {}, error: () => {}, warn: (fact) => void looked.push(fact) },
    before,
    plugins: ['models'],
    lists: { covers: () => false, files: () => [], elsewhere: () => [], look: () => [] },
    check: () => {},
    lasting: [],
  })
  t.teardown(watching.close)
  const until = async (wanted: RegExp): Promise<void> => {
    for (let attempt = 0; attempt < 100 && !looked.some((fact) => wanted.test(fact)); attempt += 1)
      await clock.sleep(100)
    t.true(
      looked.some((fact) => wanted.test(fact)),
      looked.join(),
    )
  }
  mkdirSync(join(config, 'models.toml'))
  await until(/models\.toml/u)
  t.like(watching.health.check()[0], { code: 'config_invalid' })
  rmSync(join(config, 'models.toml'), { recursive: true })
  for (let attempt = 0; attempt < 100 && watching.health.check().length > 0; attempt += 1) await clock.sleep(100)
  t.deepEqual(watching.health.check(), [])
})

test('runtime-5: a folder that takes the place of config is watched, whether the old one was renamed or removed', async (t) => {
  const root = await freshRoot()
  const [config, next] = [join(root, 'config'), join(root, 'next')]
  mkdirSync(config, { recursive: true })
  const file = join(config, 'mcp.toml')
  let seen = ''
  const looks: (string | undefined)[] = []
  const look = (believed?: string): string[] => {
    seen = existsSync(file) ? readFileSync(file, 'utf8') : ''
    if (seen === '') looks.push(believed)
    return seen === '' && believed === undefined ? ['mcp'] : []
  }
  await watchLists(t, root, { covers: () => true, files: () => ['mcp'], elsewhere: () => [], look })
  // While there is no folder nothing that is watched keeps the process alive.
  const alive = setInterval(() => {}, 1_000)
  t.teardown(() => clearInterval(alive))
  const write = async (text: string): Promise<void> => {
    writeFileSync(file, `${text} = 1\n`)
    for (let attempt = 0; attempt < 100 && !seen.includes(text); attempt += 1) await clock.sleep(100)
    t.true(seen.includes(text), `${text}: ${seen}`)
  }
  await write('first')
  mkdirSync(next)
  writeFileSync(join(next, 'mcp.toml'), 'second = 1\n')
  renameSync(config, join(root, 'old'))
  renameSync(next, config)
  for (let attempt = 0; attempt < 100 && !seen.includes('second'); attempt += 1) await clock.sleep(100)
  t.true(seen.includes('second'), 'what it holds counts when it is there')
  await write('third')
  looks.length = 0
  rmSync(config, { recursive: true })
  for (let attempt = 0; attempt < 600 && !looks.includes('mcp'); attempt += 1) await clock.sleep(100)
  t.deepEqual([looks[0], looks.at(-1)], [undefined, 'mcp'], 'what is gone is looked at again before it is believed')
  mkdirSync(config)
  await write('fourth')
})

test('runtime-5: a file elsewhere that is written just when the watch begins is seen whole', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const file = join(root, 'mine.toml')
  let isSeen = false
  // It is watched from a moment after the second look on.
  const look = (): readonly string[] => {
    isSeen = existsSync(file) && readFileSync(file, 'utf8') === 'whole'
    writeFileSync(file, existsSync(file) ? 'whole' : '')
    return []
  }
  await watchLists(t, root, { covers: () => true, files: () => ['mine'], elsewhere: () => [file], look })
  for (let left = 300; left > 0 && !isSeen; left -= 1) await clock.sleep(100)
  t.true(isSeen)
})
