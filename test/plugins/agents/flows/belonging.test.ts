/** What belongs to a flow also when it has been answered, or begun anew. */
import { rmSync } from 'node:fs'
import test from 'ava'
import { requeue } from '../../../../plugins/execution/runs/record/machine.js'
import { call } from '../../../support/agents.js'
import { createCommandLine } from '../../../support/command-line.js'
import { freshRoot, startTestDaemon, type Reachable } from '../../../support/daemon.js'
import { inStatus, publish, startFlow, untilFlow } from '../../../support/flows.js'
import { rewriteRecord } from '../../../support/rewrite.js'
import { openSession } from '../../../support/runs.js'

const question = { question: 'Which bed?', options: [{ label: 'north' }, { label: 'south' }] }
const asks = call('request_parent_clarification', { questions: [question] })
const worker = (name: string, prompt: string): string => call('spawn_agent', { name, prompt, run_in_background: true })

/** Answers or declines the only question that is open, and gives its id. */
const settle = async ({ request }: Reachable, declined: boolean): Promise<string> => {
  const [{ run_id, request: asked }] = (await request('GET', '/v1/questions')).body
  const [{ id: question_id, options }] = asked.questions
  const answers = declined ? [] : [{ question_id, selected_option_ids: [options[0].id] }]
  const resolution = { request_id: asked.id, declined, answers }
  await request('POST', `/v1/runs/${run_id}/questions`, { resolution })
  return asked.id
}

for (const declined of [false, true])
  test(`flows-7, flows-12: a question to a parent belongs to its flow, also when it was ${
    declined ? 'declined' : 'answered'
  }`, async (t) => {
    const daemon = await startTestDaemon(t)
    await openSession(daemon)
    const playbook_ref = await publish(daemon, { required_evidence: [{ kind: 'question', id: '*' }] })
    const { flow_id } = (await startFlow(daemon, { playbook_ref, content: worker('a', worker('b', asks)) })).body
    const deep = await untilFlow(daemon, flow_id, ({ primitive_refs }) => primitive_refs.question_ids.length === 1)
    const first = await settle(daemon, declined)
    t.deepEqual(deep.primitive_refs.question_ids, [first], 'one that is asked within the flow is told once')
    const own = (await startFlow(daemon, { playbook_ref, content: worker('c', asks) })).body
    await untilFlow(daemon, own.flow_id, ({ primitive_refs }) => primitive_refs.question_ids.length === 1)
    const second = await settle(daemon, declined)
    const done = await untilFlow(daemon, own.flow_id, ({ primitive_refs }) => primitive_refs.run_ids.length === 3)
    t.deepEqual(done.primitive_refs.question_ids, [second])
    const refuse = { evidence_refs: [{ kind: 'question', id: first }] }
    t.is(
      (await daemon.request('POST', `/v1/flows/${own.flow_id}/evidence`, refuse)).status,
      400,
      'that of another flow',
    )
    for (const [id, asked] of [
      [flow_id, first],
      [own.flow_id, second],
    ]) {
      await untilFlow(daemon, id, ({ status, run }) => status === 'waiting' && run.status === 'completed')
      const evidence_refs = [{ kind: 'question', id: asked }]
      await daemon.request('POST', `/v1/flows/${id}/evidence`, { evidence_refs })
      t.deepEqual((await untilFlow(daemon, id, inStatus('succeeded'))).primitive_refs.question_ids, [asked])
    }
  })

test('flows-7: what a root run made before it was put back into its queue belongs to its flow', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const first = await startTestDaemon(t, { root })
  await openSession(first)
  const playbook_ref = await publish(first)
  const task = call('task_create', { title: 'T', description: 'd' })
  const { flow_id, run_id } = (await startFlow(first, { playbook_ref, content: `${task}\n/sleep 3600000` })).body
  const made = await untilFlow(first, flow_id, ({ primitive_refs }) => primitive_refs.task_ids.length === 1)
  await first.stop()
  const begun = { at: 0 }
  rewriteRecord(root, { collection: 'runs', id: run_id }, (run) => {
    if (run.status !== 'running') return run
    begun.at = run.started_at_ms
    return requeue(run, run.updated_at_ms)
  })
  const second = await startTestDaemon(t, { root })
  const again = await untilFlow(second, flow_id, ({ run }) => run.status === 'running')
  t.true(again.run.started_at_ms > begun.at)
  t.deepEqual(again.primitive_refs.task_ids, made.primitive_refs.task_ids)
  await second.request('POST', `/v1/flows/${flow_id}/cancel`)
})

test('flows-19: the status names flows whose work is done and that lack evidence, also after a restart', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const first = await startTestDaemon(t, { root })
  await openSession(first)
  const required_evidence = [
    { kind: 'review', id: '*' },
    { kind: 'sign off', id: 'the head' },
  ]
  const playbook_ref = await publish(first, { required_evidence })
  const begin = async (flow_id: string, content: string): Promise<void> =>
    void (await startFlow(first, { playbook_ref, flow_id, content }))
  await begin('done', '/say ok')
  await untilFlow(first, 'done', ({ run }) => run.status === 'completed')
  const question = '/ask Which? | a | b'
  await begin('asks', question)
  await untilFlow(first, 'asks', inStatus('waiting'))
  const named = async ({ request }: Reachable): Promise<any[]> =>
    (await request('GET', '/v1/status')).body.health.warnings.filter(({ code }: any) => code === 'flow_lacks_evidence')
  const until = async (daemon: Reachable, count: number): Promise<any[]> => {
    for (let n = 0; n < 500; n += 1) {
      const found = await named(daemon)
      if (found.length === count) return found
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    return named(daemon)
  }
  const [one] = await until(first, 1)
  t.like(one, { severity: 'info', related_id: 'done' })
  t.regex(one.message, /waits for evidence: review of any id, sign off the head\./u)
  const adds = "holdfast flows evidence --evidence review:ID --evidence 'sign off:the head' done"
  t.is(one.action, `To add it: ${adds}. To end it without: holdfast flows cancel done`)
  await first.stop()
  const second = await startTestDaemon(t, { root })
  t.deepEqual(
    (await until(second, 1)).map(({ related_id }) => related_id),
    ['done'],
  )
  const line = createCommandLine(second)
  t.regex((await line('status')).out, /flow_lacks_evidence: The work of the flow done is done/u)
  const given = await line('flows', 'evidence', '--evidence', 'review:ID', '--evidence', 'sign off:the head', 'done')
  t.is(given.code, 0)
  t.deepEqual(await until(second, 0), [])
  await line('flows', 'cancel', 'asks')
  t.deepEqual(await named(second), [])
})
