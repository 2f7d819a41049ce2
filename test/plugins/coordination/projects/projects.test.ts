/** Projects and their members as clients see them; docs/rules/projects.md. */
import test from 'ava'
import { codeOf, openSession } from '../../../support/runs.js'
import { ada, bob, cleo, path, startGarden } from './garden.js'

test('projects-1, projects-4: a project shows its members and what it counts', async (t) => {
  const garden = await startGarden(t, { project: { description: '  Plants ', metadata: { a: 1 } } })
  const { created_at_ms, ...project } = await garden.make('GET', '/v1/projects/garden')
  t.deepEqual(project, {
    project_id: 'garden',
    display_name: 'The garden',
    description: 'Plants',
    status: 'active',
    member_count: 3,
    channel_count: 0,
    task_count: 0,
    active_task_count: 0,
    updated_at_ms: created_at_ms,
    members: [
      { ...ada, joined_at_ms: created_at_ms },
      { ...bob, joined_at_ms: created_at_ms },
      { ...cleo, actor_id: 'cleo', joined_at_ms: created_at_ms },
    ],
    metadata: { a: 1 },
  })
  await garden.make('POST', '/v1/projects/garden/tasks', { title: 'a' })
  await garden.make('POST', '/v1/projects/garden/tasks', { title: 'b', status: 'completed' })
  t.like(await garden.make('GET', '/v1/projects/garden'), { task_count: 2, active_task_count: 1 })
})

test('projects-1: an id is used once, holds no colon, and is made where none is chosen', async (t) => {
  const garden = await startGarden(t)
  const create = (body: object) => garden.request('POST', '/v1/projects', { display_name: 'x', ...body })
  t.deepEqual(codeOf(await create({ project_id: 'garden' })), [409, 'project_exists'])
  for (const project_id of ['a:b', 'a/b', '..', 'a\nb'])
    t.deepEqual(codeOf(await create({ project_id })), [400, 'bad_request'], project_id)
  t.deepEqual(codeOf(await create({ display_name: '  ' })), [400, 'bad_request'])
  t.regex((await create({ project_id: ' ' })).body.project_id, /^project_/u)
  await garden.make('DELETE', '/v1/projects/garden')
  t.deepEqual(codeOf(await create({ project_id: 'garden' })), [409, 'project_exists'], 'learnings may name it')
  t.deepEqual(codeOf(await garden.request('GET', path)), [404, 'project_not_found'])
})

test('projects-1: of many members the first are shown, and all are counted', async (t) => {
  const members = Array.from({ length: 130 }, (_, n) => ({
    member_id: `m${String(n).padStart(3, '0')}`,
    member_kind: 'human_actor',
    display_name: `M ${n}`,
  }))
  const garden = await startGarden(t, { project: { members } })
  const project = await garden.make('GET', '/v1/projects/garden')
  t.is(project.member_count, 130)
  t.is(project.members.length, 100)
  t.is(project.members.at(-1).member_id, 'm099')
  t.is((await garden.make('GET', '/v1/projects/garden/members')).length, 130)
})

test('projects-2: projects are found by text, status, session and channel', async (t) => {
  const garden = await startGarden(t)
  await garden.make('POST', '/v1/projects', {
    project_id: 'house',
    display_name: 'House',
    description: 'with a Roof',
    status: 'paused',
    members: [ada],
    channel_links: [{ channel_id: 'beds' }],
  })
  await garden.make('POST', '/v1/projects', { project_id: 'attic', display_name: 'Attic', status: 'paused' })
  const list = async (query: string) =>
    (await garden.make('GET', `/v1/projects?${query}`)).map(({ project_id }: any) => project_id)
  t.deepEqual(await list(''), ['attic', 'garden', 'house'])
  t.deepEqual(await list('query=ROOF'), ['house'])
  t.deepEqual(await list('query=gard'), ['garden'])
  t.deepEqual(await list('status=paused'), ['attic', 'house'])
  t.deepEqual(await list('status=paused&query=t'), ['attic', 'house'])
  t.deepEqual(await list('member_session_id=s1'), ['garden', 'house'])
  t.deepEqual(await list('member_session_id=s1&status=paused'), ['house'])
  t.deepEqual(await list('member_session_id=nobody'), [])
  t.deepEqual(await list('channel_id=beds'), ['house'])
  t.deepEqual(await list('channel_id=beds&member_session_id=s2'), [])
  t.deepEqual(codeOf(await garden.request('GET', '/v1/projects?channel_id=none')), [404, 'channel_not_found'])
  const page = await garden.make('GET', '/v1/projects?page=true&limit=2')
  t.is(page.pagination.total_count, 3)
  const next = await garden.make('GET', `/v1/projects?cursor=${page.pagination.next_cursor}`)
  t.deepEqual(
    next.items.map(({ project_id }: any) => project_id),
    ['house'],
  )
})

test('projects-3: what changes nothing leaves the time, and what changes a part changes the project', async (t) => {
  const garden = await startGarden(t, { project: { description: 'Plants', metadata: { a: 1 } } })
  const before = await garden.make('GET', '/v1/projects/garden')
  t.deepEqual(
    await garden.make('PUT', '/v1/projects/garden', {
      display_name: ' The garden ',
      description: '  ',
      status: 'active',
    }),
    before,
  )
  await garden.make('POST', '/v1/projects/garden/members', ada)
  t.deepEqual(await garden.make('GET', '/v1/projects/garden'), before, 'the same member again')
  const renamed = await garden.make('PUT', '/v1/projects/garden', { display_name: 'Park', metadata: {} })
  t.like(renamed, { display_name: 'Park', description: 'Plants', metadata: undefined })
  t.true(renamed.updated_at_ms >= before.updated_at_ms)
  for (const [method, rest, body] of [
    ['POST', '/members', { ...ada, display_name: 'Ada L.' }],
    ['POST', '/channels', { channel_id: 'beds' }],
    ['POST', '/tasks', { project_task_id: 't', title: 't' }],
    ['PUT', '/tasks/t', { title: 'u' }],
    ['DELETE', '/tasks/t', undefined],
    ['DELETE', '/channels/beds', undefined],
    ['DELETE', '/members/bob', undefined],
  ] as const) {
    const { updated_at_ms } = await garden.make('GET', '/v1/projects/garden')
    await new Promise((resolve) => setTimeout(resolve, 3))
    await garden.make(method, `${path}${rest}`, body)
    t.true((await garden.make('GET', '/v1/projects/garden')).updated_at_ms > updated_at_ms, `${method} ${rest}`)
  }
  for (const status of ['archived', 'active', 'completed', 'paused', 'active'])
    t.is((await garden.make('PUT', '/v1/projects/garden', { status })).status, status)
})

test('projects-4: a member is a session or a person, and what is of the other kind is left out', async (t) => {
  const garden = await startGarden(t)
  const post = (body: object) => garden.request('POST', `${path}/members`, { display_name: 'x', ...body })
  const session = { member_kind: 'session' }
  const { agent_id } = (await garden.request('GET', '/v1/sessions/s3')).body
  t.like((await post({ ...session, member_id: 's3', actor_id: 'x' })).body, { session_id: 's3', actor_id: undefined })
  await garden.make('DELETE', '/v1/projects/garden/members/s3')
  const byAgent = (await post({ ...session, member_id: 'dan', agent_id })).body
  t.like(byAgent, { session_id: 's3', agent_id: undefined })
  t.like((await post({ member_id: 'eve', member_kind: 'human_actor', session_id: 's1' })).body, {
    actor_id: 'eve',
    session_id: undefined,
  })
  t.deepEqual(codeOf(await post({ ...session, member_id: 'f', session_id: 's1', agent_id })), [
    400,
    'project_invalid_request',
  ])
  t.deepEqual(codeOf(await post({ ...session, member_id: 'nobody' })), [404, 'session_not_found'])
  t.deepEqual(codeOf(await post({ ...session, member_id: 'f', agent_id: 'none' })), [404, 'agent_not_found'])
  t.deepEqual(codeOf(await post({ member_id: 'a/b', member_kind: 'human_actor' })), [400, 'bad_request'])
  t.deepEqual(codeOf(await garden.request('DELETE', `${path}/members/f`)), [404, 'project_member_not_found'])
  const { joined_at_ms } = byAgent
  t.like((await post({ ...session, member_id: 'dan', agent_id, role: 'r' })).body, { joined_at_ms, role: 'r' })
})

test('projects-5: one session is one member, on create and on change, in each project by itself', async (t) => {
  const garden = await startGarden(t)
  const twin = { ...ada, member_id: 'twin' }
  t.deepEqual(codeOf(await garden.request('POST', `${path}/members`, twin)), [400, 'project_session_twice'])
  t.is((await garden.make('GET', '/v1/projects/garden')).member_count, 3)
  const other = { project_id: 'house', display_name: 'House' }
  const twice = await garden.request('POST', '/v1/projects', { ...other, members: [ada, twin] })
  t.deepEqual(codeOf(twice), [400, 'project_session_twice'])
  t.deepEqual(codeOf(await garden.request('GET', '/v1/projects/house')), [404, 'project_not_found'])
  const same = await garden.request('POST', '/v1/projects', { ...other, members: [cleo, cleo] })
  t.deepEqual([...codeOf(same), same.body.errors[0].path], [400, 'project_invalid_request', 'body.members.1.member_id'])
  await garden.make('POST', '/v1/projects', { ...other, members: [ada] })
  await garden.make('DELETE', '/v1/projects/garden/members/ada')
  await garden.make('POST', '/v1/projects/garden/members', twin)
})

test('projects-6: who owns a task that is not done stays, with the same session', async (t) => {
  const garden = await startGarden(t)
  await garden.make('POST', '/v1/projects/garden/tasks', {
    project_task_id: 't',
    title: 't',
    assignment: { assignee_member_id: 'ada' },
  })
  t.deepEqual(codeOf(await garden.request('DELETE', `${path}/members/ada`)), [409, 'project_member_in_use'])
  const moved = await garden.request('POST', `${path}/members`, { ...ada, session_id: 's3' })
  t.deepEqual(codeOf(moved), [409, 'project_member_in_use'])
  t.like(await garden.make('POST', '/v1/projects/garden/members', { ...ada, role: 'lead' }), {
    role: 'lead',
    session_id: 's1',
  })
  await garden.make('PUT', '/v1/projects/garden/tasks/t', { status: 'completed' })
  await garden.make('DELETE', '/v1/projects/garden/members/ada')
  t.is((await garden.make('GET', '/v1/projects/garden')).member_count, 2)
})

test('projects-7: a project with tasks stays whole; without them it goes with all that it has', async (t) => {
  const garden = await startGarden(t, {
    project: { channel_links: [{ channel_id: 'beds', mirror_members: true }] },
  })
  const before = await garden.make('GET', '/v1/projects/garden')
  await garden.make('POST', '/v1/projects/garden/tasks', { project_task_id: 't', title: 't', status: 'completed' })
  const refused = await garden.request('DELETE', path)
  t.deepEqual(codeOf(refused), [409, 'project_in_use'])
  t.is(refused.body.detail, 'The project garden cannot be deleted: it has 1 task.')
  t.regex(refused.body.action, /holdfast projects tasks list garden\. Or/u)
  t.is((await garden.make('GET', '/v1/channels/beds')).member_count, 3, 'nobody has left the channel')
  t.deepEqual((await garden.make('GET', '/v1/projects/garden')).members, before.members)
  await garden.make('DELETE', '/v1/projects/garden/tasks/t')
  t.deepEqual(await garden.make('DELETE', '/v1/projects/garden'), { accepted: true })
  t.is((await garden.make('GET', '/v1/channels/beds')).member_count, 0)
  await garden.make('DELETE', '/v1/channels/beds')
  t.is((await garden.request('POST', '/v1/sessions/s1/end', {})).status, 200)
})

test('projects-8: members, mirrored members, links and tasks have bounds, and what is beyond changes nothing', async (t) => {
  const garden = await startGarden(t, {
    config: { projects: { max_members: 4, max_mirrored: 6, max_tasks: 2 } },
  })
  const limit = [400, 'project_limit']
  await garden.make('POST', '/v1/channels', { channel_id: 'two', title: 'Two' })
  await garden.make('POST', '/v1/channels', { channel_id: 'three', title: 'Three' })
  for (const channel_id of ['beds', 'two'])
    await garden.make('POST', '/v1/projects/garden/channels', { channel_id, mirror_members: true })
  const third = await garden.request('POST', `${path}/channels`, { channel_id: 'three', mirror_members: true })
  t.deepEqual(codeOf(third), limit)
  await garden.make('POST', '/v1/projects/garden/channels', { channel_id: 'three' })
  const dan = { member_id: 'dan', member_kind: 'human_actor', display_name: 'Dan' }
  t.deepEqual(codeOf(await garden.request('POST', `${path}/members`, dan)), limit)
  t.is((await garden.make('GET', '/v1/channels/beds')).member_count, 3)
  await garden.make('POST', '/v1/projects/garden/channels', { channel_id: 'two' })
  await garden.make('POST', '/v1/projects/garden/members', dan)
  t.deepEqual(codeOf(await garden.request('POST', `${path}/members`, { ...dan, member_id: 'eve' })), limit)
  for (const title of ['a', 'b']) await garden.make('POST', '/v1/projects/garden/tasks', { title })
  t.deepEqual(codeOf(await garden.request('POST', `${path}/tasks`, { title: 'c' })), limit)
  const many = Array.from({ length: 5 }, (_, n) => ({ ...dan, member_id: `m${n}` }))
  const big = { project_id: 'big', display_name: 'x', members: many }
  t.deepEqual(codeOf(await garden.request('POST', '/v1/projects', big)), limit)
  await openSession(garden, 's9')
  t.like(await garden.make('GET', '/v1/projects/garden'), { member_count: 4, channel_count: 3, task_count: 2 })
})
