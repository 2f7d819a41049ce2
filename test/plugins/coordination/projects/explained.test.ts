/** What is told of tasks; docs/rules/projects.md. */
import test from 'ava'
import { Channels, mostMembers } from '../../../../plugins/coordination/channels/contract.js'
import { fails } from '../../../../plugins/providers/scripted/contract.js'
import { createCommandLine } from '../../../support/command-line.js'
import { checkLine, readExplanation } from '../../../support/explanations.js'
import { lender } from '../../../support/plugins.js'
import { codeOf } from '../../../support/runs.js'
import { held, startGarden, untilTask } from './garden.js'

test('projects-26: a task says what it waits for, down to the run that does it', async (t) => {
  const { play, open } = held()
  const garden = await startGarden(t, { play })
  const add = (project_task_id: string, more: object) =>
    garden.make('POST', '/v1/projects/garden/tasks', { project_task_id, title: project_task_id, ...more })
  const told = async (id: string): Promise<any[]> => {
    const { subjects } = await readExplanation(garden, id)
    for (const { reasons } of subjects)
      for (const { commands = [] } of reasons) for (const command of commands) checkLine(t, command)
    return subjects
  }
  const codes = async (id: string): Promise<unknown> =>
    (await told(id)).map(({ kind, id: name, reasons }) => [kind, name, ...reasons.map(({ code }: any) => code)])
  await add('dig', {})
  await add('plant', { assignee_member_id: 'bob', blocked_by: ['dig'] })
  t.deepEqual(await codes('garden:plant'), [
    ['task', 'garden:plant', 'task_waits'],
    ['task', 'garden:dig', 'task_not_assigned'],
  ])
  const [plant, dig] = await told('garden:plant')
  t.like(plant, { session_id: 's2', status: 'pending', text: 'It is the task "plant" of the project garden.' })
  t.false('session_id' in dig)
  t.is(plant.reasons[0].text, 'It waits for the task "dig", which is pending.')
  await garden.make('PUT', '/v1/projects/garden/tasks/dig', { assignee_member_id: 'ada' })
  await garden.make('PUT', '/v1/projects/garden', { status: 'paused' })
  t.deepEqual(await codes('garden:dig'), [['task', 'garden:dig', 'project_not_active']])
  await garden.make('PUT', '/v1/projects/garden', { status: 'active' })
  t.deepEqual(await codes('garden:dig'), [['task', 'garden:dig', 'task_not_started']])
  const { run_id } = await garden.make('POST', '/v1/projects/garden/tasks/dig/start')
  const [, , run] = await told('garden:plant')
  t.like(run, { kind: 'run', id: run_id, depth: 2 })
  t.like((await told('garden:dig'))[0].reasons[0], { code: 'task_run', leads_to: [run_id] })
  open()
  await untilTask(garden, 'dig', ({ status }) => status === 'completed')
  t.deepEqual(await codes('garden:dig'), [['task', 'garden:dig']])
  t.deepEqual(await codes('garden:plant'), [['task', 'garden:plant', 'task_not_started']])
  t.is((await garden.request('GET', '/v1/explanations/garden:none')).status, 404)
})

test('projects-26: a task that failed or was cancelled leads to its run, and says how it is opened again', async (t) => {
  const garden = await startGarden(t, { play: () => [fails(false, 'No.')] })
  const add = (project_task_id: string, more: object) =>
    garden.make('POST', '/v1/projects/garden/tasks', { project_task_id, title: project_task_id, ...more })
  const told = async (id: string): Promise<any[]> => (await readExplanation(garden, id)).subjects
  await add('a', { assignee_member_id: 'ada' })
  await add('b', { assignee_member_id: 'bob', blocked_by: ['a'] })
  const { run_id } = await garden.make('POST', '/v1/projects/garden/tasks/a/start')
  await untilTask(garden, 'a', ({ status }) => status === 'failed')
  const [b, a, run] = await told('garden:b')
  t.like(b.reasons[0], { code: 'task_waits', leads_to: ['garden:a'] })
  t.like(run, { kind: 'run', id: run_id, depth: 2 })
  t.deepEqual(run.reasons[0], {
    code: 'not_completed',
    text: 'It does not go on by itself, and a retry of it would leave its task as it is.',
  })
  const again = ['holdfast projects tasks update --status pending garden a', 'holdfast projects tasks start garden a']
  t.deepEqual(a.reasons, [
    {
      code: 'task_not_completed',
      text: 'It failed, and stays so, also when its run is retried, until it is opened again.',
      commands: again,
      leads_to: [run_id],
    },
  ])
  for (const line of again) {
    checkLine(t, line)
    const ran = await createCommandLine(garden)(...line.split(' ').slice(1))
    t.is(ran.code, 0, ran.err)
  }
  await untilTask(garden, 'a', ({ status }) => status === 'failed')
  await garden.make('PUT', '/v1/projects/garden/tasks/a', { status: 'in_progress' })
  const [claimed] = await told('garden:a')
  t.like(claimed.reasons[0], { code: 'task_not_started', text: 'It is called in_progress, and no run does it.' })
  await garden.make('PUT', '/v1/projects/garden/tasks/a', { status: 'pending' })
  const [opened] = await told('garden:a')
  t.like(opened.reasons[0], { text: 'It was opened again, and nobody has started it since.' })
  t.deepEqual(opened.reasons[0].leads_to, [(await garden.task('a')).latest_run_id])
  await garden.make('PUT', '/v1/projects/garden/tasks/b', { status: 'cancelled' })
  const [cancelled] = await told('garden:b')
  t.like(cancelled.reasons[0], {
    text: 'It was cancelled, and stays so until it is opened again.',
    commands: ['holdfast projects tasks update --status pending garden b'],
  })
  t.deepEqual(
    cancelled.reasons.map(({ code }: any) => code),
    ['task_not_completed', 'task_waits'],
  )
})

test('projects-26: a project tells its open tasks, and what keeps all of them', async (t) => {
  const garden = await startGarden(t, {})
  const told = async (id: string): Promise<any[]> => (await readExplanation(garden, id)).subjects
  const codes = async (id: string): Promise<unknown> =>
    (await told(id)).map(({ kind, id: name, reasons }) => [kind, name, ...reasons.map(({ code }: any) => code)])
  t.deepEqual(await codes('garden'), [['project', 'garden', 'no_tasks']])
  const add = (project_task_id: string) =>
    garden.make('POST', '/v1/projects/garden/tasks', { project_task_id, title: project_task_id })
  await add('dig')
  await add('weed')
  await garden.make('PUT', '/v1/projects/garden/tasks/weed', { status: 'cancelled' })
  t.deepEqual(await codes('project:garden'), [
    ['project', 'garden'],
    ['task', 'garden:dig', 'task_not_assigned'],
  ])
  const [project] = await told('garden')
  t.like(project, { status: 'active', text: 'It is the project "The garden"; 1 of 2 tasks not done.' })
  for (let n = 0; n < 20; n += 1) await add(`bed${n}`)
  const many = await told('garden')
  t.is(many.length, 21)
  t.like(many[0].reasons[0], { code: 'more_tasks', text: '21 tasks of it are not done, of which 20 are shown.' })
  await garden.make('PUT', '/v1/projects/garden', { status: 'paused' })
  t.deepEqual(
    (await told('garden'))[0].reasons.map(({ code }: any) => code),
    ['project_not_active'],
  )
  await garden.make('POST', '/v1/sessions', { session_id: 'garden' })
  t.is((await told('project:garden'))[0].kind, 'project')
})

test('projects-20, projects-26: where the thread cannot be opened nothing is started, and a task says why', async (t) => {
  const lent = lender({ channels: Channels })
  const garden = await startGarden(t, { beside: [lent.plugin], project: { channel_links: [{ channel_id: 'beds' }] } })
  const start = () => garden.request('POST', '/v1/projects/garden/tasks/dig/start')
  const reasons = async (): Promise<any[]> => (await readExplanation(garden, 'garden:dig')).subjects[0]?.reasons
  const move = async (code: string, member_id: string): Promise<void> => {
    const [reason, ...more] = await reasons()
    t.deepEqual([reason.code, more], [code, []])
    const line = reason.commands[0].replace('MEMBER', member_id)
    checkLine(t, line)
    t.is((await createCommandLine(garden)(...line.split(' ').slice(1))).code, 0)
  }
  await garden.make('POST', '/v1/projects/garden/tasks', {
    project_task_id: 'dig',
    title: 'dig',
    assignee_member_id: 'ada',
  })
  await garden.make('POST', '/v1/channels/beds/members', {
    member_id: 'project-control',
    member_kind: 'session',
    display_name: 'Three',
    session_id: 's3',
  })
  t.deepEqual(codeOf(await start()), [409, 'project_control_taken'])
  t.deepEqual(await garden.make('GET', '/v1/channels/beds/messages'), [])
  t.false('latest_run_id' in (await garden.task('dig')))
  await move('task_control_taken', '')
  const { channels } = lent.services()
  await lent.context().state.commit((tx) => {
    for (let n = 0; n < mostMembers; n += 1)
      channels.putMember(tx, 'beds', { member_id: `m${n}`, member_kind: 'human_actor', display_name: `M${n}` })
  })
  t.deepEqual(codeOf(await start()), [409, 'channel_full'])
  await move('task_channel_full', 'm7')
  t.is((await reasons())[0].code, 'task_not_started')
  t.is((await start()).status, 202)
})
