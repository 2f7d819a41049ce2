/** A run that executes while its kind falls: docs/rules/retention.md. */
import test from 'ava'
import { object } from '../../../core/plugin.js'
import { defineTool, Tools } from '../../../plugins/execution/tools/contract.js'
import { verifyShipped } from '../../support/copied-root.js'
import { freshRoot, startTestDaemon } from '../../support/daemon.js'
import { createLeapingClock } from '../../../core/testing/leaping-clock.js'
import { testPlugin } from '../../support/plugins.js'
import { complete, day, retain, weekOfRuns } from '../../support/retention.js'
import { codeOf, openSession, submit, until } from '../../support/runs.js'

/** A tool whose calls go on until they are let go, one after the other. */
const createGate = () => {
  const waiting: (() => void)[] = []
  const tool = defineTool({
    name: 'gate',
    description: 'Waits until it is let go.',
    input: object({}),
    effect: 'read',
    parallel: false,
    timeout_ms: 60_000,
    sandbox: 'inherited',
    run: async () => {
      await new Promise<void>((open) => void waiting.push(open))
      return { type: 'result', output: {} }
    },
  })
  const plugin = testPlugin('gate', { register: (ctx) => ctx.contribute(Tools, tool) })
  const reached = async (): Promise<void> => {
    while (waiting.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return { plugin, reached, open: () => waiting.shift()?.() }
}

test('retention-4: a run that executes while its kind falls keeps everything of its own, and goes on', async (t) => {
  const [root, clock, gate] = [await freshRoot(), createLeapingClock(), createGate()]
  const daemon = await startTestDaemon(t, {
    root,
    clock,
    config: { retention: weekOfRuns },
    plugins: [gate.plugin],
  })
  for (const session_id of ['s1', 's2']) await openSession(daemon, session_id)
  const before = await complete(daemon, 'before')
  const call = '/tool gate {}'
  const { run_id } = await submit(daemon, 's2', [call, call, '/say Through both.'].join('\n---\n'))
  await gate.reached()
  const old = await complete(daemon, 'old')
  await retain(daemon, true)
  // The wall clock alone: the call has its own time.
  clock.jump(20 * day)
  t.is((await retain(daemon, false)).parts.length, 1)
  for (const fallen of [before, old])
    t.deepEqual(codeOf(await daemon.request('GET', `/v1/runs/${fallen}`)), [404, 'run_expired'])
  gate.open()
  await gate.reached()
  const falling = retain(daemon, false)
  gate.open()
  await falling
  const { outputs } = await until(daemon, run_id, 'completed')
  t.is(outputs[0].content, 'Through both.')
  const stepsOf = async (from: typeof daemon): Promise<any> =>
    (await from.request('GET', `/v1/runs/${run_id}/events?steps=true`)).body
  const steps = await stepsOf(daemon)
  t.is(steps[0].event.type, 'accepted')
  t.true(steps.filter(({ event }: any) => event.tool_name === 'gate').length >= 2)
  await daemon.stop()
  t.deepEqual((await verifyShipped(root)).findings, [])
  t.deepEqual(await stepsOf(await startTestDaemon(t, { root, clock })), steps)
})
