/** Who is given a task is told by a message. */
import test from 'ava'
import { call, does, openAgent, spawn } from '../../../support/agents.js'
import { startTestDaemon } from '../../../support/daemon.js'

test('tasks-27: an agent of the tree that is given a task is told once, and nobody else is', async (t) => {
  const daemon = await startTestDaemon(t)
  const lead = await openAgent(daemon, 'lead')
  const other = await openAgent(daemon, 'other')
  const child = (await spawn(daemon, lead)).body
  const give = (owner_agent_id: string, title: string) => call('task_create', { title, owner_agent_id })
  await does(daemon, 'lead', give(child.agent_id, 'Dig'), give(other, 'Plant'), give(lead, 'Rest'), give('Ann', 'Look'))
  const delivered = async (session_id: string): Promise<any[]> => {
    const runs: any[] = (await daemon.request('GET', `/v1/runs?session_id=${session_id}`)).body
    return runs.filter(({ kind }) => kind === 'mailbox_delivery')
  }
  let told = await delivered(child.session_id)
  for (let n = 0; n < 400 && told[0]?.status !== 'completed'; n += 1) told = await delivered(child.session_id)
  t.is(told.length, 1)
  const [task] = (await daemon.request('GET', '/v1/sessions/lead/tasks')).body.filter(
    ({ title }: any) => title === 'Dig',
  )
  const events = (await daemon.request('GET', `/v1/sessions/${child.session_id}/events`)).body
  const said = JSON.stringify(events)
  t.true(said.includes('task_assignment') && said.includes(task.id) && said.includes('Dig'))
  await does(daemon, 'lead', call('task_update', { task_id: task.id, description: 'Deeper.' }))
  t.is((await delivered(child.session_id)).length, 1, 'whoever has it already is not told again')
  for (const session_id of ['other', 'lead']) t.deepEqual(await delivered(session_id), [])
})
