import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { fault } from '../../../../core/base/assert.js'
import { readSecretFile, type JsonObject } from '../../../../core/plugin.js'
import type { Background } from '../../../../plugins/tools/shell/background.js'
import { bashTool } from '../../../../plugins/tools/shell/bash.js'
import { shellErrors } from '../../../../plugins/tools/shell/errors.js'
import type { ShellConfig } from '../../../../plugins/tools/shell/config.js'
import { createSandbox } from '../../../../plugins/tools/shell/sandbox/sandbox.js'
import { sandboxHealth, shellView } from '../../../../plugins/tools/shell/sandbox/views.js'
import { checkTool } from '../../../conform/tool.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { supervisedFor } from '../../../support/processes.js'
import { openSession, until } from '../../../support/runs.js'
import { callTool, done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'
import { callOf, codeOf, makeFolder, runTool, type Answer } from '../../../support/tools.js'
import { sends, startWebServer } from '../../../support/web-server.js'

/** Needs bubblewrap, and a system that lets it make namespaces: elsewhere ava says that these were skipped. */
const hasWalls =
  spawnSync('/usr/bin/bwrap', ['--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--proc', '/proc', 'true'])
    .status === 0
const walled = hasWalls ? test : test.skip

type Settings = Pick<ShellConfig, 'sandbox' | 'sandbox_network' | 'sandbox_writable' | 'sandbox_hidden'>

const unused = (): never => {
  throw fault('nothing runs in the background here')
}
const none: Background = {
  runner: { kind: 'none', stop: unused, output: unused },
  start: unused,
  tidy: unused,
  leave: unused,
}

const setUp = async (
  t: ExecutionContext,
  changed: Partial<Settings> = {},
  programs?: readonly string[],
  grace_ms = 300,
) => {
  const top = await makeFolder(t)
  const [workspace, stateRoot, outside] = [join(top, 'work'), join(top, 'work/.state'), join(top, 'outside')]
  await mkdir(join(workspace, 'sub'), { recursive: true })
  await mkdir(join(stateRoot, 'secrets'), { recursive: true })
  await mkdir(outside)
  await writeFile(join(stateRoot, 'secrets/key'), 'canary-state')
  await writeFile(join(outside, 'plain'), 'canary-plain')
  const settings: Settings = {
    sandbox: 'required',
    sandbox_network: false,
    sandbox_writable: [],
    sandbox_hidden: [],
    ...changed,
  }
  const supervised = supervisedFor(t, stateRoot)
  const sandbox = createSandbox({ supervised, settings, stateRoot, ...(programs !== undefined && { programs }) })
  const config = {
    output_bytes: 64 * 1024,
    grace_ms,
    pass_environment: [],
    background_per_session: 1,
    background_total: 1,
    background_time_limit_ms: 0,
    background_kept_outputs: 1,
    background_silence_ms: 1,
    ...settings,
  }
  const listener = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(listener))
  const environment = () => ({
    PATH: '/usr/bin:/bin',
    HOME: join(top, 'home'),
    SSH_AUTH_SOCK: '/x',
    TMPDIR: '/y',
    A: 'b',
  })
  const signal = new AbortController().signal
  const tool = bashTool({ supervised, config, background: none, sandbox, signal, environment })
  const run = (command: string, more: JsonObject = {}, stop?: AbortSignal): Promise<Answer> =>
    runTool(tool, { command, ...more }, callOf(workspace, stop === undefined ? {} : { signal: stop }))
  const says = async (command: string): Promise<unknown> => (await run(command)).output['stdout']
  return { top, workspace, stateRoot, outside, sandbox, settings, tool, run, says }
}

walled('bash in a sandbox keeps the contract of tools', async (t) => {
  const { tool, workspace } = await setUp(t)
  await checkTool(t, {
    tool,
    workspace,
    good: { command: 'true' },
    correctable: { command: 'true', workdir: '..' },
    slow: { command: 'sleep 100' },
  })
})

walled('tools-51: in the sandbox the workspace and a temporary folder are written, and nothing else', async (t) => {
  const { top, workspace, outside, run, says } = await setUp(t)
  const { output } = await run('echo a > x; echo b > ../y; echo c > /tmp/z; cat x ../y /tmp/z; exit 3', {
    workdir: 'sub',
  })
  t.like(output, { stdout: 'a\nb\nc\n', exit_code: 3, success: false, sandboxed: true })
  t.deepEqual(
    [await readFile(join(workspace, 'sub/x'), 'utf8'), await readFile(join(workspace, 'y'), 'utf8')],
    ['a\n', 'b\n'],
  )
  t.false(existsSync('/tmp/z'))
  t.is(await says(`ls -A ${dirname(top)}`), `${basename(top)}\n`, 'the workspace alone is seen of what lies there')
  const writes = [
    join(outside, 'new'),
    '/etc/new',
    '/usr/bin/new',
    join(homedir(), 'new'),
    '/run/new',
    '/dev/sda',
    '/proc/new',
  ]
  for (const path of writes) t.is(await says(`echo x 2>/dev/null > ${path} && echo written`), '', path)
  t.is(await says('test -w /proc/sys/kernel/core_pattern && echo writable'), '', 'the settings of the system')
  t.is(await says('{ echo x > /proc/self/comm; } 2>/dev/null && echo written'), '')
  t.is(await says('cat <(echo a)'), 'a\n')
  t.deepEqual(await readdir(outside), ['plain'])
  t.is(await says('echo $TMPDIR $SSH_AUTH_SOCK $A'), '/tmp b\n')
})

walled('tools-58: the answer names what git would have heeded and was renamed', async (t) => {
  const { run, workspace } = await setUp(t)
  await mkdir(join(workspace, '.git/hooks'), { recursive: true })
  const { output } = await run('echo x > .git/commondir; echo x 2>/dev/null > .git/hooks/x')
  t.like(output, { sandboxed: true, success: false, refused_paths: [join(workspace, '.git/commondir')] })
  t.deepEqual((await readdir(join(workspace, '.git'))).toSorted(), ['commondir.refused', 'hooks'])
})

walled('tools-51: folders that are named may be written too', async (t) => {
  const top = await makeFolder(t)
  const { says } = await setUp(t, { sandbox_writable: [top, '/no/such/folder'] })
  t.is(await says(`echo x > ${top}/made && echo written`), 'written\n')
  t.is(await readFile(join(top, 'made'), 'utf8'), 'x\n')
})

walled('tools-52: in the sandbox neither the state nor secrets are seen', async (t) => {
  const outside = await makeFolder(t)
  await writeFile(join(outside, 'token'), 'canary-token\n')
  await writeFile(join(outside, 'named'), 'canary-named\n')
  t.is(readSecretFile(join(outside, 'token')), 'canary-token')
  const { top, workspace, stateRoot, says } = await setUp(t, {
    sandbox_hidden: [join(outside, 'named')],
    sandbox_writable: [outside],
  })
  await mkdir(join(top, 'home/.ssh'), { recursive: true })
  await writeFile(join(top, 'home/.ssh/id'), 'canary-ssh')
  await writeFile(join(workspace, 'seen'), 'canary-seen')
  t.is(await says(`cat ${workspace}/seen`), 'canary-seen')
  t.is(await says(`ls -A ${stateRoot}; ls -A ${stateRoot}/secrets; cat ${stateRoot}/secrets/key`), '')
  t.is(await says(`echo x > ${stateRoot}/new && echo written`), '')
  t.is(await says(`cat ${outside}/token ${outside}/named`), '')
  t.is(await says(`cat ${top}/home/.ssh/id`), '')
  t.is(
    await says(`grep -rs canary- ${top} ${outside} /proc/*/environ /proc/*/cmdline | grep -v seen | grep -v grep`),
    '',
  )
  t.is(await says(`kill -0 ${process.pid} 2>/dev/null && echo reached`), '', 'no process of the daemon is there')
  t.deepEqual(await readdir(stateRoot), ['secrets'])
})

walled('tools-52: a workspace in the state root is seen, and what lies around it is not', async (t) => {
  const { workspace, stateRoot, says } = await setUp(t)
  const supervised = supervisedFor(t, stateRoot)
  const settings = { sandbox: 'required', sandbox_network: false, sandbox_writable: [], sandbox_hidden: [] } as const
  const sandbox = createSandbox({ supervised, settings, stateRoot: join(workspace, '..') })
  const command = `echo made > here; ls ..; ls ../outside`
  const wrapped = await sandbox.wrap({ command, folder: workspace, workspace, environment: { PATH: '/usr/bin:/bin' } })
  t.is(wrapped.type, 'run')
  if (wrapped.type !== 'run' || typeof wrapped.run === 'string') return t.fail()
  const [file = '', ...args] = wrapped.run
  t.is(spawnSync(file, args, { encoding: 'utf8' }).stdout, 'work\n')
  t.is(await says('cat here'), 'made\n')
})

walled('tools-53: in the sandbox there is no network unless it is allowed', async (t) => {
  const server = await startWebServer(t)
  server.on('/', sends('text/plain', 'seen'))
  const ask = `exec 3<>/dev/tcp/127.0.0.1/${server.port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && grep -c seen <&3`
  const { says } = await setUp(t)
  t.is(await says(`${ask} 2>/dev/null`), '')
  t.deepEqual(server.asked, [])
  const open = await setUp(t, { sandbox_network: true })
  t.is(await open.says(ask), '1\n')
  t.regex(open.tool.description, /\/tmp is empty at each call\./u)
  t.regex((await setUp(t)).tool.description, /no network/u)
})

walled('tools-29: after an abort nothing is left of a command in the sandbox', async (t) => {
  const { workspace, run } = await setUp(t)
  const controller = new AbortController()
  const running = run(
    `trap '' TERM; (setsid sh -c 'trap "" TERM; while :; do echo x >> beat; sleep 0.01; done' &); while :; do sleep 0.01; done`,
    {},
    controller.signal,
  )
  const beat = () => readFile(join(workspace, 'beat'), 'utf8').catch(() => '')
  while ((await beat()) === '') await new Promise((resolve) => setImmediate(resolve))
  controller.abort()
  t.is(codeOf(await running), shellErrors.command_stopped.code)
  await rm(join(workspace, 'beat'))
  const rows = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout
  t.false(rows.includes(workspace))
})

walled(
  'tools-29: a command in the sandbox that is stopped is asked to end first, and so is what it started',
  async (t) => {
    const { workspace, run } = await setUp(t, {}, undefined, 30_000)
    const controller = new AbortController()
    const inner = `setsid sh -c 'trap "echo inner >> ends; exit" TERM; echo > begun; while :; do sleep 0.01; done'`
    const running = run(
      `${inner} & trap 'wait; echo outer >> ends; exit 3' TERM; while :; do sleep 0.01; done`,
      {},
      controller.signal,
    )
    while (!existsSync(join(workspace, 'begun'))) await new Promise((resolve) => setImmediate(resolve))
    controller.abort()
    const answer = await running
    t.is(codeOf(answer), shellErrors.command_stopped.code)
    t.is(answer.output['exit_code'], 3)
    t.is(await readFile(join(workspace, 'ends'), 'utf8'), 'inner\nouter\n')
  },
)

walled('tools-29: a task in the sandbox that is stopped is asked to end first', async (t) => {
  const workspace = await makeFolder(t)
  const command = `trap 'echo ended > ended; exit' TERM; echo > begun; while :; do sleep 0.01; done`
  const model = scriptedProvider((_, count) =>
    count > 1
      ? [text('So.'), done()]
      : [callTool('a', 'bash', { command, run_in_background: true }), done('tool_calls')],
  )
  const daemon = await startTestDaemon(t, {
    plugins: [model.plugin],
    config: { ...model.config, tools: { permission_mode: 'bypassPermissions' }, shell: { grace_ms: 30_000 } },
    flags: { 'shell-sandbox': 'required', 'workspace-root': workspace },
  })
  await openSession(daemon)
  await daemon.request('POST', '/v1/sessions/s1/input', { content: 'go' })
  while (!existsSync(join(workspace, 'begun'))) await new Promise((resolve) => setImmediate(resolve))
  const [{ id }] = (await daemon.request('GET', '/v1/sessions/s1/tasks')).body
  t.is((await daemon.request('POST', `/v1/sessions/s1/tasks/${id}/stop`, {})).status, 200)
  const task = async () => (await daemon.request('GET', `/v1/sessions/s1/tasks/${id}`)).body
  while ((await task()).status === 'in_progress') await new Promise((resolve) => setImmediate(resolve))
  t.is((await task()).status, 'cancelled')
  t.is(await readFile(join(workspace, 'ended'), 'utf8'), 'ended\n')
})

walled('tools-30: a command in the sandbox goes with bubblewrap, whatever it has put apart', async (t) => {
  const { workspace, sandbox } = await setUp(t)
  const supervised = supervisedFor(t, workspace)
  const command = "setsid sh -c 'while :; do echo x >> beat; sleep 0.01; done' & wait"
  const wrapped = await sandbox.wrap({ command, folder: workspace, workspace, environment: { PATH: '/usr/bin:/bin' } })
  if (wrapped.type !== 'run') return t.fail()
  const program = await supervised.start({ run: wrapped.run, folder: workspace, environment: wrapped.environment })
  const beat = () => readFile(join(workspace, 'beat'), 'utf8').catch(() => '')
  while ((await beat()) === '') await new Promise((resolve) => setImmediate(resolve))
  program.kill()
  t.is((await program.exited).signal, 'SIGKILL')
  // In the list of processes stands the folder that each of its own works in.
  const isThere = () =>
    spawnSync('sh', ['-c', `ls -l /proc/[0-9]*/cwd 2>/dev/null | grep -q '${workspace}$'`]).status === 0
  while (isThere()) await new Promise((resolve) => setImmediate(resolve))
  await program.letGo()
  t.pass()
})

test('tools-54: where a sandbox is required and there is none, every command is refused', async (t) => {
  const { workspace, sandbox, settings, run } = await setUp(t, {}, ['/nowhere/bwrap'])
  const answer = await run('echo x > made')
  t.is(codeOf(answer), shellErrors.sandbox_unavailable.code)
  t.regex(JSON.stringify(answer.output), /bubblewrap is not installed/u)
  t.is(codeOf(await run('echo x > made', { run_in_background: true })), 'sandbox_unavailable')
  t.false(existsSync(join(workspace, 'made')))
  t.deepEqual(shellView(sandbox, settings), {
    sandbox: { mode: 'required', in_force: false, network: false, reason: 'bubblewrap is not installed' },
  })
  t.regex(JSON.stringify(sandboxHealth(sandbox).check()), /sandbox_unavailable.*every command is refused/u)
})

test('tools-54: where one is wanted and there is none, commands run without, and operators are told', async (t) => {
  const { sandbox, settings, run } = await setUp(t, { sandbox: 'on' }, ['/nowhere/bwrap'])
  const { output } = await run('echo x')
  t.deepEqual([output['stdout'], output['sandboxed']], ['x\n', undefined])
  t.deepEqual(shellView(sandbox, settings), {
    sandbox: { mode: 'on', in_force: false, network: true, reason: 'bubblewrap is not installed' },
  })
  t.regex(JSON.stringify(sandboxHealth(sandbox).check()), /sandbox_unavailable.*run without walls/u)
})

test('tools-54: a sandbox that does not work here is none, and one that is installed later is used', async (t) => {
  const folder = await makeFolder(t)
  const program = join(folder, 'bwrap')
  const { run } = await setUp(t, {}, [program])
  t.regex(JSON.stringify((await run('true')).output), /not installed/u)
  await writeFile(program, '#!/bin/sh\necho "bwrap: No permissions to create a new namespace" >&2; exit 1\n', {
    mode: 0o755,
  })
  t.regex(JSON.stringify((await run('true')).output), /No permissions to create/u)
  await writeFile(program, '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n', { mode: 0o755 })
  t.like((await run('echo $0')).output, { stdout: 'bash\n', sandboxed: true })
})

test('tools-54: without a wish there is no sandbox, and the status says so', async (t) => {
  const { request } = await startTestDaemon(t)
  const open = { sandbox: { mode: 'off', in_force: false, network: true } }
  t.deepEqual((await request('GET', '/v1/status')).body.shell, open)
  t.deepEqual((await request('GET', '/v1/runtime')).body.shell, open)
})

walled('tools-54: a run works in the sandbox, also in the background, and the status says so', async (t) => {
  const workspace = await makeFolder(t)
  const model = scriptedProvider(({ messages }, count) => {
    if (count > 1) return [text(JSON.stringify(messages.at(-1))), done()]
    const background = { command: 'echo late > late; cat /proc/sys/kernel/ns_last_pid', run_in_background: true }
    return [
      callTool('a', 'bash', { command: 'echo made > made; echo $$' }),
      callTool('b', 'bash', background),
      done('tool_calls'),
    ]
  })
  const daemon = await startTestDaemon(t, {
    plugins: [model.plugin],
    config: { ...model.config, tools: { permission_mode: 'bypassPermissions' } },
    flags: { 'shell-sandbox': 'required', 'workspace-root': workspace },
  })
  const walls = { sandbox: { mode: 'required', in_force: true, network: false } }
  t.deepEqual((await daemon.request('GET', '/v1/status')).body.shell, walls)
  await openSession(daemon)
  const { run_id } = (await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'go' })).body
  const { outputs } = await until(daemon, run_id, 'completed')
  t.regex(outputs[0].content, /sandboxed\\?":true/u)
  t.regex(outputs[0].content, /stdout\\?":\\?"[23]\\{1,2}n/u, 'the number of a process that sees few others')
  const [{ id }] = (await daemon.request('GET', '/v1/sessions/s1/tasks')).body
  const task = async () => (await daemon.request('GET', `/v1/sessions/s1/tasks/${id}`)).body
  while ((await task()).status === 'in_progress') await new Promise((resolve) => setImmediate(resolve))
  t.is((await task()).status, 'completed')
  t.deepEqual((await readdir(workspace)).toSorted(), ['late', 'made'])
})
