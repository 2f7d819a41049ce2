/** The page for operators is true: its lines are run in a folder that stands for the machine. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { daemonSettings } from '../../core/base/settings.js'
import { shipped } from '../../core/shipped.js'
import { pluginFlags } from '../../core/cli/plugin-commands.js'
import { mainFile, spawnTestDaemon } from '../support/daemon.js'
import { blocksFor, copiedBy, repository, sh } from '../support/docs.js'

const read = (name: string): string => readFileSync(join(repository, 'docs/operations', name), 'utf8')

const [backUp = '', restore = '', release = ''] = blocksFor('docs/operations.md', 'operations')

/** `holdfast` as the page installs it; `systemctl` is the test's. */
const machine = (folder: string, url: string): string =>
  [
    `holdfast() { SERVICE_STATE_ROOT=${folder}/state SERVICE_DAEMON_URL=${url} '${process.execPath}' '${mainFile}' "$@"; }`,
    'systemctl() { echo "systemctl $*"; }',
    'set -e',
    '',
  ].join('\n')

const runIn = (folder: string, url: string, block: string) =>
  sh(machine(folder, url) + block.replaceAll('/var/lib/holdfast', folder), folder)

test('a backup under work and its restore, exactly as printed, bring back what was there', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-operations-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'backups'))
  const root = join(folder, 'state')
  const first = await spawnTestDaemon(t, { root })
  await first.request('POST', '/v1/sessions', { session_id: 'kept' })
  mkdirSync(join(root, 'config'), { recursive: true })
  writeFileSync(join(root, 'config', 'runs.toml'), 'drain_ms = 4000\n', { mode: 0o600 })
  const saved = await runIn(folder, first.url, backUp)
  t.deepEqual([saved.code, saved.err], [0, ''], saved.out)
  await first.request('POST', '/v1/sessions', { session_id: 'later' })
  await first.stop()
  const restored = await runIn(folder, first.url, restore)
  t.deepEqual([restored.code, restored.err], [0, ''], restored.out)
  t.regex(restored.out, /^systemctl stop holdfast\n[^]*clean up to commit[^]*systemctl start holdfast\n$/u)
  t.is(readFileSync(join(root, 'config', 'runs.toml'), 'utf8'), 'drain_ms = 4000\n')
  const second = await spawnTestDaemon(t, { root })
  t.deepEqual(
    [
      (await second.request('GET', '/v1/sessions/kept')).status,
      (await second.request('GET', '/v1/sessions/later')).status,
    ],
    [200, 404],
  )
  const { run_id } = (await second.request('POST', '/v1/sessions/kept/runs', { content: 'Hello' })).body
  const hint = /waits {4}for you: the daemon holds and begins no run: holdfast release/u
  const shown = await runIn(folder, second.url, `holdfast runs get ${run_id}`)
  t.regex(shown.out, hint)
  t.regex((await runIn(folder, second.url, "holdfast runs submit kept 'Once more'")).out, hint)
  const released = await runIn(folder, second.url, `${release}\nholdfast runs watch ${run_id}`)
  t.deepEqual([released.code, released.err], [0, ''], released.out)
  t.regex(released.out, /completed\n[^]*You said: Hello/u)
  t.notRegex((await runIn(folder, second.url, `holdfast runs get ${run_id}`)).out, hint)
  await second.stop()
})

test('the unit and the container file start the daemon with flags and variables that it has', async (t) => {
  const settings = [...daemonSettings, ...pluginFlags(await shipped.plugins())]
  const flags = new Set(settings.map(({ flag }) => `--${flag}`))
  const variables = new Set(settings.map(({ variable }) => variable))
  const page = readFileSync(join(repository, 'docs/operations.md'), 'utf8')
  const [unit, image] = [read('holdfast.service'), read('Containerfile')]
  const [, started = ''] = /^ExecStart=.* serve (.*)$/mu.exec(unit) ?? []
  const [, command = ''] = /^CMD \["serve", (.*)\]$/mu.exec(image) ?? []
  const given = [...started.matchAll(/--[a-z-]+/gu), ...command.matchAll(/--[a-z-]+/gu)].map(([flag]) => flag)
  t.true(given.length >= 6)
  t.deepEqual(
    given.filter((flag) => !flags.has(flag)),
    [],
  )
  const named = [...`${page}${unit}${image}`.matchAll(/\bSERVICE_[A-Z_]+/gu)].map(([name]) => name)
  t.deepEqual(
    named.filter((name) => !variables.has(name)),
    [],
  )
  for (const path of ['dist/core/main.js', 'docs/operations/Containerfile', 'docs/operations/holdfast.service'])
    t.true(`${page}${unit}${image}`.includes(path), path)
})

test('the container file copies nothing that the repository does not have', (t) => {
  const copied = copiedBy(read('Containerfile'))
  t.true(copied.length > 5)
  t.deepEqual(
    copied.filter((name) => !existsSync(join(repository, name))),
    [],
  )
})

test('the retention that the page shows is understood, and its commands run', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-operations-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const [config = ''] = blocksFor('docs/operations.md', 'operations-retention')
  const [commands = ''] = blocksFor('docs/operations.md', 'operations-retention-run')
  const archives = join(folder, 'archives')
  mkdirSync(archives, { mode: 0o700 })
  const root = join(folder, 'state')
  mkdirSync(join(root, 'config'), { recursive: true, mode: 0o700 })
  writeFileSync(join(root, 'config', 'retention.toml'), config.replace('/var/lib/holdfast/archives', archives), {
    mode: 0o600,
  })
  const daemon = await spawnTestDaemon(t, { root })
  const { body } = await daemon.request('GET', '/v1/status')
  t.like(body.retention, { min_age_ms: 2 * 86_400_000, max_bytes: 50 * 1024 ** 3, archive_dir: archives })
  const ran = await runIn(folder, daemon.url, commands)
  t.deepEqual([ran.code, ran.err, ran.out], [0, '', 'Nothing would fall.\nNothing fell.\n'])
  await daemon.stop()
})
