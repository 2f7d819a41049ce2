import { spawnSync } from 'node:child_process'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { freshRoot, startTestDaemon, type Reachable } from '../../../support/daemon.js'
import { echoing } from '../../../support/interceptors.js'
import { eventually } from '../../../support/mcp.js'
import { startReceiver } from '../../../support/receiver.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { openStream } from '../../../support/sse.js'
import { makeFolder } from '../../../support/tools.js'

const entry = (name: string, command: string, more = ''): string =>
  `[hooks.${name}]\nevent = "pre_tool_use"\n${more}executor = { type = "command", command = ${JSON.stringify(command)} }\n`

const rootWith = async (t: ExecutionContext, text: string) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await mkdir(join(root, 'config'), { recursive: true })
  // In one step: a daemon that looks while a file is being written finds it empty.
  const write = async (more: string) => {
    await writeFile(join(root, 'hooks.new'), more, { mode: 0o600 })
    await rename(join(root, 'hooks.new'), join(root, 'config', 'hooks.toml'))
  }
  await write(text)
  return { root, write }
}

const daemonOn = async (t: ExecutionContext, root: string) => {
  const tool = echoing()
  const workspace = await makeFolder(t)
  const daemon = await startTestDaemon(t, { root, plugins: [tool.plugin], flags: { 'workspace-root': workspace } })
  const warnings = async (): Promise<any[]> => (await daemon.request('GET', '/v1/status')).body.health.warnings
  const run = async () => {
    const { run_id } = await submit(daemon, 's1', '/tool echo {"text":"plain"}')
    await until(daemon, run_id, 'completed', 'failed')
  }
  return { ...daemon, workspace, made: tool.calls, warnings, run }
}

const namesIn = async ({ request }: Reachable): Promise<string[]> => {
  const { hooks } = (await request('GET', '/v1/runtime/hooks')).body
  return Object.values<any>(hooks).flatMap((all) => all.map(({ name }: any) => name))
}
const become = ({ request }: Reachable, names: string): Promise<true> =>
  eventually(async () => ((await namesIn({ request } as Reachable)).join() === names ? true : undefined))

test('hooks-21: hooks of the file are asked in its order, and a change of the file is applied entry by entry', async (t) => {
  const { root, write } = await rootWith(t, entry('zeal', 'exit 0') + entry('guard', 'echo "not today" >&2; exit 2'))
  const daemon = await daemonOn(t, root)
  const stream = openStream({ port: Number(new URL(daemon.url).port), path: '/v1/events/stream' })
  t.teardown(stream.close)
  await openSession(daemon)
  t.deepEqual(await namesIn(daemon), ['zeal', 'guard'])
  await daemon.run()
  t.deepEqual(daemon.made, [])
  await stream.until(1)
  await write(entry('guard', 'exit 2') + entry('zeal', 'exit 0', 'matcher = "["\n') + entry('late', 'exit 0'))
  await become(daemon, 'guard,zeal,late')
  const [warning] = (await daemon.warnings()).filter(({ code }) => code === 'config_entry_invalid')
  t.is(warning.related_id, 'hooks/zeal')
  t.regex(warning.message, /\[hooks\.zeal\] matcher: its matcher .*What held before stays/u)
  await eventually(async () => stream.frames.find(({ event }) => event === 'runtime_updated'))
  await write('pass_environment = ["X"]\n' + entry('late', 'exit 0'))
  await become(daemon, 'late')
  await daemon.run()
  t.deepEqual(daemon.made, [{ text: 'plain' }])
  await write('[hooks.late\n')
  await eventually(async () =>
    (await daemon.warnings()).find(({ message }) => /hooks\.toml is not TOML/u.test(message)),
  )
  t.deepEqual(await namesIn(daemon), ['late'])
  await rm(join(root, 'config', 'hooks.toml'))
  await become(daemon, '')
  const { revisions } = (await daemon.request('GET', '/v1/runtime/revisions')).body
  t.true(revisions.every(({ source, setting }: any) => source === 'file' && setting === 'config/hooks.toml'))
  t.deepEqual(
    revisions
      .at(-1)
      .entries.map(({ name, change }: any) => `${name} ${change}`)
      .toSorted(),
    ['guard changed', 'late added', 'zeal moved'],
  )
})

test('hooks-31: a hook whose callback or model route is not there is told before a call needs it', async (t) => {
  const hook = (name: string, executor: string, more = '') =>
    `[hooks.${name}]\nevent = "pre_tool_use"\n${more}executor = { ${executor} }\n`
  const gone = hook('gone', 'type = "callback", name = "nobody"', 'failure_policy = { mode = "closed" }\n')
  const far = hook('far', 'type = "prompt", template = "ok?", model = { provider = "nowhere" }')
  const near = hook('near', 'type = "prompt", template = "ok?", model = { provider = "demo" }')
  const { root, write } = await rootWith(t, gone + far + near)
  const daemon = await daemonOn(t, root)
  const told = async (): Promise<string[]> =>
    (await daemon.warnings()).filter(({ code }) => code === 'hook_not_askable').map(({ message }) => message)
  t.deepEqual(await told(), [
    'The hook gone at pre_tool_use cannot be asked, and what it guards is refused: no plugin contributes a callback of that name.',
    'The hook far at pre_tool_use cannot be asked, and nothing is stopped by it: there is no model route nowhere.',
  ])
  await openSession(daemon)
  await daemon.run()
  const { dead_letters } = (await daemon.request('GET', '/v1/runtime/hooks/dead-letter')).body
  t.is(dead_letters[0].error, 'no plugin contributes a callback of that name')
  await write(near)
  await eventually(async () => ((await told()).length === 0 ? true : undefined))
  t.pass()
})

test('hooks-21: a start refuses a wrong hook, whatever is wrong with it', async (t) => {
  for (const [text, says] of [
    [entry('guard', 'x', 'matcher = "["\n'), /^config\/hooks\.toml:3 hooks\.guard\.matcher: its matcher/u],
    ['\n' + entry('guard', 'x').replace('hooks', 'hook'), /^config\/hooks\.toml:2 hook is .*; did you mean hooks\?/u],
    [
      entry('guard', 'x').replace('type = "command"', 'type = "command", timout_ms = 5'),
      /^config\/hooks\.toml:3 hooks\.guard\.executor\.timout_ms is .*; did you mean hooks\.guard\.executor\.timeout_ms\?/u,
    ],
    [
      entry('guard', 'x').replace('pre_tool_use', 'nothing'),
      /^config\/hooks\.toml:2 hooks\.guard\.event: the moment nothing/u,
    ],
    [
      entry('guard', 'x', 'matcher = "bash"\n').replace('pre_tool_use', 'setup'),
      /^config\/hooks\.toml:3 hooks\.guard\.matcher: its matcher never matches/u,
    ],
    [entry('guard', 'x', 'colour = "red"\n'), /hooks\.guard\.colour/u],
    [entry('7', 'x'), /hooks\.7: its name/u],
    [entry('"../x"', 'x'), /hooks\.\.\.\/x: its name/u],
    [
      '[hooks.web]\nevent = "stop"\nexecutor = { type = "http", url = "http://10.0.0.1/" }\n',
      /^config\/hooks\.toml:3 hooks\.web\.executor\.url: its url/u,
    ],
  ] as const) {
    const { root } = await rootWith(t, text)
    const error = await t.throwsAsync(startTestDaemon(t, { root }), undefined, text)
    t.regex(error?.message ?? '', says)
  }
})

test('hooks-21: a start tells every wrong hook of the file', async (t) => {
  const text = 'abcdefg'.split('').map((name) => entry(name, 'x').replace('pre_tool_use', name))
  const { root } = await rootWith(t, text.join('\n'))
  const error = await t.throwsAsync(startTestDaemon(t, { root }), { code: 'config_invalid' })
  t.regex(
    error?.message ?? '',
    /^config\/hooks\.toml:2 hooks\.a\.event: the moment a .*; wrong too: hooks\.b, hooks\.c, hooks\.d, hooks\.e and 2 more$/u,
  )
})

test('hooks-32: a moment has at most 100 hooks of the file; those in force stay, and a start refuses more', async (t) => {
  const entries = (count: number, name = 'h'): string =>
    Array.from({ length: count }, (_, at) => entry(`${name}${at}`, 'exit 0')).join('')
  const { root, write } = await rootWith(t, entries(99))
  const daemon = await daemonOn(t, root)
  const more = entries(30, 'x')
  await write(more + entries(99) + entry('other', 'exit 0').replace('pre_tool_use', 'stop'))
  await eventually(async () => ((await namesIn(daemon)).includes('other') ? true : undefined))
  t.deepEqual(await namesIn(daemon), ['x0', ...Array.from({ length: 99 }, (_, at) => `h${at}`), 'other'])
  const told = (await daemon.warnings()).filter(({ code }) => code === 'config_entry_invalid')
  t.is(told.length, 20)
  t.is(told[0].related_id, 'hooks/x1')
  t.regex(
    told[0].message,
    /x1\] there may be 100 for pre_tool_use at most\. The entry is left out\. The next start refuses it\.$/iu,
  )
  t.regex(told[19].message, / 9 more of the file are wrong\.$/u)
  await write(entries(99).replaceAll('exit 0', 'exit 1') + entry('x0', 'exit 0') + entry('x1', 'exit 0'))
  await eventually(async () => ((await namesIn(daemon))[0] === 'h0' ? true : undefined))
  const { hooks } = (await daemon.request('GET', '/v1/runtime/hooks')).body
  t.is(hooks.pre_tool_use.length, 100)
  t.is(hooks.pre_tool_use.at(-1).name, 'x0')
  t.is((await daemon.warnings()).filter(({ code }) => code === 'config_entry_invalid').length, 1)
  await daemon.stop()
  const error = await t.throwsAsync(startTestDaemon(t, { root }))
  t.regex(error?.message ?? '', /hooks\.x1: there may be 100 for pre_tool_use at most/u)
})

test('hooks-22: hooks that were set stand in place of the file, until a rollback to before they were', async (t) => {
  const { root, write } = await rootWith(t, entry('guard', 'exit 2'))
  const first = await daemonOn(t, root)
  const isOverruled = async ({ warnings }: Pick<typeof first, 'warnings'>) =>
    (await warnings()).some(({ code }) => code === 'hooks_file_overruled')
  t.false(await isOverruled(first))
  t.is((await first.request('POST', '/v1/runtime/model', { model: 'other' })).status, 200)
  t.deepEqual(await namesIn(first), ['guard'], 'a change of another setting keeps the file')
  t.is((await first.request('POST', '/v1/runtime/hooks', { hooks: {} })).status, 200)
  t.deepEqual(await namesIn(first), [])
  t.true(await isOverruled(first))
  const { action } = (await first.warnings()).find(({ code }) => code === 'hooks_file_overruled') ?? {}
  t.regex(String(action), /changed since.* after holdfast runtime rollback\. .*every setting.*--target-revision 0$/u)
  await first.stop()
  const second = await daemonOn(t, root)
  t.deepEqual(await namesIn(second), [])
  await write(entry('other', 'exit 2'))
  await eventually(async () =>
    (await second.warnings()).some(({ message }) => /toml, 1 hook,/u.test(message)) ? true : undefined,
  )
  t.deepEqual(await namesIn(second), [])
  t.is((await second.request('POST', '/v1/runtime/rollback', { target_revision: 1 })).status, 200)
  await become(second, 'other')
  t.false(await isOverruled(second))
  t.like((await second.request('GET', '/v1/runtime')).body, { model: 'other' })
})

test('hooks-22, runtime-36: what the file says of hooks is kept nowhere else, and its change asks no hook', async (t) => {
  const asked =
    '[hooks.changes]\nevent = "config_change"\nexecutor = { type = "command", command = "echo x >> asked" }\n'
  const { root, write } = await rootWith(t, asked + entry('guard', ': canary-1'))
  const daemon = await daemonOn(t, root)
  t.is((await daemon.request('POST', '/v1/runtime/model', { model: 'other', skip_hooks: true })).status, 200)
  await write(asked + entry('guard', ': canary-2') + entry('late', 'exit 0'))
  await become(daemon, 'changes,guard,late')
  const revision = async () => (await daemon.request('GET', '/v1/runtime')).body.config.revision
  await eventually(async () => ((await revision()) >= 2 ? true : undefined))
  await daemon.stop()
  t.is(spawnSync('grep', ['-rlaF', 'canary-', root]).stdout.toString().trim(), join(root, 'config', 'hooks.toml'))
  t.not(spawnSync('test', ['-e', join(daemon.workspace, 'asked')]).status, 0)
})

test('hooks-23: a moment is asked of the hooks that hold when it begins, and a run in flight sees others at its next', async (t) => {
  const hang = 'touch asking; while [ ! -e go ]; do sleep 0.02; done; echo first >> asked'
  const { root, write } = await rootWith(t, entry('slow', hang) + entry('after', 'echo after >> asked'))
  const daemon = await daemonOn(t, root)
  await openSession(daemon)
  const script = '/tool echo {"text":"one"}\n---\n/tool echo {"text":"two"}'
  const { run_id } = await submit(daemon, 's1', script)
  const isThere = (file: string) => spawnSync('test', ['-e', join(daemon.workspace, file)]).status === 0
  await eventually(async () => (isThere('asking') ? true : undefined))
  await write(entry('fresh', 'echo fresh >> asked'))
  await become(daemon, 'fresh')
  await writeFile(join(daemon.workspace, 'go'), '')
  await until(daemon, run_id, 'completed', 'failed')
  t.is(spawnSync('cat', [join(daemon.workspace, 'asked')]).stdout.toString(), 'first\nafter\nfresh\n')
})

test('hooks-21: hooks that an embedding program gives stand in for those of the file', async (t) => {
  const hook = { event: 'stop', executor: { type: 'command', command: 'true' } }
  const daemon = await startTestDaemon(t, { config: { hooks: { hooks: { given: hook } } } })
  t.deepEqual(await namesIn(daemon), ['given'])
})

test('hooks-21: what stands beside the hooks counts when the file is saved, for the hooks that are saved with it', async (t) => {
  const { root, write } = await rootWith(t, '')
  const receiver = await startReceiver(t)
  const daemon = await daemonOn(t, root)
  const far = `[hooks.far]\nevent = "pre_tool_use"\nexecutor = { type = "http", url = "http://127.0.0.1:${receiver.port}/guard" }\n`
  const near = entry('near', 'printenv HOOKS_FILE_PASSED > passed')
  process.env['HOOKS_FILE_PASSED'] = 'yes'
  await openSession(daemon)
  await write(far)
  await eventually(async () => (await daemon.warnings()).find(({ code }) => code === 'config_entry_invalid'))
  await write(`allow_cidrs = ["127.0.0.0/8"]\npass_environment = ["HOOKS_FILE_PASSED"]\n${far}${near}`)
  await become(daemon, 'far,near')
  t.deepEqual(
    (await daemon.warnings()).filter(({ code }) => code.startsWith('config_')),
    [],
  )
  await daemon.run()
  t.is(receiver.received.length, 1)
  t.is(spawnSync('cat', [join(daemon.workspace, 'passed')]).stdout.toString(), 'yes\n')
  await write(`${far}${near}`)
  const told = await eventually(async () => (await daemon.warnings()).find(({ code }) => code === 'hook_not_askable'))
  t.regex(told.message, /^The hook far .* address that allow_cidrs of config\/hooks\.toml has not\.$/u)
  await daemon.run()
  t.is(receiver.received.length, 1)
})

test('runtime-35: a wrong member beside the hooks is told, and the hooks of the same file count', async (t) => {
  const { root, write } = await rootWith(t, entry('guard', 'exit 2'))
  const daemon = await daemonOn(t, root)
  await write(`allow_cidrs = ["x"]\n${entry('other', 'exit 2')}`)
  await eventually(async () => ((await namesIn(daemon)).join() === 'other' ? true : undefined))
  const told = await eventually(async () =>
    (await daemon.warnings()).find(({ code }: { code: string }) => code === 'config_entry_invalid'),
  )
  t.regex(
    told.message,
    /^config\/hooks\.toml:1: allow_cidrs\.0 must be an address range .*\. None of it holds\. The next start refuses it\.$/u,
  )
})
