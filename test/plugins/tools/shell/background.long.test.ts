import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { fault } from '../../../../core/base/assert.js'
import { createClock } from '../../../../core/base/clock.js'
import type { JsonObject } from '../../../../core/base/schema.js'
import type { Disk } from '../../../../core/state/disk/disk.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { markedBy } from '../../../support/tasks.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { makeFolder } from '../../../support/tools.js'

const clock = createClock()

const eventually = async (holds: () => Promise<boolean>): Promise<boolean> => {
  for (let n = 0; n < 1000; n += 1) {
    if (await holds()) return true
    await clock.sleep(20)
  }
  return false
}

const setUp = async (t: ExecutionContext, config: JsonObject = {}) => {
  const workspace = await makeFolder(t)
  const daemon = await startTestDaemon(t, {
    flags: { 'workspace-root': workspace, 'permission-mode': 'bypassPermissions' },
    config: { shell: { grace_ms: 300, ...config } },
  })
  await openSession(daemon)
  const script = (commands: readonly string[], more: object = {}): string =>
    commands
      .map((command) => `/tool bash ${JSON.stringify({ command, run_in_background: true, ...more })}`)
      .join('\n---\n')
  /** Starts commands in the background; answers with their tasks in order. */
  const start = async (commands: readonly string[], session = 's1'): Promise<any[]> => {
    const { run_id } = await submit(daemon, session, script(commands))
    await until(daemon, run_id, 'completed')
    return (await outcomes(daemon, run_id)).map((output) => output.task)
  }
  const one = async (command: string): Promise<any> => (await start([command]))[0]
  const ready = (name = 'ready'): Promise<boolean> =>
    eventually(() =>
      readFile(join(workspace, name)).then(
        () => true,
        () => false,
      ),
    )
  return { daemon, workspace, script, start, one, ready }
}

/** What the tools of a run answered. */
const outcomes = async ({ request }: TestDaemon, run_id: string, session = 's1'): Promise<any[]> =>
  (await request('GET', `/v1/sessions/${session}/events`)).body.session.journal
    .filter((entry: any) => entry.run_id === run_id && entry.type === 'outcome')
    .map((entry: any) => entry.entry.output)

const taskPath = ({ id }: { id: string }): string => `/v1/sessions/s1/tasks/${id}`
const ended = async ({ request }: TestDaemon, task: { id: string }): Promise<any> =>
  (await request('GET', `${taskPath(task)}/output?wait=true&timeout_ms=60000&full=true`)).body

test('a command in the background answers at once with its task, outlives its run and completes with its exit code', async (t) => {
  const { daemon, script, workspace } = await setUp(t)
  const { run_id } = await submit(
    daemon,
    's1',
    script(['echo out; echo err >&2; until [ -e go ]; do sleep 0.02; done; echo end'], { description: 'Waits' }),
  )
  await until(daemon, run_id, 'completed')
  const [answer] = await outcomes(daemon, run_id)
  const { task, background_task_id, ...rest } = answer
  t.deepEqual(rest, { success: true, stdout: '', stderr: '', exit_code: null, backgrounded_by_user: false })
  t.is(background_task_id, task.id)
  t.regex(task.id, /^shell-task-/u)
  t.deepEqual(
    [task.status, task.title, task.metadata.kind, task.metadata.created_by_run_id, typeof task.metadata.pid],
    ['in_progress', 'Waits', 'background_shell', run_id, 'number'],
  )
  t.is((await daemon.request('GET', '/v1/status')).body.tasks.live_background_shell_task_count, 1)
  t.true(
    await eventually(
      async () => (await daemon.request('GET', `${taskPath(task)}/output`)).body.output_excerpt === 'out\nerr\n',
    ),
  )
  t.is((await daemon.request('GET', `${taskPath(task)}/output`)).body.retrieval_status, 'not_ready')
  await submit(daemon, 's1', `/tool bash ${JSON.stringify({ command: 'touch go' })}`)
  const view = await ended(daemon, task)
  t.deepEqual(
    [view.retrieval_status, view.task.status, view.task.metadata.exit_code, view.task.metadata.terminal_reason],
    ['success', 'completed', 0, 'exited'],
  )
  t.deepEqual(
    [
      view.output_text,
      view.output_excerpt,
      view.output_size_bytes,
      view.output_total_bytes,
      view.output_truncated,
      view.output_rotated,
    ],
    ['out\nerr\nend\n', 'out\nerr\nend\n', 12, 12, false, false],
  )
  t.true((await readFile(view.output_file_path, 'utf8')).endsWith('}\nout\nerr\nend\n'))
  t.is((await daemon.request('GET', '/v1/status')).body.tasks.live_background_shell_task_count, 0)
  t.true(workspace.length > 0)
})

test('a command that fails or is killed is a failed task with its code or signal', async (t) => {
  const { daemon, start } = await setUp(t)
  const [coded, signalled] = await start(['exit 3', 'kill -SEGV $$'])
  const first = (await ended(daemon, coded)).task
  t.deepEqual(
    [first.status, first.metadata.exit_code, first.metadata.process_tree_shutdown_confirmed],
    ['failed', 3, true],
  )
  const second = (await ended(daemon, signalled)).task
  t.deepEqual([second.status, 'exit_code' in second.metadata, second.metadata.signal], ['failed', false, 'SIGSEGV'])
})

const hostile: Readonly<Record<string, string>> = {
  'ignores SIGTERM': `trap '' TERM INT HUP; touch ready; while :; do sleep 1; done`,
  'ignores SIGTERM in a whole tree': `trap '' TERM; (sh -c "trap '' TERM; while :; do sleep 1; done" & ) ; touch ready; sleep 300`,
  'leaves its session': `setsid sh -c 'sleep 300' & touch ready; sleep 300`,
  'forks twice out of its session': `setsid sh -c '(setsid sleep 300 &) ; (sh -c "trap \\"\\" TERM; sleep 300" &)' ; touch ready; sleep 300`,
  'floods its output': `touch ready; yes a line that goes on for ever`,
}
for (const [what, command] of Object.entries(hostile)) {
  test(`a stop of a command that ${what} is confirmed, and nothing of it is left`, async (t) => {
    const { daemon, one, ready } = await setUp(t)
    const task = await one(command)
    t.true(await ready())
    const asked = (await daemon.request('POST', `${taskPath(task)}/stop`, { reason: 'enough' })).body
    if (asked.status === 'in_progress') t.is(asked.metadata.stop_requested, true)
    const { status, metadata } = (await ended(daemon, task)).task
    t.is(status, 'cancelled')
    t.like(metadata, {
      terminal_reason: 'stopped',
      stop_reason: 'enough',
      process_tree_shutdown_confirmed: true,
      process_tree_shutdown_matched_target: true,
      process_tree_shutdown_signal_sent: true,
      process_tree_shutdown_supported: true,
      process_tree_remaining_pids: [],
    })
    t.false('stop_requested' in metadata)
    t.deepEqual(await markedBy(daemon.root), [])
  })
}

test('a task that is being stopped stays in progress until its processes are gone, and a second stop changes nothing', async (t) => {
  const { daemon, one, ready } = await setUp(t, { grace_ms: 3_000 })
  const task = await one(
    `trap 'touch asked; until [ -e go ]; do sleep 0.02; done; exit 0' TERM; touch ready; while :; do sleep 0.02; done`,
  )
  t.true(await ready())
  const first = (await daemon.request('POST', `${taskPath(task)}/stop`, { reason: 'first' })).body
  t.deepEqual([first.status, first.metadata.stop_requested, first.metadata.stop_reason], ['in_progress', true, 'first'])
  t.true(await ready('asked'))
  const second = (await daemon.request('POST', `${taskPath(task)}/stop`, { reason: 'second' })).body
  t.deepEqual(
    [second.status, second.metadata.stop_requested, second.metadata.stop_reason],
    ['in_progress', true, 'first'],
  )
  const now = (await daemon.request('GET', taskPath(task))).body
  t.deepEqual([now.status, now.metadata.stop_requested], ['in_progress', true])
  await submit(daemon, 's1', `/tool bash ${JSON.stringify({ command: 'touch go' })}`)
  t.is((await ended(daemon, task)).task.status, 'cancelled')
})

test('tasks-9: output beyond 8 MiB is rotated: the end is kept, a marker says what is missing, and the sums are exact', async (t) => {
  const { daemon, one } = await setUp(t)
  const task = await one(`head -c 9000000 /dev/zero | tr '\\0' x; echo; echo last`)
  const view = await ended(daemon, task)
  t.deepEqual(
    [view.output_total_bytes, view.output_rotated, view.output_rotation_count, view.output_truncated],
    [9_000_006, true, 1, true],
  )
  const [marker = '', ...rest] = view.output_text.split('\n')
  t.is(marker, `[daemon: the first ${9_000_006 - view.output_size_bytes} bytes of the output are not kept]`)
  t.is(Buffer.byteLength(rest.join('\n')), view.output_size_bytes)
  t.true(view.output_size_bytes >= 6 * 1024 * 1024 && view.output_size_bytes <= 8 * 1024 * 1024)
  t.true(view.output_excerpt.endsWith('xxx\nlast\n') && view.output_excerpt.length === 8_192)
  const large = (await daemon.request('GET', `${taskPath(task)}/output?tail_bytes=9999999`)).body
  t.deepEqual([large.output_excerpt.length, 'output_text' in large], [262_144, false])
})

test('tasks-17: a session and the daemon have a bounded number of commands in the background', async (t) => {
  const { daemon, start, script } = await setUp(t, { background_per_session: 2, background_total: 3 })
  await openSession(daemon, 's2')
  const tasks = await start(['sleep 300', 'sleep 300'])
  const refused = async (session: string, commands: readonly string[]): Promise<unknown> => {
    const { run_id } = await submit(daemon, session, script(commands))
    await until(daemon, run_id, 'completed')
    return (await outcomes(daemon, run_id, session)).at(-1).error
  }
  t.like(await refused('s1', ['sleep 300']), {
    code: 'background_limit',
    message: 'There are 2 commands in the background of this session, which is the most.',
  })
  t.like(await refused('s2', ['sleep 300', 'sleep 300']), {
    code: 'background_limit',
    message: 'There are 3 commands in the background of the daemon, which is the most.',
  })
  await daemon.request('POST', `${taskPath(tasks[0])}/stop`, {})
  await ended(daemon, tasks[0])
  t.is((await start(['true']))[0].metadata.kind, 'background_shell')
})

test('the end of a session ends its commands in the background, and no other', async (t) => {
  const { daemon, one, start } = await setUp(t)
  await openSession(daemon, 's2')
  const task = await one('sleep 300')
  const { run_id } = await submit(
    daemon,
    's2',
    `/tool bash ${JSON.stringify({ command: 'sleep 300', run_in_background: true })}`,
  )
  await until(daemon, run_id, 'completed')
  await daemon.request('POST', '/v1/sessions/s1/end', {})
  const { status, metadata } = (await ended(daemon, task)).task
  t.deepEqual(
    [status, metadata.terminal_reason, metadata.stop_reason],
    ['cancelled', 'stopped', 'the session was ended'],
  )
  t.is((await daemon.request('GET', '/v1/status')).body.tasks.live_background_shell_task_count, 1)
  await openSession(daemon)
  t.is((await start(['true'])).length, 1, 'a session that is opened again may start commands again')
})

const onLinux = process.platform === 'linux' ? test : test.skip
onLinux(
  'tools-32: a command in the background that is lost has failed, says so, and nothing of it is left',
  async (t) => {
    const { daemon, one, ready, workspace } = await setUp(t)
    const task = await one('echo before; (setsid sleep 300 &); echo $PPID > parent; touch ready; sleep 300')
    await ready()
    process.kill(Number(await readFile(join(workspace, 'parent'), 'utf8')), 'SIGKILL')
    const { task: after, output_text } = await ended(daemon, task)
    t.deepEqual([after.status, after.metadata.terminal_reason, output_text], ['failed', 'lost', 'before\n'])
    t.false('exit_code' in after.metadata)
    t.true(after.metadata.process_tree_shutdown_confirmed)
    t.deepEqual(await markedBy(daemon.root), [])
  },
)

test('a command that lives longer than the limit is stopped and has failed', async (t) => {
  const { daemon, one } = await setUp(t, { background_time_limit_ms: 200 })
  const { status, metadata } = (await ended(daemon, await one('sleep 300'))).task
  t.deepEqual(
    [status, metadata.terminal_reason, metadata.process_tree_shutdown_confirmed],
    ['failed', 'time_limit', true],
  )
})

test('tasks-16: a cancelled run leaves its commands in the background alone', async (t) => {
  const { daemon, one, script, ready } = await setUp(t)
  const { run_id } = await submit(daemon, 's1', `${script(['touch ready; sleep 300'])}\n---\n/sleep 600000`)
  t.true(await ready())
  await daemon.request('POST', `/v1/runs/${run_id}/cancel`)
  const { body } = await daemon.request('GET', '/v1/sessions/s1/tasks?status=in_progress')
  t.is(body.length, 1)
  t.is((await one('true')).metadata.kind, 'background_shell')
})

test('a model waits for a task, stops one and cannot say what the daemon knows of it', async (t) => {
  const { daemon, one } = await setUp(t)
  const task = await one('sleep 300')
  const call = async (name: string, input: object): Promise<any> => {
    const { run_id } = await submit(daemon, 's1', `/tool ${name} ${JSON.stringify({ task_id: task.id, ...input })}`)
    await until(daemon, run_id, 'completed')
    return (await outcomes(daemon, run_id))[0]
  }
  t.is((await call('task_output', { timeout_ms: 10 })).retrieval_status, 'timeout')
  t.is((await call('task_update', { status: 'completed' })).error.code, 'task_driven')
  t.is((await call('task_update', { output: 'done' })).error.code, 'task_driven')
  t.is((await call('task_update', { metadata: { exit_code: 0 } })).error.code, 'task_metadata_reserved')
  t.is((await call('task_delete', {})).error.code, 'task_in_progress')
  t.is((await call('task_stop', { reason: 'enough' })).task.status, 'cancelled')
  t.is((await call('task_update', { status: 'completed' })).error.code, 'task_driven')
  t.is((await call('task_output', {})).retrieval_status, 'success')
  t.is((await call('task_delete', {})).task.id, task.id)
})

test('tasks-10: only the newest outputs are kept; a task whose output is gone is still there', async (t) => {
  const { daemon, one } = await setUp(t, { background_kept_outputs: 1 })
  const [first, second] = [await one('echo first'), await one('echo second')]
  await ended(daemon, first)
  await ended(daemon, second)
  t.true(await eventually(async () => !('output_file_path' in (await ended(daemon, first)))))
  const gone = await ended(daemon, first)
  t.deepEqual([gone.task.status, gone.output_text, gone.output_truncated], ['completed', '', true])
  t.is((await ended(daemon, second)).output_text, 'second\n')
})

test(
  'tasks-18: a command that is silent in the middle of a line says since when, until it goes on; after ' +
    'whole lines silence says nothing',
  async (t) => {
    const { daemon, start } = await setUp(t, { background_silence_ms: 100 })
    const [asks, rests] = await start([
      'printf "Go on? "; until [ -e go ]; do sleep 0.02; done; printf "yes "; until [ -e end ]; do sleep 0.02; done',
      'echo whole; until [ -e end ]; do sleep 0.02; done',
    ])
    const silent = async (task: { id: string }): Promise<boolean> =>
      'silent_since_ms' in (await daemon.request('GET', taskPath(task))).body.metadata
    const since = async (): Promise<number> =>
      (await daemon.request('GET', taskPath(asks))).body.metadata.silent_since_ms
    t.true(await eventually(() => silent(asks)))
    const first = await since()
    await submit(daemon, 's1', `/tool bash ${JSON.stringify({ command: 'touch go' })}`)
    t.true(await eventually(async () => (await since()) > first), 'it went on, and is silent again')
    t.false(await silent(rests))
    await submit(daemon, 's1', `/tool bash ${JSON.stringify({ command: 'touch end' })}`)
    const { task } = await ended(daemon, asks)
    t.deepEqual([task.status, 'silent_since_ms' in task.metadata], ['completed', false])
  },
)

/** A disk that takes the header of a spool and refuses all output. */
const refusing = (disk: Disk): Disk => ({
  ...disk,
  open: async (path, how) => {
    const file = await disk.open(path, how)
    if (!path.includes('/spools/')) return file
    return {
      ...file,
      write: (bytes, position) =>
        position === 0
          ? file.write(bytes, position)
          : Promise.reject(Object.assign(fault('no space'), { code: 'ENOSPC' })),
    }
  },
})

test(
  'a disk that takes no output loses the output and nothing else: the command goes on, and its task counts what ' +
    'is lost',
  async (t) => {
    const daemon = await startTestDaemon(t, {
      disk: refusing(createDisk()),
      flags: { 'permission-mode': 'bypassPermissions' },
    })
    await openSession(daemon)
    const { run_id } = await submit(
      daemon,
      's1',
      `/tool bash ${JSON.stringify({ command: 'echo lost; echo again; exit 0', run_in_background: true })}`,
    )
    await until(daemon, run_id, 'completed')
    const view = await ended(daemon, (await outcomes(daemon, run_id))[0].task)
    t.like(view, {
      task: { status: 'completed', metadata: { exit_code: 0, output_lost_bytes: 11 } },
      output_text: '',
      output_truncated: true,
      output_size_bytes: 0,
      output_total_bytes: 11,
    })
    t.true((await daemon.request('GET', '/v1/status')).body.storage.ok)
  },
)

test('a command whose output has no place is not started, and its task says so', async (t) => {
  const { daemon, script } = await setUp(t)
  await writeFile(join(daemon.root, 'spools'), '', { mode: 0o600 })
  const { run_id } = await submit(daemon, 's1', script(['touch never']))
  await until(daemon, run_id, 'completed')
  t.is((await outcomes(daemon, run_id))[0].error.code, 'command_not_started')
  const [task] = (await daemon.request('GET', '/v1/sessions/s1/tasks')).body
  t.deepEqual([task.status, task.metadata.terminal_reason], ['failed', 'not_started'])
  await rm(join(daemon.root, 'spools'))
  t.deepEqual(await markedBy(daemon.root), [])
})
