/** What waits for agents of a flow begins nothing while the flow is cancelled, nor behind that. */
import test, { type ExecutionContext } from 'ava'
import { call } from '../../../support/agents.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { publish, startFlow, untilFlow } from '../../../support/flows.js'
import { openSession } from '../../../support/runs.js'

const many = 4

const start = async (t: ExecutionContext) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const playbook_ref = await publish(daemon)
  const begin = async (script: string, isReady: (flow: any) => boolean) => {
    const children = Array.from({ length: many }, (_, n) =>
      call('spawn_agent', { name: `w${n}`, prompt: script, run_in_background: true }),
    )
    const { flow_id } = (await startFlow(daemon, { playbook_ref, content: children.join('\n') })).body
    return untilFlow(daemon, flow_id, isReady)
  }
  const get = async (path: string) => (await daemon.request('GET', path)).body
  const cancel = async (t2: ExecutionContext, { flow_id, primitive_refs }: any) => {
    t2.is((await daemon.request('POST', `/v1/flows/${flow_id}/cancel`)).body.status, 'cancelled')
    const kinds = (await get('/v1/runs')).map(({ kind }: any) => kind)
    t2.false(kinds.includes('mailbox_delivery'), kinds.join(', '))
    for (const agent_id of primitive_refs.agent_ids) t2.deepEqual(await get(`/v1/agents/${agent_id}/mailbox`), [])
    const dead = await Promise.all(
      primitive_refs.agent_ids.map((id: string) => get(`/v1/agents/${id}/mailbox/dead-letter`)),
    )
    return dead.flat().map(({ last_error }: any) => last_error)
  }
  return { ...daemon, begin, cancel }
}

const why = 'the flow of its reader was cancelled'
const hasAll = ({ primitive_refs }: any): boolean => primitive_refs.run_ids.length === many + 1

test('flows-13: an agent whose run is cancelled with its flow reads none of the messages that wait for it', async (t) => {
  const { request, begin, cancel } = await start(t)
  const flow = await begin('/sleep 600000', hasAll)
  const [from_agent_id] = flow.primitive_refs.agent_ids
  for (const to_agent_id of flow.primitive_refs.agent_ids)
    await request('POST', '/v1/mailboxes', { from_agent_id, to_agent_id, subject: 'go on', payload: {} })
  t.deepEqual(
    await cancel(t, flow),
    Array.from({ length: many }, () => why),
  )
})

test('flows-13: no agent goes on because its question is taken back with its flow', async (t) => {
  const { begin, cancel } = await start(t)
  const questions = [{ question: 'Which?', options: [{ label: 'a' }, { label: 'b' }] }]
  const flow = await begin(
    call('request_parent_clarification', { questions }),
    ({ primitive_refs }) => primitive_refs.question_ids.length === many,
  )
  t.deepEqual(
    await cancel(t, flow),
    Array.from({ length: many }, () => why),
  )
})

test('flows-13: who is written to behind the cancelling reads it', async (t) => {
  const { request, begin, cancel } = await start(t)
  const flow = await begin('/sleep 600000', hasAll)
  await cancel(t, flow)
  const [to_agent_id] = flow.primitive_refs.agent_ids
  const { body } = await request('POST', '/v1/mailboxes', {
    from_agent_id: to_agent_id,
    to_agent_id,
    subject: 'again',
    payload: {},
  })
  t.true(body.accepted)
  for (let n = 0; n < 200; n += 1) {
    const runs = (await request('GET', '/v1/runs')).body
    if (runs.some(({ kind }: any) => kind === 'mailbox_delivery')) return t.pass()
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  t.fail('the message was not read')
})
