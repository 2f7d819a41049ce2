/** What is told of tasks; docs/rules/projects.md. */
import test from 'ava'
import { checkLine, readExplanation } from '../../../support/explanations.js'
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
