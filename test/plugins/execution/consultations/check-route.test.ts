/** A route is tried with one small question. */
import test from 'ava'
import { commands } from '../../../../plugins/execution/consultations/commands.js'
import { modelErrors } from '../../../../plugins/execution/models/contract.js'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { codeOf } from '../../../support/runs.js'
import { done, fails, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'

test('models-42: a route is asked for one word, and says whether its model answered', async (t) => {
  const model = scriptedProvider(function* (_, count) {
    if (count > 1) return yield fails(false, 'The provider has no such model.')
    yield text('ready')
    yield done()
  })
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  const { provider } = model.config.models
  const good = await daemon.request('POST', '/v1/runtime/model/check', {})
  t.like(good, { status: 200, body: { route_id: provider, answered: true } })
  t.is(model.requests.length, 1)
  const { body: used } = await daemon.request('GET', '/v1/usage?by=route')
  t.regex(JSON.stringify(used), /"calls":1\b/u)
  const bad = await daemon.request('POST', '/v1/runtime/model/check', { route_id: provider })
  t.like(bad.body, { answered: false, code: 'bad_request', message: 'The provider has no such model.' })
  const none = await daemon.request('POST', '/v1/runtime/model/check', { route_id: 'nosuch' })
  t.deepEqual(codeOf(none), [400, modelErrors.bad_request.code])
  const { code, out } = await createCommandLine(daemon)('runtime', 'check-model', provider)
  t.is(code, 1)
  const show = commands[0]?.show ?? t.fail('check-model shows nothing')
  t.is(show({ route_id: 'olama', model: '', answered: false, message: 'Gone?' }, 80), 'olama does not answer: Gone?')
  t.regex(out, /does not answer: The provider has no such model\.$/mu)
  t.is((await daemon.request('GET', '/v1/runs')).body.length, 0)
})

test('models-42, usage-12: a check that a budget does not let be made says so once', async (t) => {
  const model = scriptedProvider(() => [text('ready'), done()])
  const config = { ...model.config, usage: { max_day_output_tokens: 1 } }
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config })
  const check = async () => (await daemon.request('POST', '/v1/runtime/model/check', {})).body
  t.like(await check(), { answered: true })
  const { code, message } = await check()
  t.is(code, 'budget_exhausted')
  t.regex(message, /^The budget of the day is used up: 1 of 1 output tokens\. It is free again at /u)
})

test('http-32: a check of a model that is under way when the daemon stops is told so at once', async (t) => {
  let begun = (): void => {}
  const begins = new Promise<void>((resolve) => (begun = resolve))
  const model = scriptedProvider(async function* (_request, _count, signal) {
    begun()
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    yield fails(false, 'It was cut off.')
  })
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  const asked = daemon.request('POST', '/v1/runtime/model/check', {})
  await begins
  const stopped = daemon.stop()
  t.deepEqual(codeOf(await asked), [503, 'daemon_draining'])
  await stopped
})
