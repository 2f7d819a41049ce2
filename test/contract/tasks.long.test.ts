/**
 * docs/rules/tasks.md: rules that can be seen from outside, against a real process.
 */
import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { codeOf, submit, until } from '../support/runs.js'
import { markedBy, shareTasked, startTasked } from '../support/tasks.js'

const shared = shareTasked(test)

const ids = (tasks: { id: string }[]): string[] => tasks.map(({ id }) => id)

test('tasks-1, tasks-2: GET /v1/sessions/{session_id}/tasks: TaskRecords, filtered by each status; another status is 400', async (t) => {
  const daemon = await shared()
  const made: Record<string, string> = {}
  for (const status of ['pending', 'in_progress', 'blocked', 'completed', 'failed', 'cancelled']) {
    const { task } = await daemon.call('task_create', { title: status })
    await daemon.call('task_update', { task_id: task.id, status })
    made[status] = task.id
  }
  for (const [status, id] of Object.entries(made)) {
    const { body } = await daemon.request('GET', `${daemon.at}/tasks?status=${status}`)
    t.deepEqual([body.length, body[0].id, body[0].status], [1, id, status], status)
  }
  t.deepEqual(
    ids((await daemon.request('GET', `${daemon.at}/tasks`)).body),
    Object.values(made).toSorted(),
    'those that ended are listed too',
  )
  t.is((await daemon.request('GET', `${daemon.at}/tasks?status=done`)).status, 400)
})

test('tasks-1: Pagination of tasks: a plain array with a limit, an envelope with page or cursor, ordered task_id_asc', async (t) => {
  const daemon = await shared()
  for (const title of ['a', 'b', 'c']) await daemon.call('task_create', { title })
  const all = ids((await daemon.request('GET', `${daemon.at}/tasks`)).body)
  t.deepEqual(ids((await daemon.request('GET', `${daemon.at}/tasks?limit=2`)).body), all.slice(0, 2))
  const { items, pagination } = (await daemon.request('GET', `${daemon.at}/tasks?page=true&limit=2`)).body
  t.deepEqual(
    [ids(items), pagination.order, pagination.total_count, pagination.has_more],
    [all.slice(0, 2), 'task_id_asc', 3, true],
  )
  const last = (await daemon.request('GET', `${daemon.at}/tasks?cursor=${pagination.next_cursor}`)).body
  t.deepEqual([ids(last.items), 'next_cursor' in last.pagination], [all.slice(2), false])
  t.deepEqual(codeOf(await daemon.request('GET', `${daemon.at}/tasks?limit=0`)), [400, 'invalid_limit'])
})

test('tasks-3: GET /v1/sessions/{session_id}/tasks/{task_id}: the TaskRecord, without members that are empty', async (t) => {
  const daemon = await shared()
  const { task } = await daemon.call('task_create', { title: 'a' })
  const { body } = await daemon.request('GET', `${daemon.at}/tasks/${task.id}`)
  t.deepEqual(body, task)
  t.deepEqual(Object.keys(body).toSorted(), [
    'created_at_ms',
    'description',
    'id',
    'metadata',
    'status',
    'title',
    'updated_at_ms',
  ])
  const full = { title: 'b', description: 'd', owner_agent_id: 'x', blocked_by: [task.id], metadata: { k: 1 } }
  const second = (await daemon.call('task_create', full)).task
  await daemon.call('task_update', { task_id: second.id, output: 'o' })
  t.like(await daemon.task(second.id), {
    ...full,
    output: 'o',
    metadata: { k: 1, created_by_run_id: second.metadata.created_by_run_id },
  })
  t.deepEqual((await daemon.task(task.id)).blocks, [second.id])
})

test('tasks-4: An unknown task or session is 404 on every route of tasks', async (t) => {
  const daemon = await shared()
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/sessions/none/tasks')), [404, 'session_not_found'])
  for (const [session, code] of [
    [daemon.session, 'task_not_found'],
    ['none', 'session_not_found'],
  ] as const) {
    t.deepEqual(codeOf(await daemon.request('GET', `/v1/sessions/${session}/tasks/x`)), [404, code])
    t.deepEqual(codeOf(await daemon.request('GET', `/v1/sessions/${session}/tasks/x/output`)), [404, code])
    t.deepEqual(codeOf(await daemon.request('POST', `/v1/sessions/${session}/tasks/x/stop`, {})), [404, code])
  }
})

test(
  'tasks-6: GET …/output: not_ready without wait, timeout when the wait is over, success when the task has ' +
    'ended; a wait changes nothing',
  async (t) => {
    const daemon = await shared()
    const { id } = await daemon.background('echo out; touch ready; until [ -e go ]; do sleep 0.02; done')
    await daemon.file('ready')
    t.is((await daemon.output(id)).retrieval_status, 'not_ready')
    t.is((await daemon.output(id, '?wait=true')).retrieval_status, 'timeout', 'timeout_ms is 0 if it is not given')
    t.is((await daemon.output(id, '?wait=true&timeout_ms=50')).retrieval_status, 'timeout')
    t.is((await daemon.task(id)).status, 'in_progress')
    const waiting = daemon.output(id, '?wait=true&timeout_ms=60000')
    await daemon.call('bash', { command: 'touch go', workdir: daemon.session })
    t.like(await waiting, { retrieval_status: 'success', task: { status: 'completed' }, output_excerpt: 'out\n' })
  },
)

test('tasks-7: GET …/output: tail_bytes is 8,192 if not given and 262,144 at most; full adds the retained body', async (t) => {
  const daemon = await shared()
  const { id } = await daemon.background(`head -c 300000 /dev/zero | tr '\\0' x`)
  await daemon.ended(id)
  const lengths = async (query: string) => {
    const view = await daemon.output(id, query)
    return [view.output_excerpt.length, view.output_text?.length, view.output_truncated]
  }
  t.deepEqual(await lengths(''), [8_192, undefined, true])
  t.deepEqual(await lengths('?tail_bytes=10'), [10, undefined, true])
  t.deepEqual(await lengths('?tail_bytes=300000'), [262_144, undefined, true])
  t.deepEqual(await lengths('?full=true'), [8_192, 300_000, false])
  t.like(await daemon.output(id), {
    output_size_bytes: 300_000,
    output_total_bytes: 300_000,
    output_rotated: false,
    output_rotation_count: 0,
  })
})

test(
  'tasks-8: Success of the view is not success of the task: a shell task succeeded if it is completed with ' +
    'exit_code 0',
  async (t) => {
    const daemon = await shared()
    const [good, bad] = [await daemon.background('exit 0'), await daemon.background('exit 7')]
    t.like(await daemon.ended(good.id), {
      retrieval_status: 'success',
      task: { status: 'completed', metadata: { exit_code: 0 } },
    })
    t.like(await daemon.ended(bad.id), {
      retrieval_status: 'success',
      task: { status: 'failed', metadata: { exit_code: 7 } },
    })
  },
)

test(
  'tasks-9: After rotation full=true begins with a marker of the daemon, the file stays within 8 MiB and ' +
    'begins anew with 6 MiB',
  async (t) => {
    const daemon = await shared()
    const { id } = await daemon.background(`head -c 9500000 /dev/zero | tr '\\0' x; echo; echo end`)
    const view = await daemon.ended(id)
    t.like(view, {
      output_rotated: true,
      output_rotation_count: 1,
      output_total_bytes: 9_500_005,
      output_truncated: true,
    })
    const [marker = '', ...rest] = view.output_text.split('\n')
    t.is(marker, `[daemon: the first ${9_500_005 - view.output_size_bytes} bytes of the output are not kept]`)
    t.is(Buffer.byteLength(rest.join('\n')), view.output_size_bytes)
    t.true(view.output_size_bytes >= 6 * 1024 * 1024)
    const { size, mode } = lstatSync(view.output_file_path)
    t.true(size <= 8 * 1024 * 1024)
    t.is(mode & 0o777, 0o600)
    t.true(readFileSync(view.output_file_path, 'utf8').endsWith('xxx\nend\n'))
  },
)

test('tasks-12: POST …/stop: the body is required, its reason is not; the answer is the TaskRecord', async (t) => {
  const daemon = await shared()
  const { task } = await daemon.call('task_create', { title: 'a' })
  const path = `${daemon.at}/tasks/${task.id}/stop`
  t.is((await daemon.request('POST', path)).status, 400)
  t.is((await daemon.request('POST', path, { reasons: 'x' })).status, 400)
  t.is((await daemon.task(task.id)).status, 'pending')
  const stopped = await daemon.request('POST', path, {})
  t.deepEqual([stopped.status, stopped.body.status], [200, 'cancelled'])
  t.deepEqual(
    (await daemon.request('POST', path, { reason: 'again' })).body,
    stopped.body,
    'a task that has ended stays as it is',
  )
})

test('tasks-13: a shell task stays in_progress with stop_requested=true while it is shut down', async (t) => {
  const daemon = await shared()
  const { id } = await daemon.background(`trap '' TERM; touch ready; while :; do sleep 0.1; done`)
  await daemon.file('ready')
  const path = `${daemon.at}/tasks/${id}/stop`
  t.like((await daemon.request('POST', path, { reason: 'one' })).body, {
    status: 'in_progress',
    metadata: { stop_requested: true, stop_reason: 'one' },
  })
  t.like((await daemon.request('POST', path, { reason: 'two' })).body, { metadata: { stop_reason: 'one' } })
  const { task } = await daemon.ended(id)
  t.like(task, { status: 'cancelled', metadata: { stop_reason: 'one' } })
  t.false('stop_requested' in task.metadata)
})

test(
  'tasks-14: Shutdown metadata: the whole process tree is gone when it is confirmed, also of forks that ' +
    'left session and group',
  async (t) => {
    const daemon = await startTasked(t)
    const { id } = await daemon.background(
      `trap '' TERM; (setsid sh -c "trap '' TERM; sleep 300" &); setsid sh -c '(sleep 300 &)'; touch ready; ` +
        'while :; do sleep 0.1; done',
    )
    await daemon.file('ready')
    t.true((await markedBy(daemon.root)).length >= 3)
    await daemon.request('POST', `${daemon.at}/tasks/${id}/stop`, {})
    t.like((await daemon.ended(id)).task.metadata, {
      process_tree_shutdown_confirmed: true,
      process_tree_shutdown_matched_target: true,
      process_tree_shutdown_signal_sent: true,
      process_tree_shutdown_supported: true,
      process_tree_remaining_pids: [],
    })
    t.deepEqual(await markedBy(daemon.root), [])
  },
)

test(
  'tasks-15: a shell task in progress has failed after a restart of the daemon, with terminal_reason and ' +
    'recovered_on_boot',
  async (t) => {
    const daemon = await startTasked(t)
    const { id } = await daemon.background('echo before; (setsid sleep 300 &); touch ready; sleep 300')
    await daemon.file('ready')
    await daemon.kill('SIGKILL')
    const next = await daemon.again()
    t.like(await next.task(id), {
      status: 'failed',
      metadata: { kind: 'background_shell', terminal_reason: 'daemon_restarted', recovered_on_boot: true },
    })
    t.is((await next.output(id, '?full=true')).output_text, 'before\n')
    t.deepEqual(await markedBy(daemon.root), [])
  },
)

test(
  'tools-30, tasks-11: Tool bash with run_in_background: the fields of the answer, and a task of the ' +
    'session that outlives the run',
  async (t) => {
    const daemon = await shared()
    const answer = await daemon.call('bash', {
      command: 'touch ready; sleep 300',
      workdir: daemon.session,
      run_in_background: true,
    })
    t.deepEqual(Object.keys(answer).toSorted(), [
      'background_task_id',
      'backgrounded_by_user',
      'exit_code',
      'stderr',
      'stdout',
      'success',
      'task',
    ])
    t.like(answer, { success: true, exit_code: null, backgrounded_by_user: false, background_task_id: answer.task.id })
    t.regex(answer.task.id, /^shell-task-/u)
    await daemon.file('ready')
    t.like(await daemon.task(answer.task.id), {
      status: 'in_progress',
      metadata: { kind: 'background_shell', command: 'touch ready; sleep 300' },
    })
  },
)

test(
  'tasks-19, tasks-20: Tools task_create and task_list: titles of open tasks differ, dependencies exist, ' +
    'the answers as in the reference',
  async (t) => {
    const daemon = await shared()
    const first = await daemon.call('task_create', { title: 'a' })
    t.deepEqual(Object.keys(first).toSorted(), ['task', 'task_count'])
    t.is(first.task_count, 1)
    t.is((await daemon.call('task_create', { title: 'a' })).error.code, 'task_title_taken')
    t.is(
      (await daemon.call('task_create', { title: 'b', blocked_by: ['none'] })).error.code,
      'task_dependency_not_found',
    )
    const second = await daemon.call('task_create', { title: 'b', blocked_by: [first.task.id] })
    t.is(
      (await daemon.call('task_update', { task_id: first.task.id, add_blocked_by: [second.task.id] })).error.code,
      'task_dependency_cycle',
    )
    t.deepEqual(ids(await daemon.call('task_list')), [first.task.id, second.task.id].toSorted())
    t.deepEqual(ids(await daemon.call('task_list', { status: 'completed' })), [])
  },
)

test('tasks-21: Tool task_update sets any status; terminal tasks stay visible over a restart, deleted ones are hidden', async (t) => {
  const daemon = await startTasked(t)
  const [a, b] = [
    (await daemon.call('task_create', { title: 'a' })).task,
    (await daemon.call('task_create', { title: 'b' })).task,
  ]
  for (const status of ['completed', 'pending', 'blocked', 'failed', 'in_progress', 'cancelled'])
    t.is((await daemon.call('task_update', { task_id: a.id, status })).task.status, status)
  t.is((await daemon.call('task_delete', { task_id: b.id, reason: 'x' })).task.id, b.id)
  await daemon.kill('SIGKILL')
  const next = await daemon.again()
  t.deepEqual(ids((await next.request('GET', `${daemon.at}/tasks`)).body), [a.id])
  t.deepEqual(codeOf(await next.request('GET', `${daemon.at}/tasks/${b.id}`)), [404, 'task_not_found'])
})

test('tasks-22: Tools task_stop and task_output: they wait for the end of what was started', async (t) => {
  const daemon = await shared()
  const { id } = await daemon.background('echo out; touch ready; sleep 300')
  await daemon.file('ready')
  t.is((await daemon.call('task_output', { task_id: id, timeout_ms: 1 })).retrieval_status, 'timeout')
  t.like(await daemon.call('task_stop', { task_id: id, reason: 'enough' }), {
    task: { status: 'cancelled', metadata: { stop_reason: 'enough' } },
  })
  t.like(await daemon.call('task_output', { task_id: id }), { retrieval_status: 'success', output_excerpt: 'out\n' })
})

test('tasks-5: Status block tasks: live background commands, total, and a count for each status', async (t) => {
  const daemon = await startTasked(t)
  await daemon.call('task_create', { title: 'a' })
  await daemon.background('sleep 300')
  t.deepEqual((await daemon.request('GET', '/v1/status')).body.tasks, {
    live_background_shell_task_count: 1,
    total: 2,
    pending: 1,
    in_progress: 1,
    blocked: 0,
    completed: 0,
    failed: 0,
    cancelled: 0,
  })
})

test('tasks-16: The end of a session stops what runs behind it', async (t) => {
  const daemon = await startTasked(t)
  const { id } = await daemon.background('sleep 300')
  await daemon.request('POST', `${daemon.at}/end`, {})
  t.is((await daemon.ended(id)).task.status, 'cancelled')
  t.deepEqual(await markedBy(daemon.root), [])
})

test(
  'tools-14: Plan mode: the allow list is kept, the end asks for approval, the mode of before holds again, ' +
    'and a kill changes none of it',
  async (t) => {
    const daemon = await startTasked(t)
    t.like(await daemon.call('enter_plan_mode', { note: 'n' }), {
      plan_mode: true,
      pre_plan_mode: 'bypassPermissions',
      note: 'n',
      todos: [],
      tasks: [],
    })
    await daemon.kill('SIGKILL')
    const next = await daemon.again()
    t.is((await next.call('write_file', { path: 'a', content: 'a' })).error.code, 'call_denied_by_mode')
    t.deepEqual((await next.call('list_files')).paths, [])
    const { run_id } = await submit(next, next.session, '/tool exit_plan_mode {"plan":"p","summary":"s"}')
    const {
      pending_approval_ids: [request_id],
    } = await until(next, run_id, 'waiting_for_approval')
    await next.kill('SIGKILL')
    const third = await next.again()
    await third.request('POST', `/v1/runs/${run_id}/approvals`, { resolutions: [{ request_id, behavior: 'allow' }] })
    await until(third, run_id, 'completed')
    const { session } = (await third.request('GET', `${daemon.at}/events`)).body
    t.like(session.metadata.session_control_state, { plan_mode: false, plan_artifact: { content: 'p', summary: 's' } })
    await third.call('write_file', { path: 'a', content: 'a' })
    t.is(readFileSync(join(third.workspace, 'a'), 'utf8'), 'a')
  },
)
