import test, { type ExecutionContext } from 'ava'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'

/** A session with tasks of these titles; gives their ids in order. */
const withTasks = async (
  t: ExecutionContext,
  titles: readonly string[],
): Promise<{ daemon: TestDaemon; ids: string[] }> => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const { run_id } = await submit(
    daemon,
    's1',
    titles.map((title) => `/tool task_create {"title":"${title}"}`).join('\n'),
  )
  await until(daemon, run_id, 'completed')
  const { body } = await daemon.request('GET', '/v1/sessions/s1/tasks')
  return { daemon, ids: titles.map((title) => body.find((task: { title: string }) => task.title === title).id) }
}

test('the list of tasks has both forms, a filter by status and the order by id', async (t) => {
  const { daemon, ids } = await withTasks(t, ['a', 'b', 'c'])
  await daemon.request('POST', `/v1/sessions/s1/tasks/${ids[1] ?? ''}/stop`, {})
  const all = (await daemon.request('GET', '/v1/sessions/s1/tasks')).body.map(({ id }: { id: string }) => id)
  t.deepEqual(all, ids.toSorted())
  t.deepEqual((await daemon.request('GET', '/v1/sessions/s1/tasks?limit=2')).body.length, 2)
  const first = (await daemon.request('GET', '/v1/sessions/s1/tasks?page=true&limit=2')).body
  t.deepEqual(
    [first.pagination.order, first.pagination.total_count, first.pagination.has_more],
    ['task_id_asc', 3, true],
  )
  const second = (await daemon.request('GET', `/v1/sessions/s1/tasks?cursor=${first.pagination.next_cursor}`)).body
  t.deepEqual(
    [...first.items, ...second.items].map(({ id }: { id: string }) => id),
    all,
  )
  t.deepEqual(
    (await daemon.request('GET', '/v1/sessions/s1/tasks?status=cancelled')).body.map(({ id }: { id: string }) => id),
    [ids[1]],
  )
  t.is((await daemon.request('GET', '/v1/sessions/s1/tasks?status=pending&page=true')).body.pagination.total_count, 2)
  t.is((await daemon.request('GET', '/v1/sessions/s1/tasks?status=running')).status, 400)
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/sessions/s1/tasks?limit=0')), [400, 'invalid_limit'])
})

test('tasks-4: a task of another session, an unknown task and an unknown session are 404', async (t) => {
  const { daemon, ids } = await withTasks(t, ['a'])
  await openSession(daemon, 's2')
  for (const path of [`s2/tasks/${ids[0] ?? ''}`, 's1/tasks/none', `s2/tasks/${ids[0] ?? ''}/output`])
    t.deepEqual(codeOf(await daemon.request('GET', `/v1/sessions/${path}`)), [404, 'task_not_found'], path)
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions/s1/tasks/none/stop', {})), [404, 'task_not_found'])
  for (const path of ['none/tasks', `none/tasks/${ids[0] ?? ''}`, `none/tasks/${ids[0] ?? ''}/output`])
    t.deepEqual(codeOf(await daemon.request('GET', `/v1/sessions/${path}`)), [404, 'session_not_found'], path)
  t.deepEqual(codeOf(await daemon.request('POST', `/v1/sessions/none/tasks/${ids[0] ?? ''}/stop`, {})), [
    404,
    'session_not_found',
  ])
  t.is((await daemon.request('POST', `/v1/sessions/s1/tasks/${ids[0] ?? ''}/stop`)).status, 400, 'the body is required')
})

test('the output of a task is what was written into it, its end or all of it', async (t) => {
  const { daemon, ids } = await withTasks(t, ['a'])
  const path = `/v1/sessions/s1/tasks/${ids[0] ?? ''}`
  const open = (await daemon.request('GET', `/v1/sessions/s1/tasks/${ids[0] ?? ''}/output`)).body
  t.deepEqual(
    [open.retrieval_status, open.output_excerpt, open.output_size_bytes, open.output_truncated],
    ['not_ready', '', 0, false],
  )
  t.is((await daemon.request('GET', `${path}/output?wait=true&timeout_ms=20`)).body.retrieval_status, 'timeout')
  t.is((await daemon.request('GET', path)).body.status, 'pending', 'a wait that is over changes nothing')
  const text = 'é'.repeat(10)
  await until(
    daemon,
    (
      await submit(
        daemon,
        's1',
        `/tool task_update {"task_id":"${ids[0] ?? ''}","status":"completed","output":"${text}"}`,
      )
    ).run_id,
    'completed',
  )
  const tail = (await daemon.request('GET', `${path}/output?tail_bytes=5`)).body
  t.deepEqual(
    [tail.retrieval_status, tail.output_excerpt, tail.output_truncated, tail.output_size_bytes, 'output_text' in tail],
    ['success', 'éé', true, 20, false],
  )
  const full = (await daemon.request('GET', `${path}/output?full=true&tail_bytes=2`)).body
  t.deepEqual([full.output_text, full.output_excerpt, full.output_truncated], [text, 'é', false])
})

test('who waits for a task is answered when it ends', async (t) => {
  const { daemon, ids } = await withTasks(t, ['a'])
  const path = `/v1/sessions/s1/tasks/${ids[0] ?? ''}`
  const waiting = daemon.request('GET', `${path}/output?wait=true&timeout_ms=600000`)
  await daemon.request('POST', `${path}/stop`, { reason: 'enough' })
  const { body } = await waiting
  t.deepEqual(
    [body.retrieval_status, body.task.status, body.task.metadata.stop_reason],
    ['success', 'cancelled', 'enough'],
  )
})

test('status counts the tasks of all sessions by status', async (t) => {
  const { daemon, ids } = await withTasks(t, ['a', 'b'])
  await daemon.request('POST', `/v1/sessions/s1/tasks/${ids[0] ?? ''}/stop`, {})
  t.deepEqual((await daemon.request('GET', '/v1/status')).body.tasks, {
    live_background_shell_task_count: 0,
    total: 2,
    pending: 1,
    in_progress: 0,
    blocked: 0,
    completed: 0,
    failed: 0,
    cancelled: 1,
  })
})

test('tasks are there after a restart, the ended ones too', async (t) => {
  const { daemon, ids } = await withTasks(t, ['a', 'b'])
  await daemon.request('POST', `/v1/sessions/s1/tasks/${ids[0] ?? ''}/stop`, {})
  const before = (await daemon.request('GET', '/v1/sessions/s1/tasks')).body
  await daemon.stop()
  const again = await startTestDaemon(t, { root: daemon.root })
  t.deepEqual((await again.request('GET', '/v1/sessions/s1/tasks')).body, before)
})
