/** A model is asked outside of runs, for a text or for JSON of a form. */
import test, { type ExecutionContext } from 'ava'
import {
  ConsultationObservers,
  Consultations,
  type Consultation,
  type ConsultedCall,
} from '../../../../plugins/execution/consultations/contract.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { testPlugin } from '../../../support/plugins.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { done, scriptedProvider, text, type Play } from '../../../../plugins/providers/scripted/contract.js'

const schema = {
  type: 'object',
  properties: { verdict: { enum: ['yes', 'no'] } },
  required: ['verdict'],
  additionalProperties: false,
}
const question = { purpose: 'judge', system: 'You judge.', texts: ['Is it so?'], most: 10_000 }

const setup = async (t: ExecutionContext, play: Play, more: Parameters<typeof scriptedProvider>[1] = {}) => {
  const clock = createLeapingClock()
  const model = scriptedProvider(play, more)
  const calls: ConsultedCall[] = []
  let service: Consultations | undefined
  const asker = testPlugin('asker', {
    needs: { consultations: Consultations },
    register(ctx: any, { consultations }: any) {
      service = consultations
      const broken = () => {
        throw new Error('It is broken.')
      }
      ctx.contribute(ConsultationObservers, { name: 'broken', observe: broken })
      ctx.contribute(ConsultationObservers, { name: 'seen', observe: (call: ConsultedCall) => calls.push(call) })
    },
  })
  const daemon = await startTestDaemon(t, { clock, plugins: [model.plugin, asker], config: model.config })
  const ask = (wish: Partial<Consultation> = {}, signal = new AbortController().signal) => {
    if (service === undefined) throw new Error('There is no service.')
    return service.ask({ ...question, ...wish }, signal)
  }
  return { daemon, clock, model, calls, ask }
}

const says =
  (...answers: string[]): Play =>
  (_, count) => [text(answers[count - 1] ?? ''), done()]

test('models-45: what is asked outside of runs is booked, and told to observers with its purpose', async (t) => {
  const { daemon, ask, calls } = await setup(t, says('Yes.'))
  await openSession(daemon)
  t.like(await ask({ session_id: 's1' }), { type: 'text', text: 'Yes.' })
  t.is(calls.length, 1)
  t.like(calls[0], {
    purpose: 'judge',
    session_id: 's1',
    outcome: 'answered',
    usage: { input_tokens: 1, output_tokens: 1 },
  })
  t.true(Number.isSafeInteger(calls[0]?.started_at_ms))
  await ask({ purpose: 'what a caller said' })
  const { text: metrics } = await daemon.request('GET', '/metrics')
  t.regex(metrics, /service_model_consultations_total\{purpose="judge",result="answered"\} 1/u)
  t.regex(metrics, /service_model_consultation_tokens_total\{purpose="judge",kind="input"\} 1/u)
  t.regex(metrics, /service_model_consultations_total\{purpose="other",result="answered"\} 1/u)
  t.regex(JSON.stringify((await daemon.request('GET', '/v1/usage?by=session')).body), /"calls":1\b/u)
})

test('usage-12: what was asked outside of runs is told by its purpose, beside what runs used', async (t) => {
  const { daemon, ask } = await setup(t, says('Yes.', 'No.', 'Maybe.', 'Done.'))
  await openSession(daemon)
  await ask({ session_id: 's1' })
  await ask({})
  await ask({ purpose: 'what a caller said' })
  await until(daemon, (await submit(daemon, 's1', 'hello')).run_id, 'completed')
  const rows = async (query: string): Promise<any[]> =>
    (await daemon.request('GET', `/v1/usage?by=purpose${query}`)).body.map(({ purpose, calls }: any) => [
      purpose,
      calls,
    ])
  t.deepEqual(await rows(''), [
    ['judge', 2],
    ['other', 1],
    ['run', 1],
  ])
  t.deepEqual(await rows('&session_id=s1'), [
    ['judge', 1],
    ['run', 1],
  ])
})

test('usage-12: a provider that throws was asked all the same, and a question that is not asked is no call', async (t) => {
  const { daemon, ask, calls } = await setup(t, () => {
    throw new Error('It is broken.')
  })
  t.like(await ask(), { type: 'failed', code: 'unknown', asked: true })
  t.is(calls.length, 1)
  const stop = new AbortController()
  stop.abort()
  t.like(await ask({}, stop.signal), { type: 'failed', code: 'aborted', asked: undefined })
  t.like((await daemon.request('GET', '/v1/usage')).body[0], { calls: 1 })
})

test('models-45: a consultation ends when its time is over, or its signal comes', async (t) => {
  const { ask, clock, model } = await setup(t, async function* (_, __, signal) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    yield { type: 'done', outcome: 'failed', failure: { class: 'aborted', retryable: false, message: 'It ended.' } }
  })
  const late = ask({ timeout_ms: 120_000 })
  while (model.requests.length < 1) await new Promise((resolve) => setImmediate(resolve))
  clock.leap(120_000)
  t.like(await late, { type: 'failed', code: 'timeout' })
  const stop = new AbortController()
  const stopped = ask({ timeout_ms: 120_000 }, stop.signal)
  stop.abort()
  t.like(await stopped, { type: 'failed', code: 'aborted' })
})

test('models-46: an answer that does not fit its schema is asked for again, and told what is wrong', async (t) => {
  const { ask, model, calls } = await setup(t, says('Yes!', '{"verdict":"maybe"}', '```json\n{"verdict":"yes"}\n```'))
  const answer = await ask({ schema })
  t.like(answer, { type: 'text', value: { verdict: 'yes' }, usage: { input_tokens: 3, output_tokens: 3 } })
  t.is(calls.length, 3)
  const told = JSON.stringify(model.requests[2]?.messages)
  t.regex(told, /Yes!.*it is no JSON.*maybe.*verdict/u)
  t.regex(model.requests[0]?.system ?? '', /fits this JSON Schema/u)
  t.is(model.requests[0]?.generation.response_format, undefined)
})

test('models-46: one that never fits has failed with a code after three answers, a schema that cannot be used too', async (t) => {
  const { ask, model } = await setup(t, () => [text('{"verdict":7}'), done()])
  t.like(await ask({ schema }), { type: 'failed', code: 'structured_output_invalid', usage: { input_tokens: 3 } })
  t.is(model.requests.length, 3)
  const broken = await ask({ schema: { $ref: 'https://example.com/x' } })
  t.like(broken, { type: 'failed', code: 'structured_output_invalid' })
})

test('models-46: a provider that passes a schema on is given it', async (t) => {
  const { ask, model } = await setup(t, says('{"verdict":"no"}'), { generation: ['response_format.structured_json'] })
  t.like(await ask({ schema }), { value: { verdict: 'no' } })
  t.deepEqual(model.requests[0]?.generation.response_format, { type: 'structured_json', schema })
  t.is(model.requests[0]?.system, 'You judge.')
})
