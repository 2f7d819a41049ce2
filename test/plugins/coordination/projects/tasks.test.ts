/** Tasks of projects as people make and change them; docs/rules/projects.md. */
import test from 'ava'
import { codeOf, submit, until } from '../../../support/runs.js'
import { cleo, held, path, startGarden, untilTask, type Garden } from './garden.js'

const add = (garden: Garden, project_task_id: string, more: object = {}) =>
  garden.make('POST', '/v1/projects/garden/tasks', { project_task_id, title: project_task_id, ...more })
const ofAda = { assignee_member_id: 'ada' }

test('projects-13: a task is made in an active project, for a member with a session or for nobody', async (t) => {
  const garden = await startGarden(t)
  const post = (body: object) => garden.request('POST', `${path}/tasks`, { title: 'x', ...body })
  const free = await post({ title: ' Dig ' })
  t.is(free.status, 201)
  const { created_at_ms, project_task_id } = free.body
  t.regex(project_task_id, /^project_task_/u)
  t.deepEqual(free.body, {
    project_task_id,
    project_id: 'garden',
    title: 'Dig',
    description: '',
    status: 'pending',
    created_at_ms,
    updated_at_ms: created_at_ms,
  })
  const { agent_id } = (await garden.request('GET', '/v1/sessions/s1')).body
  for (const named of [ofAda, { assignee_session_id: 's1' }, { assignee_agent_id: agent_id }])
    for (const body of [{ assignment: named }, named])
      t.like((await post(body)).body, { assignee_member_id: 'ada', primary_session_id: 's1' })
  for (const [body, status, code] of [
    [{ assignment: { ...ofAda, assignee_session_id: 's1' } }, 400, 'project_invalid_request'],
    [{ assignment: ofAda, ...ofAda }, 400, 'project_invalid_request'],
    [{ assignee_member_id: 'nobody' }, 404, 'project_member_not_found'],
    [{ assignee_session_id: 's3' }, 404, 'project_member_not_found'],
    [{ assignee_session_id: 'none' }, 404, 'session_not_found'],
    [{ assignee_agent_id: 'none' }, 404, 'agent_not_found'],
    [{ assignee_member_id: 'cleo' }, 400, 'project_task_assignee_invalid'],
    [{ project_task_id }, 409, 'project_task_exists'],
    [{ project_task_id: 'a/b' }, 400, 'bad_request'],
    [{ title: ' ' }, 400, 'bad_request'],
    [{ status: 'lost' }, 400, 'bad_request'],
  ] as const)
    t.deepEqual(codeOf(await post(body)), [status, code], JSON.stringify(body))
  const { task_count } = await garden.make('GET', '/v1/projects/garden')
  t.is(task_count, 7)
  for (const status of ['paused', 'completed', 'archived']) {
    await garden.make('PUT', '/v1/projects/garden', { status })
    t.deepEqual(codeOf(await post({})), [400, 'project_not_active'])
  }
  t.is((await garden.make('PUT', `/v1/projects/garden/tasks/${project_task_id}`, { title: 'Dug' })).title, 'Dug')
  t.deepEqual(codeOf(await garden.request('GET', `${path}/tasks/none`)), [404, 'project_task_not_found'])
  t.deepEqual(codeOf(await garden.request('GET', '/v1/projects/none/tasks/none')), [404, 'project_not_found'])
  t.deepEqual(codeOf(await garden.request('DELETE', `${path}/tasks/none`)), [404, 'project_task_not_found'])
})

test('projects-13: tasks are listed by id, and found by text, status and assignee', async (t) => {
  const garden = await startGarden(t)
  await add(garden, 'b', { description: 'with a Spade', ...ofAda })
  await add(garden, 'c', { status: 'completed', output: 'Nice beds', ...ofAda })
  await add(garden, 'a', { assignee_member_id: 'bob' })
  const list = async (query: string) =>
    (await garden.make('GET', `/v1/projects/garden/tasks?${query}`)).map((task: any) => task.project_task_id)
  t.deepEqual(await list(''), ['a', 'b', 'c'])
  t.deepEqual(await list('query=spade'), ['b'])
  t.deepEqual(await list('query=nice'), ['c'])
  t.deepEqual(await list('status=pending'), ['a', 'b'])
  t.deepEqual(await list('assignee_member_id=ada'), ['b', 'c'])
  t.deepEqual(await list('assignee_member_id=ada&status=completed'), ['c'])
  t.deepEqual(await list('limit=1'), ['a'])
})

test('projects-14: a discussion is a thread of a linked channel, named with both', async (t) => {
  const garden = await startGarden(t, { project: { channel_links: [{ channel_id: 'beds' }] } })
  await garden.make('POST', '/v1/channels', { channel_id: 'far', title: 'Far' })
  for (const id of ['beds', 'far']) await garden.make('POST', `/v1/channels/${id}/members`, cleo)
  const say = async (channel_id: string, more = {}): Promise<string> =>
    (
      await garden.make('POST', `/v1/channels/${channel_id}/messages`, {
        sender_actor_id: 'cleo',
        content: 'x',
        ...more,
      })
    ).message_id
  const [root, far] = [await say('beds'), await say('far')]
  const reply = await say('beds', { reply_to_message_id: root })
  const [channel, thread] = ['discussion_channel_id', 'discussion_thread_root_message_id']
  await add(garden, 't', { [channel]: 'beds', [thread]: root })
  t.deepEqual((await garden.task('t')).discussion, { channel_id: 'beds', thread_root_message_id: root })
  for (const [body, status, code] of [
    [{ [channel]: 'beds' }, 400, 'project_invalid_request'],
    [{ [thread]: root }, 400, 'project_invalid_request'],
    [{ [channel]: 'far', [thread]: far }, 400, 'project_channel_not_linked'],
    [{ [channel]: 'beds', [thread]: far }, 404, 'channel_message_not_found'],
    [{ [channel]: 'beds', [thread]: 'none' }, 404, 'channel_message_not_found'],
    [{ [channel]: 'beds', [thread]: reply }, 400, 'project_invalid_request'],
    [{ clear_discussion: true, [channel]: 'beds', [thread]: root }, 400, 'project_invalid_request'],
  ] as const)
    t.deepEqual(codeOf(await garden.request('PUT', `${path}/tasks/t`, body)), [status, code], JSON.stringify(body))
  t.is((await garden.make('PUT', '/v1/projects/garden/tasks/t', { clear_discussion: true })).discussion, undefined)
})

test('projects-15: dependencies are tasks of the project, no task waits for itself, and what is waited for stays', async (t) => {
  const garden = await startGarden(t)
  const put = (id: string, blocked_by: string[]) => garden.request('PUT', `${path}/tasks/${id}`, { blocked_by })
  await add(garden, 'a')
  await add(garden, 'b', { blocked_by: [' a ', '', 'a'] })
  await add(garden, 'c', { blocked_by: ['b'] })
  t.deepEqual((await garden.task('b')).blocked_by, ['a'])
  t.deepEqual(codeOf(await put('a', ['a'])), [400, 'project_task_self_dependency'])
  const circle = await put('a', ['c'])
  t.deepEqual(codeOf(circle), [400, 'project_task_dependency_cycle'])
  t.regex(circle.body.detail, /c waits for it/u)
  t.deepEqual(codeOf(await put('a', ['none'])), [404, 'project_task_not_found'])
  await garden.make('POST', '/v1/projects', { project_id: 'house', display_name: 'House' })
  await garden.make('POST', '/v1/projects/house/tasks', { project_task_id: 'x', title: 'x' })
  t.deepEqual(codeOf(await put('a', ['x'])), [404, 'project_task_not_found'], 'it is of another project')
  t.is((await garden.task('a')).blocked_by, undefined)
  t.deepEqual(codeOf(await garden.request('DELETE', `${path}/tasks/a`)), [409, 'project_task_in_use'])
  await garden.make('PUT', '/v1/projects/garden/tasks/b', { blocked_by: [] })
  t.is((await garden.task('b')).blocked_by, undefined)
  await garden.make('DELETE', '/v1/projects/garden/tasks/a')
  await garden.make('DELETE', '/v1/projects/garden/tasks/c')
  await garden.make('DELETE', '/v1/projects/garden/tasks/b')
  t.is((await garden.make('GET', '/v1/projects/garden')).task_count, 0)
})

test('projects-16: the latest run is of the assignee and over, and says what became of the task', async (t) => {
  const garden = await startGarden(t)
  const [one, two] = [await submit(garden, 's1', 'Hi'), await submit(garden, 's2', 'Hi')]
  for (const { run_id } of [one, two]) await until(garden, run_id, 'completed')
  const said = { status: 'blocked', output: 'mine' }
  const made = await add(garden, 't', { ...ofAda, latest_run_id: one.run_id, ...said })
  t.like(made, { latest_run_id: one.run_id, status: 'completed', output: 'done' })
  const put = (body: object) => garden.request('PUT', `${path}/tasks/t`, body)
  for (const [body, status, code] of [
    [{ latest_run_id: two.run_id }, 400, 'project_task_run_invalid'],
    [{ latest_run_id: 'run_none' }, 404, 'run_not_found'],
    [{ clear_assignment: true, latest_run_id: two.run_id }, 400, 'project_task_run_invalid'],
  ] as const)
    t.deepEqual(codeOf(await put(body)), [status, code], JSON.stringify(body))
  const post = await garden.request('POST', `${path}/tasks`, { title: 'x', latest_run_id: one.run_id })
  t.deepEqual(codeOf(post), [400, 'project_task_run_invalid'], 'it is assigned to nobody')
  const moved = await garden.make('PUT', '/v1/projects/garden/tasks/t', {
    assignee_member_id: 'bob',
    status: 'pending',
  })
  t.like(moved, { assignee_member_id: 'bob', primary_session_id: 's2', latest_run_id: undefined, output: 'done' })
  const again = await garden.make('PUT', '/v1/projects/garden/tasks/t', {
    latest_run_id: two.run_id,
    status: 'failed',
    output: 'no',
  })
  t.like(again, { status: 'completed', output: 'done', latest_run_id: two.run_id })
  const cleared = await garden.make('PUT', '/v1/projects/garden/tasks/t', { clear_assignment: true })
  t.like(cleared, { assignee_member_id: undefined, primary_session_id: undefined, latest_run_id: undefined })
})

test('projects-16: a run that has not ended is none that may be named', async (t) => {
  const { play, open } = held()
  const garden = await startGarden(t, { play })
  const { run_id } = await submit(garden, 's1', 'Hi')
  const body = { title: 'x', ...ofAda, latest_run_id: run_id }
  t.deepEqual(codeOf(await garden.request('POST', `${path}/tasks`, body)), [400, 'project_task_run_invalid'])
  open()
  await until(garden, run_id, 'completed')
  t.is((await garden.request('POST', `${path}/tasks`, body)).status, 201)
})

test('projects-17: while its run goes on a task keeps what follows from it, in every status', async (t) => {
  const { play, open } = held()
  const garden = await startGarden(t, { play })
  await add(garden, 'other')
  // One of the session runs, another one is queued behind it.
  for (const id of ['running', 'queued']) {
    await add(garden, id, ofAda)
    await garden.make('POST', `/v1/projects/garden/tasks/${id}/start`)
  }
  t.is((await garden.task('running')).status, 'in_progress')
  t.is((await garden.task('queued')).status, 'pending')
  for (const id of ['running', 'queued']) {
    const before = await garden.task(id)
    const put = (body: object) => garden.request('PUT', `${path}/tasks/${id}`, body)
    for (const body of [
      { status: 'completed' },
      { status: 'blocked' },
      { status: 'failed' },
      { status: 'cancelled' },
      { assignee_member_id: 'bob' },
      { clear_assignment: true },
      { blocked_by: ['other'] },
    ])
      t.deepEqual(codeOf(await put(body)), [400, 'project_task_run_active'], `${id} ${JSON.stringify(body)}`)
    for (const body of [{ output: 'x' }, { clear_output: true }])
      t.deepEqual(codeOf(await put(body)), [400, 'project_task_output_derived'], `${id} ${JSON.stringify(body)}`)
    t.deepEqual(await garden.task(id), before)
    t.deepEqual((await put({ status: before.status, ...ofAda })).body, before, 'the same is no change')
    t.like((await put({ title: 'New', description: 'd', metadata: { a: 1 } })).body, { title: 'New' })
  }
  open()
  for (const id of ['running', 'queued']) await untilTask(garden, id, ({ status }) => status === 'completed')
})

test('projects-17, projects-6, projects-7: a task whose run goes on is not deleted, be it queued', async (t) => {
  const { play, open } = held()
  const garden = await startGarden(t, { play })
  for (const id of ['running', 'queued']) {
    await add(garden, id, ofAda)
    await garden.make('POST', `/v1/projects/garden/tasks/${id}/start`)
  }
  const remove = async (at: string) => codeOf(await garden.request('DELETE', `${path}${at}`))
  for (const id of ['queued', 'running']) {
    const before = await garden.task(id)
    t.deepEqual(await remove(`/tasks/${id}`), [400, 'project_task_run_active'])
    t.deepEqual(await garden.task(id), before)
  }
  t.deepEqual(await remove('/members/ada'), [409, 'project_member_in_use'])
  t.deepEqual(await remove(''), [409, 'project_in_use'])
  await garden.make('PUT', '/v1/projects/garden', { status: 'archived' })
  t.deepEqual(await remove('/tasks/queued'), [400, 'project_task_run_active'], 'it begins in an archived project, too')
  const { latest_run_id } = await garden.task('queued')
  await garden.make('POST', `/v1/runs/${latest_run_id}/cancel`)
  await untilTask(garden, 'queued', ({ status }) => status === 'cancelled')
  await garden.make('DELETE', '/v1/projects/garden/tasks/queued')
  open()
  await untilTask(garden, 'running', ({ status }) => status === 'completed')
  await garden.make('DELETE', '/v1/projects/garden/tasks/running')
  await garden.make('DELETE', '/v1/projects/garden')
})

test('projects-3, projects-17: without a run every status may follow every other, and the same leaves the time', async (t) => {
  const garden = await startGarden(t)
  await add(garden, 't', { ...ofAda, metadata: { a: 1 } })
  const statuses = ['pending', 'in_progress', 'blocked', 'completed', 'failed', 'cancelled']
  for (const from of statuses)
    for (const to of statuses) {
      await garden.make('PUT', '/v1/projects/garden/tasks/t', { status: from })
      const before = await garden.task('t')
      const after = await garden.make('PUT', '/v1/projects/garden/tasks/t', { status: to })
      t.is(after.status, to)
      if (from === to) t.deepEqual(after, before)
    }
  const before = await garden.task('t')
  t.deepEqual(
    await garden.make('PUT', '/v1/projects/garden/tasks/t', {
      title: ' t ',
      ...ofAda,
      blocked_by: [],
      metadata: { a: 1 },
    }),
    before,
  )
  t.is((await garden.make('PUT', '/v1/projects/garden/tasks/t', { output: 'By hand' })).output, 'By hand')
  t.is((await garden.make('PUT', '/v1/projects/garden/tasks/t', { clear_output: true })).output, undefined)
})

test('projects-17: the output of a run is no output that a person writes', async (t) => {
  const garden = await startGarden(t)
  const { run_id } = await submit(garden, 's1', 'Hi')
  await until(garden, run_id, 'completed')
  await add(garden, 't', { ...ofAda, latest_run_id: run_id })
  const put = (body: object) => garden.request('PUT', `${path}/tasks/t`, body)
  for (const body of [{ output: 'x' }, { clear_output: true }, { output: 'x', latest_run_id: run_id }])
    t.deepEqual(codeOf(await put(body)), [400, 'project_task_output_derived'], JSON.stringify(body))
  t.is((await put({ status: 'pending' })).body.status, 'pending', 'it may be opened again')
  t.is((await garden.task('t')).output, 'done')
})
