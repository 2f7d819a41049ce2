import test, { type ExecutionContext } from 'ava'
import { showEvents } from '../../../../plugins/execution/runs/terminal/event-text.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'

const schema = { type: 'object', properties: { sum: { type: 'integer' } }, required: ['sum'] }
const generation = { response_format: { type: 'structured_json', schema } }

const setup = async (t: ExecutionContext, ...answers: string[]) => {
  const model = scriptedProvider((_, count) => [text(answers[count - 1] ?? answers.at(-1) ?? ''), done()], {
    generation: ['response_format.structured_json'],
  })
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  await openSession(daemon)
  const run = async (more: object): Promise<any> => {
    const { body } = await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'Add.', ...more })
    return until(daemon, body.run_id, 'completed', 'failed')
  }
  return { daemon, model, run }
}

test('models-46: a run that asks for a form completes with an answer that fits; the others are no outputs', async (t) => {
  const { daemon, model, run } = await setup(t, 'Three.', '{"sum":"3"}', '{"sum":3}')
  const ended = await run({ generation })
  t.deepEqual([ended.status, ended.outputs.map(({ content }: any) => content)], ['completed', ['{"sum":3}']])
  t.regex(JSON.stringify(model.requests[2]?.messages), /it is no JSON.*sum/u)
  const { body } = await daemon.request('GET', `/v1/runs/${ended.run_id}/events?steps=true`)
  const why = body.flatMap(({ event }: any) => (event.type === 'model_answered' ? [event.not_taken] : []))
  t.deepEqual([why[0], why.length, why[2]], ['it is no JSON', 3, undefined])
  t.regex(why[1], /^sum /u)
  t.regex(showEvents(body), /model_answered {2}not taken: it is no JSON\n/u)
})

test('models-46: a run whose answers never fit fails with a code', async (t) => {
  const { daemon, model, run } = await setup(t, 'Three.')
  const ended = await run({ generation })
  t.is(ended.status, 'failed')
  t.regex(ended.error, /^structured_output_invalid: .* it is no JSON\.$/u)
  t.is(model.requests.length, 3)
  t.is((await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'completed')).outputs[0].content, 'Three.')
})

test('models-73: an answer that was cut at the limit of its length says so to its model and in the error of its run', async (t) => {
  const model = scriptedProvider(() => [text('{"sum":'), done('length')], {
    generation: ['response_format.structured_json'],
  })
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  await openSession(daemon)
  const { body } = await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'Add.', generation })
  const { error } = await until(daemon, body.run_id, 'failed')
  t.regex(error, /^structured_output_invalid: .* it is no JSON; it was cut at the limit of its length\.$/u)
  t.regex(JSON.stringify(model.requests[1]?.messages), /it was cut at the limit of its length/u)
})

test('models-74: a model whose answer does not fit is told the schema, unless that is very long', async (t) => {
  const told = async (wanted: object): Promise<string> => {
    const { model, run } = await setup(t, 'Three.', '{"sum":3}')
    await run({ generation: { response_format: { type: 'structured_json', schema: wanted } } })
    const last = model.requests[1]?.messages.at(-1)?.content[0]
    return last?.type === 'text' ? last.text : ''
  }
  const short = await told(schema)
  t.true(short.endsWith(JSON.stringify(schema)), short)
  const long = await told({ ...schema, description: 'x'.repeat(20_000) })
  t.regex(long, /^Your answer cannot be used: it is no JSON\. .* fits the schema that you were given\.$/u)
})

test('models-46: what a run says is the JSON, without the fence that a model put around it', async (t) => {
  const { run } = await setup(t, '```json\n{"sum":3}\n```')
  t.deepEqual(
    (await run({ generation })).outputs.map(({ content }: any) => content),
    ['{"sum":3}'],
  )
})

test('models-46: a schema that no answer could be checked by is refused with its request', async (t) => {
  const { daemon, model } = await setup(t, '{"sum":3}')
  const schemas = [{ type: 'nope' }, { type: 'string' }, { $ref: '#/x' }]
  for (const unusable of schemas) {
    const wanted = { response_format: { type: 'structured_json', schema: unusable } }
    const answers = [
      await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'Add.', generation: wanted }),
      await daemon.request('PUT', '/v1/sessions/s1/route-policy', { route_policy: { generation: wanted } }),
    ]
    for (const { status, body } of answers) {
      t.is(status, 400)
      t.regex(JSON.stringify(body.errors), /response_format\.schema.*JSON Schema of an object/u)
    }
  }
  t.deepEqual([model.requests.length, (await daemon.request('GET', '/v1/runs')).body], [0, []])
})
