/** What is still to come of runs that have ended: another try, deliveries, and effects of which nobody can tell. */
import test, { type ExecutionContext } from 'ava'
import { object, type JsonObject } from '../../../../core/plugin.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { defineTool, ToolArrivals, Tools } from '../../../../plugins/execution/tools/contract.js'
import { call } from '../../../support/agents.js'
import { freshRoot, startTestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'
import { situation } from '../../../support/explanations.js'
import { testPlugin } from '../../../support/plugins.js'
import { answering, startReceiver } from '../../../support/receiver.js'
import { openSession, until } from '../../../support/runs.js'

const start = async (t: ExecutionContext, options: TestDaemonOptions = {}) => {
  const daemon = await startTestDaemon(t, options)
  const run = async (session_id: string, content: string, more: JsonObject = {}): Promise<string> => {
    await openSession(daemon, session_id)
    return (await daemon.request('POST', `/v1/sessions/${session_id}/runs`, { content, ...more })).body.run_id
  }
  return Object.assign(daemon, { run })
}

test('explanations-3, explanations-7: runs that are done, failed, were cancelled or interrupted', async (t) => {
  const daemon = await start(t)
  const done = await daemon.run('s1', 'hello')
  await until(daemon, done, 'completed')
  await situation(t, daemon, 'completed', { id: done, codes: [] })
  const failed = await daemon.run('s1', '/fail fatal The key is wrong.')
  await until(daemon, failed, 'failed')
  await situation(t, daemon, 'failed', { id: failed, codes: ['not_completed'] })
  const cancelled = await daemon.run('s1', '/sleep 3600000')
  await until(daemon, cancelled, 'running')
  await daemon.request('POST', `/v1/runs/${cancelled}/cancel`)
  await situation(t, daemon, 'cancelled', { id: cancelled, codes: ['not_completed'] })
  const interrupted = await daemon.run('s2', '/sleep 3600000')
  await until(daemon, interrupted, 'running')
  await daemon.request('POST', '/v1/sessions/s2/interrupt', {})
  await situation(t, daemon, 'interrupted', { id: interrupted, codes: ['not_completed'] })
})

test('explanations-7: where tools are missing that every run must have, a run and its agent say so, and no line that is refused', async (t) => {
  let isThere = true
  const why = 'the MCP server tickets is required and not connected: it does not answer'
  const arrival = { id: 'test', awaited: () => undefined, missing: () => (isThere ? undefined : why) }
  const plugin = testPlugin('late', { register: (ctx) => ctx.contribute(ToolArrivals, arrival) })
  const daemon = await start(t, { plugins: [plugin] })
  const failed = await daemon.run('s1', '/fail fatal No.')
  await until(daemon, failed, 'failed')
  isThere = false
  await situation(t, daemon, 'required-tools', { id: failed, codes: ['required_tools', 'not_completed'] })
  await situation(t, daemon, 'required-tools-agent', {
    id: 's1',
    codes: ['required_tools', 'last_run', 'not_completed'],
  })
  isThere = true
  await situation(t, daemon, 'required-tools-there', { id: failed, codes: ['not_completed'] })
})

test('explanations-7: a run whose attempts at its model are used up says what the last one failed with', async (t) => {
  const runs = { model_attempts: 1, model_patience_ms: 0 }
  const daemon = await start(t, { config: { runs } })
  const failed = await daemon.run('s1', '/fail retryable The server is away.')
  await until(daemon, failed, 'failed')
  await situation(t, daemon, 'retries-exhausted', { id: failed, codes: ['not_completed'] })
})

test('explanations-7: outputs that are on their way, did not arrive, or did', async (t) => {
  const receiver = await startReceiver(t)
  const clock = createLeapingClock()
  const deliveries = { drain_ms: 100, initial_retry_ms: 600_000, max_retry_ms: 600_000 }
  const daemon = await start(t, { clock, config: { deliveries } })
  const send = async (session_id: string, path: string): Promise<string> => {
    const reply_targets = [{ plugin: 'http', address: receiver.address(path) }]
    const id = await daemon.run(session_id, 'hello', { reply_targets })
    await until(daemon, id, 'completed')
    return id
  }
  receiver.on('/busy', answering(503))
  receiver.on('/gone', answering(410))
  receiver.on('/hangs', () => {})
  const arrived = await send('s1', '/ok')
  await receiver.until(() => receiver.at('/ok').length === 1, 'arrived')
  await situation(t, daemon, 'delivered', { id: arrived, codes: [] })
  const hangs = await send('s2', '/hangs')
  await receiver.until(() => receiver.at('/hangs').length === 1, 'asked')
  await situation(t, daemon, 'delivery-first', { id: hangs, codes: ['delivery'] })
  const busy = await send('s3', '/busy')
  await receiver.until(() => receiver.at('/busy').length === 1, 'refused')
  const listed = async () => (await daemon.request('GET', '/v1/deliveries?status=retrying')).body.length
  await receiver.until(async () => (await listed()) === 1, 'retrying')
  await situation(t, daemon, 'delivery-tried-again', { id: busy, codes: ['delivery'] })
  const gone = await send('s4', '/gone')
  const { move } = await situation(t, daemon, 'dead-letter', { id: gone, codes: ['dead_letter'] })
  receiver.on('/gone', answering(200))
  await move()
  await situation(t, daemon, 'dead-letter-replayed', { id: gone, codes: [] })
})

test('explanations-7: an effect of which nobody can tell whether it happened, until somebody acknowledges it', async (t) => {
  const root = await freshRoot()
  let entered = (): void => {}
  const isEntered = new Promise<void>((resolve) => (entered = resolve))
  const plugin = testPlugin('payer', {
    register: (ctx) =>
      void ctx.contribute(
        Tools,
        defineTool({
          name: 'pay',
          description: 'Pays, and never says so.',
          input: object({}),
          effect: 'once',
          permission: 'allow',
          parallel: false,
          timeout_ms: 600_000,
          sandbox: 'inherited',
          run: () => {
            entered()
            return new Promise(() => {})
          },
        }),
      ),
  })
  const options = { root, plugins: [plugin], config: { runs: { drain_ms: 10, stop_grace_ms: 50 } } }
  const first = await start(t, options)
  const id = await first.run('s1', call('pay'))
  await isEntered
  await first.stop()
  const daemon = await start(t, options)
  await until(daemon, id, 'completed')
  await (await situation(t, daemon, 'unknown-outcome', { id, codes: ['unknown_outcome'] })).move()
})
