import { spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { fault } from '../../../../core/base/assert.js'
import { createClock } from '../../../../core/base/clock.js'
import type { Json } from '../../../../core/base/schema.js'
import type { Background } from '../../../../plugins/tools/shell/background.js'
import { bashTool } from '../../../../plugins/tools/shell/bash.js'
import { createCapture } from '../../../../core/processes/capture.js'
import { passedFrom, type PassedEnvironment } from '../../../../core/base/text/child-environment.js'
import { commandEnvironment } from '../../../../plugins/tools/shell/child-environment.js'
import { stopLeftovers } from '../../../../core/processes/leftovers.js'
import { markerOf, rootTag } from '../../../../core/processes/marker.js'
import { readProcesses, type ProcessRow } from '../../../../core/state/root/process-table.js'
import { belongsTo, membersOf } from '../../../../core/processes/process-tree.js'
import { createSandbox } from '../../../../plugins/tools/shell/sandbox/sandbox.js'
import { checkTool } from '../../../conform/tool.js'
import { supervisedFor } from '../../../support/processes.js'
import { callOf, codeOf, makeFolder, runTool } from '../../../support/tools.js'

interface Given extends PassedEnvironment {
  readonly environment: Readonly<Record<string, string | undefined>>
}
const childEnvironment = ({ environment, ...passed }: Given): Record<string, string> =>
  commandEnvironment(passedFrom(environment, passed))

const clock = createClock()
const openSettings = { sandbox: 'off' as const, sandbox_network: false, sandbox_writable: [], sandbox_hidden: [] }
const unused = (): never => {
  throw fault('nothing runs in the background here')
}

/** Commands in the background have a test of their own. */
const none: Background = {
  runner: { kind: 'none', stop: unused, output: unused },
  start: unused,
  tidy: unused,
  leave: unused,
}

const setUp = async (t: ExecutionContext, { output_bytes = 64 * 1024, grace_ms = 300 } = {}) => {
  const workspace = await makeFolder(t)
  // A daemon has its listener: timers that it waits for keep no process alive.
  const listener = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(listener))
  const supervised = supervisedFor(t, workspace)
  const tool = bashTool({
    supervised,
    sandbox: createSandbox({ supervised, settings: openSettings, stateRoot: workspace }),
    config: {
      ...openSettings,
      output_bytes,
      grace_ms,
      pass_environment: [],
      background_per_session: 1,
      background_total: 1,
      background_time_limit_ms: 0,
      background_kept_outputs: 1,
      background_silence_ms: 1,
    },
    background: none,
    signal: new AbortController().signal,
    environment: () =>
      childEnvironment({
        environment: { PATH: process.env['PATH'], HOME: workspace, SERVICE_API_KEY: 'hidden-key' },
        pass: [],
        redact: (text) => text,
      }),
  })
  const run = (command: string, more: Record<string, Json> = {}, signal?: AbortSignal) =>
    runTool(tool, { command, ...more }, callOf(workspace, signal === undefined ? {} : { signal }))
  /** Runs until a file `ready` is there, then aborts. */
  const abortWhenReady = async (command: string) => {
    const controller = new AbortController()
    const running = run(command, {}, controller.signal)
    for (let n = 0; n < 500; n += 1) {
      if (
        await readFile(join(workspace, 'ready')).then(
          () => true,
          () => false,
        )
      )
        break
      await clock.sleep(10)
    }
    controller.abort()
    return running
  }
  const left = async (): Promise<number[]> =>
    (await readProcesses()).filter((row) => row.marker?.startsWith(`${rootTag(workspace)}.`)).map(({ pid }) => pid)
  return { workspace, tool, run, abortWhenReady, left }
}

test('bash keeps the contract of tools', async (t) => {
  const { tool, workspace, left } = await setUp(t)
  await checkTool(t, {
    tool,
    workspace,
    good: { command: 'echo ok' },
    correctable: { command: 'echo ok', workdir: 'none' },
    slow: { command: 'sleep 300' },
    maxOutputBytes: 10_000,
  })
  t.deepEqual(await left(), [])
})

test('tools-27: a command answers with its code, its signal and both outputs', async (t) => {
  const { run, workspace } = await setUp(t)
  t.deepEqual((await run('echo out; echo err >&2; exit 3')).output, {
    success: false,
    exit_code: 3,
    signal: null,
    stdout: 'out\n',
    stderr: 'err\n',
    stdout_bytes: 4,
    stderr_bytes: 4,
    truncated: false,
  })
  const killed = await run('kill -SEGV $$')
  t.deepEqual([killed.output['exit_code'], killed.output['signal'], killed.is_error], [null, 'SIGSEGV', false])
  await mkdir(join(workspace, 'a b'))
  t.is(
    (await run('pwd; [[ -n $BASH_VERSION ]] && echo bash', { workdir: 'a b' })).output['stdout'],
    `${workspace}/a b\nbash\n`,
  )
  t.is((await run('cat')).output['success'], true, 'there is no standard input to wait for')
})

test('a folder outside the workspace and a command that cannot be one are refused', async (t) => {
  const { run, workspace } = await setUp(t)
  await writeFile(join(workspace, 'file'), '')
  for (const workdir of ['..', '/', '/tmp', 'none', 'file', '\0'])
    t.is(codeOf(await run('touch never', { workdir })), 'workdir_invalid', workdir)
  for (const command of ['a\0b', 'x'.repeat(100_001), 'é'.repeat(60_000)])
    t.is(codeOf(await run(command)), 'command_invalid')
})

test('tools-28: startup files are not read and secrets are not seen', async (t) => {
  const { run, workspace } = await setUp(t)
  for (const file of ['.bashrc', '.profile', '.bash_profile'])
    await writeFile(join(workspace, file), 'echo startup file')
  const { output } = await run('env')
  t.false(String(output['stdout']).includes('startup file') || String(output['stdout']).includes('hidden-key'))
  t.deepEqual(String(output['stdout']).match(/^SERVICE_\w+/gmu), ['SERVICE_SHELL_TASK_ID'])
})

test('only harmless variables are passed on', (t) => {
  const environment = {
    LANG: 'C',
    SSH_AUTH_SOCK: '/x',
    JAVA_HOME: '/j',
    GITHUB_TOKEN: 'a',
    OPENAI_API_KEY: 'b',
    AWS_SECRET_ACCESS_KEY: 'c',
    DB_PASSWORD: 'd',
    DATABASE_URL: 'postgres://u:p@h/d',
    SERVICE_X: 'e',
    BASH_ENV: 'f',
    NODE_OPTIONS: 'g',
    npm_config_x: 'h',
    INNOCENT: 'the known secret',
    PLAIN_URL: 'https://h/d',
    MY_TOKEN: 'wanted',
    SERVICE_TOKEN: 'never',
  }
  const made = childEnvironment({
    environment,
    pass: ['MY_TOKEN', 'SERVICE_TOKEN'],
    redact: (text) => text.replace('known secret', '[redacted]'),
  })
  t.deepEqual(Object.keys(made).toSorted(), [
    'GIT_PAGER',
    'GIT_TERMINAL_PROMPT',
    'JAVA_HOME',
    'LANG',
    'MY_TOKEN',
    'PAGER',
    'PATH',
    'SSH_AUTH_SOCK',
    'TERM',
  ])
})

/** Put together here, so that no scanner takes this file for a leak. */
const tokens = [
  ['gh', 'p_', 'a1b2c3d4e5f6a7b8c9d0a1b2c3d4e5f6a7b8'],
  ['AKIA', 'IOSFODNN7EXAMPLE'],
  ['sk', '_live_', '4eC39HqLyjWDarjtT1zdp7dc'],
].map((parts) => parts.join(''))
const secretNames =
  'PGPASSWORD MYSQL_PWD REDISCLI_AUTH DB_PASS SMTP_PASS OPENAI_KEY STRIPE_KEY ENCRYPTION_KEY SIGNING_KEY SECRETKEY ' +
  'ACCESSTOKEN AUTHORIZATION COOKIE SENTRY_DSN AZURE_STORAGE_CONNECTION_STRING'

const seen = (environment: Readonly<Record<string, string>>, pass: readonly string[] = []): string[] => {
  const none = childEnvironment({ environment: {}, pass: [], redact: (text) => text })
  const made = childEnvironment({ environment, pass, redact: (text) => text })
  return Object.keys(made).filter((name) => none[name] !== made[name])
}

test('tools-28: secrets reach no command, whatever they are called, unless they are named in full', (t) => {
  const byName = Object.fromEntries(secretNames.split(' ').map((name) => [name, 'hunter2']))
  const byValue = Object.fromEntries(tokens.map((token, n) => [`INNOCENT_${n}`, token]))
  const usualName = Object.fromEntries(tokens.map((token, n) => [['EDITOR', 'TZ', 'LC_ALL'][n] ?? '', token]))
  for (const pass of [[], ['*']]) t.deepEqual(seen({ ...byName, ...byValue, ...usualName }, pass), [])
  t.deepEqual(seen(byName, ['PGPASSWORD', 'DB_*']), ['PGPASSWORD'])
})

test('tools-28: what programs need is passed, and what is named', (t) => {
  const usual = { PATH: '/bin', LC_TIME: 'C', HTTPS_PROXY: 'http://proxy:3128', CARGO_HOME: '/c', XDG_CACHE_HOME: '/x' }
  t.deepEqual(seen(usual), Object.keys(usual))
  t.deepEqual(seen({ HTTPS_PROXY: 'http://me:word@proxy:3128', SOME_HOME: 'no folder', APP_MODE: 'test' }), [])
  t.deepEqual(seen({ APP_MODE: 'test', APP_URL: 'https://h', OTHER: 'x' }, ['APP_*']), ['APP_MODE', 'APP_URL'])
})

const hostile: Readonly<Record<string, string>> = {
  'ignores SIGTERM': `trap '' TERM INT HUP; touch ready; while :; do sleep 1; done`,
  'ignores SIGTERM in a whole tree': `trap '' TERM; (sh -c "trap '' TERM; while :; do sleep 1; done" & ) ; touch ready; sleep 300`,
  'leaves its session': `setsid sh -c 'sleep 300' & touch ready; sleep 300`,
  'forks twice out of its session': `setsid sh -c '(setsid sleep 300 &) ; (sh -c "trap \\"\\" TERM; sleep 300" &)' ; touch ready; sleep 300`,
  'is a tree of forks': `f() { [ $1 -gt 0 ] && { f $(($1-1)) & f $(($1-1)) & }; sleep 300; }; f 4 & touch ready; wait`,
  'floods its output': `touch ready; yes a line that goes on for ever`,
  'stopped itself': `touch ready; kill -STOP $$`,
  'closed its output': `exec >&- 2>&-; touch ready; sleep 300`,
  'replaced its environment': `touch ready; exec env -i sleep 300`,
}
for (const [what, command] of Object.entries(hostile)) {
  test(`tools-29: after an abort nothing is left of a command that ${what}`, async (t) => {
    const { abortWhenReady, left } = await setUp(t)
    const began = performance.now()
    const answer = await abortWhenReady(command)
    t.is(codeOf(answer), 'command_stopped')
    t.true(answer.is_error && answer.output['process_tree_remaining_pids'] === undefined)
    t.deepEqual(await left(), [])
    t.true(performance.now() - began < 60_000)
  })
}

test('tools-29: a command has time to end well after SIGTERM', async (t) => {
  const { abortWhenReady, workspace } = await setUp(t, { grace_ms: 3_000 })
  await abortWhenReady(`trap 'echo bye; echo done > ended; exit 0' TERM; touch ready; while :; do sleep 0.05; done`)
  t.is(await readFile(join(workspace, 'ended'), 'utf8'), 'done\n')
})

const starterOf = async (workspace: string): Promise<number> => {
  for (;;) {
    const pid = Number(await readFile(join(workspace, 'parent'), 'utf8').catch(() => ''))
    if (pid > 0) return pid
    await setTimeout(10)
  }
}
const onLinux = process.platform === 'linux' ? test : test.skip
onLinux(
  'tools-32: when what waits for a command is killed, the command is ended with all it started and told as lost',
  async (t) => {
    const { run, workspace, left } = await setUp(t)
    const running = run(`echo before; (setsid sleep 300 &); echo $PPID > parent; exec 3<&-; sleep 300`)
    const starter = await starterOf(workspace)
    t.not(starter, process.pid)
    process.kill(starter, 'SIGKILL')
    const answer = await running
    t.is(codeOf(answer), 'command_lost')
    t.deepEqual([answer.is_error, answer.output['stdout'], answer.output['exit_code']], [true, 'before\n', null])
    t.deepEqual(await left(), [])
    t.is((await run('echo again')).output['stdout'], 'again\n')
  },
)

test('tools-30: what a command leaves in the background is stopped when it ends, and does not hold up its answer', async (t) => {
  const { run, left } = await setUp(t)
  const began = performance.now()
  const { output } = await run('sleep 300 & (setsid sleep 300 &) ; echo done')
  t.deepEqual([output['stdout'], output['success']], ['done\n', true])
  t.deepEqual(await left(), [])
  t.true(performance.now() - began < 30_000)
})

test.serial('tools-27: of a flood the beginning and the end are kept, and it does not fill the memory', async (t) => {
  const { run } = await setUp(t, { output_bytes: 10_000 })
  const before = process.memoryUsage().rss
  const { output } = await run(`echo first; head -c 200000000 /dev/zero | tr '\\0' x; echo; echo last`)
  const stdout = String(output['stdout'])
  t.true(stdout.startsWith('first\nxxx') && stdout.endsWith('xxx\nlast\n') && stdout.length < 10_100)
  t.is(output['stdout_bytes'], 200_000_012)
  t.is(output['truncated'], true)
  t.true(process.memoryUsage().rss - before < 150e6)
})

test('a capture loses nothing up to its limit and keeps both ends beyond it', (t) => {
  const chunks = fc.array(fc.string({ unit: 'grapheme', maxLength: 30 }), { maxLength: 20 })
  fc.assert(
    fc.property(chunks, fc.integer({ min: 8, max: 200 }), (parts, limit) => {
      const capture = createCapture(limit)
      const whole = Buffer.from(parts.join(''))
      for (let at = 0; at < whole.length; at += 7) capture.add(whole.subarray(at, at + 7))
      const { text, bytes, truncated } = capture.read()
      if (bytes !== whole.length || truncated !== whole.length > 2 * Math.floor(limit / 2)) return false
      const [begin = '', end = ''] = text.split(/\n\[… \d+ bytes left out …\]\n/u)
      return truncated
        ? whole.toString().startsWith(begin) && whole.toString().endsWith(end)
        : text === whole.toString()
    }),
    { numRuns: 500 },
  )
  t.pass()
})

const rowOf = (pid: number, ppid: number, sid: number, marker?: string): ProcessRow => ({
  pid,
  ppid,
  pgid: sid,
  sid,
  started: '1',
  marker,
})

test('the daemon, its session and its other children are never members of a tree', (t) => {
  const rows = [
    rowOf(1, 0, 1),
    rowOf(10, 1, 10, 'mine'),
    rowOf(20, 10, 20, 'mine'),
    rowOf(21, 20, 20),
    rowOf(22, 1, 20),
    rowOf(30, 10, 30),
    rowOf(40, 10, 10),
    rowOf(50, 1, 10, 'mine'),
  ]
  t.deepEqual(
    membersOf(rows, ({ marker }) => marker === 'mine', 10)
      .map(({ pid }) => pid)
      .toSorted(),
    [20, 21, 22, 50],
  )
})

test('a group whose number was given to another process is no group of ours; what carries the marker still is', (t) => {
  const leader = (started: string): ProcessRow => ({ ...rowOf(20, 1, 20), started })
  const rest = [rowOf(21, 20, 20), rowOf(22, 1, 20), rowOf(30, 1, 30, 'mine'), rowOf(31, 30, 30)]
  const stopped = (rows: readonly ProcessRow[], started: string): number[] =>
    membersOf(rows, belongsTo({ pid: 20, started, marker: 'mine' }, rows), 10)
      .map(({ pid }) => pid)
      .toSorted()
  t.deepEqual(stopped([leader('5'), ...rest], '5'), [20, 21, 22, 30, 31])
  t.deepEqual(
    stopped([leader('6'), ...rest], '5'),
    [30, 31],
    'the same number with another start is a stranger, with all that is in its group',
  )
  t.deepEqual(
    stopped(rest, '5'),
    [21, 22, 30, 31],
    'a leader that is gone still names its group: nobody else can have the number while members are left',
  )
})

test('tools-31: at a start, what an earlier life left is stopped, and nothing else', async (t) => {
  const tag = rootTag(await makeFolder(t))
  const spawnMarked = (marker: string) => {
    const child = spawn('sleep', ['300'], {
      env: { PATH: process.env['PATH'], SERVICE_SHELL_TASK_ID: marker },
      detached: true,
      stdio: 'ignore',
    })
    t.teardown(() => child.kill('SIGKILL'))
    return {
      pid: child.pid ?? 0,
      ended: new Promise<string | null>((resolve) => {
        child.once('exit', (_, signal) => resolve(signal))
      }),
    }
  }
  const [old, current, foreign] = [
    spawnMarked(markerOf(tag, 3, 'a')),
    spawnMarked(markerOf(tag, 4, 'b')),
    spawnMarked(markerOf(rootTag('/other'), 3, 'c')),
  ]
  t.deepEqual(await stopLeftovers({ clock, grace_ms: 500, tag, generation: 4 }), {
    found: 1,
    remaining: [],
    supported: true,
  })
  t.is(await old.ended, 'SIGTERM')
  for (const { pid } of [current, foreign]) t.notThrows(() => process.kill(pid, 0))
  t.is((await stopLeftovers({ clock, grace_ms: 500, tag, generation: 4 })).found, 0)
})
