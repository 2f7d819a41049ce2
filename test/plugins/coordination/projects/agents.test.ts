/** What models do with the tasks of their projects; docs/rules/projects.md. */
import test from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import { callTool, done, text, type Play } from '../../../../plugins/providers/scripted/contract.js'
import { submit, until } from '../../../support/runs.js'
import { path, startGarden, untilTask, type Garden } from './garden.js'

const names = ['claim_project_task', 'create_project_task', 'list_project_tasks', 'update_project_task']
const garden = { project_id: 'garden' }

/** Makes the calls that the input names, one after the other, and gives what each was answered. */
const play: Play = ({ messages }) => {
  const said = messages.findLast(({ role }) => role === 'user')?.content[0]
  const calls: [string, JsonObject][] = said?.type === 'text' && said.text.startsWith('[') ? JSON.parse(said.text) : []
  const made = messages
    .slice(messages.findLastIndex(({ role }) => role === 'user'))
    .filter(({ role }) => role === 'tool')
  const next = calls[made.length]
  return next === undefined ? [text('done'), done()] : [callTool(`c${messages.length}`, ...next), done('tool_calls')]
}

const call = async (daemon: Garden, session_id: string, ...calls: [string, JsonObject][]): Promise<any[]> => {
  const { run_id } = await submit(daemon, session_id, JSON.stringify(calls))
  await until(daemon, run_id, 'completed')
  const messages: any[] = daemon.asked.at(-1).messages
  const last = messages.findLastIndex(({ role }) => role === 'user')
  return messages
    .slice(last)
    .filter(({ role }) => role === 'tool')
    .flatMap(({ content }) =>
      content.map(({ output }: any) => (typeof output === 'string' ? JSON.parse(output) : output)),
    )
}

test('projects-23: the tools are there for members of a project alone', async (t) => {
  const daemon = await startGarden(t, { play })
  const seen = async (session_id: string): Promise<string[]> => {
    await call(daemon, session_id)
    return daemon.asked
      .at(-1)
      .tools.map(({ name }: any) => name)
      .filter((name: string) => name.endsWith('project_tasks') || name.endsWith('project_task'))
      .toSorted()
  }
  t.deepEqual(await seen('s1'), names)
  t.deepEqual(await seen('s3'), [])
  await daemon.make('DELETE', '/v1/projects/garden/members/ada')
  t.deepEqual(await seen('s1'), [])
})

test('projects-23: a member lists, makes, claims and ends tasks, and reaches nothing of others', async (t) => {
  const daemon = await startGarden(t, { play })
  await daemon.make('POST', '/v1/projects', { project_id: 'house', display_name: 'House' })
  const of = (project_task_id: string, more = {}) => ({ ...garden, project_task_id, ...more })
  await daemon.make('POST', '/v1/projects/garden/tasks', { project_task_id: 'a', title: 'a' })
  await daemon.make('POST', '/v1/projects/garden/tasks', { project_task_id: 'b', title: 'b', blocked_by: ['a'] })
  await daemon.make('POST', '/v1/projects/garden/tasks', {
    project_task_id: 'c',
    title: 'c',
    assignee_member_id: 'bob',
  })
  const [projects, all, claimed, waits, foreign, outside, done_, ended] = await call(
    daemon,
    's1',
    ['list_project_tasks', {}],
    ['list_project_tasks', garden],
    ['claim_project_task', of('a')],
    ['claim_project_task', of('b')],
    ['claim_project_task', of('c')],
    ['list_project_tasks', { project_id: 'house' }],
    ['update_project_task', of('a', { status: 'completed', output: 'dug' })],
    ['update_project_task', of('a', { status: 'in_progress' })],
  )
  t.like(projects.projects[0], { project_id: 'garden', you_are: 'ada', task_count: 3 })
  t.deepEqual(
    all.tasks.map(({ project_task_id }: any) => project_task_id),
    ['a', 'b', 'c'],
  )
  t.like(claimed.task, { status: 'in_progress', assignee_member_id: 'ada', primary_session_id: 's1' })
  t.is(waits.error.code, 'project_task_waits')
  t.is(foreign.error.code, 'project_task_of_another')
  t.is(outside.error.code, 'project_not_found')
  t.like(done_.task, { status: 'completed', output: 'dug' })
  t.is(ended.error.code, 'project_task_terminal')
  const [made, mine, row] = await call(
    daemon,
    's1',
    ['create_project_task', { ...garden, title: 'd', blocked_by: ['b'], assignee_member_id: 'ada' }],
    ['list_project_tasks', { ...garden, mine: true, status: 'pending' }],
    ['list_project_tasks', of('b')],
  )
  t.like(made.task, { title: 'd', status: 'pending', metadata: { created_by_session_id: 's1' } })
  t.deepEqual(
    mine.tasks.map(({ title }: any) => title),
    ['d'],
  )
  t.is(row.task.title, 'b')
  const { created_at_ms: _, updated_at_ms: __, ...task } = made.task
  t.like(await daemon.task(task.project_task_id), task)
})

test('projects-22, projects-23: what an agent says of a task in its run stays when the run ends', async (t) => {
  const ways: Record<string, object> = {
    completed: { status: 'completed', output: 'said' },
    failed: { status: 'failed', output: 'said' },
    blocked: { status: 'blocked' },
  }
  let at = ''
  const daemon = await startGarden(t, {
    play: (_, count) =>
      count % 2 === 1
        ? [
            callTool(`c${count}`, 'update_project_task', { ...garden, project_task_id: at, ...ways[at] }),
            done('tool_calls'),
          ]
        : [text('the last words'), done()],
  })
  for (at of Object.keys(ways)) {
    await daemon.make('POST', '/v1/projects/garden/tasks', {
      project_task_id: at,
      title: at,
      assignee_member_id: 'ada',
    })
    const { run_id } = await daemon.make('POST', `/v1/projects/garden/tasks/${at}/start`)
    await until(daemon, run_id, 'completed')
    const task = await untilTask(daemon, at, ({ status }) => status !== 'in_progress' && status !== 'pending')
    t.like(task, { ...ways[at], latest_run_id: at === 'blocked' ? undefined : run_id })
    // Its run is over, and may be looked at no more.
    t.is((await daemon.request('PUT', `${path}/tasks/${at}`, { status: 'cancelled' })).status, 200)
    t.is((await daemon.task(at)).status, 'cancelled')
  }
})

test('projects-24: a session sees the learnings of its projects', async (t) => {
  const daemon = await startGarden(t)
  const scopes = async (session_id: string): Promise<unknown> =>
    (await daemon.make('GET', `/v1/sessions/${session_id}/memory-context`)).learning_scopes
  t.deepEqual(await scopes('s1'), [
    { kind: 'session', id: 's1' },
    { kind: 'project', id: 'garden' },
    { kind: 'workspace', id: 'default' },
  ])
  t.deepEqual(await scopes('s3'), [
    { kind: 'session', id: 's3' },
    { kind: 'workspace', id: 'default' },
  ])
})
