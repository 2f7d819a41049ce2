/** What deliveries of several steps have done; docs/rules/ingress.md. */
import test from 'ava'
import { definePlugin } from '../../../../core/plugin.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { DeliveryProgress } from '../../../../plugins/connectors/registry/contract.js'
import { ReplyPlugins, type DeliveryOutcome } from '../../../../plugins/execution/deliveries/contract.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { createPause } from '../../../support/pause.js'
import { connectorOf, createCaught, eventOf } from './sending.js'

test('ingress-17: a repetition knows what was done, and nothing is kept of what is settled', async (t) => {
  const seen: unknown[] = []
  let delivered = ''
  const steps = definePlugin({
    id: 'steps',
    version: '1.0.0',
    api: 1,
    summary: 'Delivers in two steps.',
    needs: { progress: DeliveryProgress },
    register(ctx, { progress }) {
      ctx.contribute(ReplyPlugins, {
        plugin: 'steps',
        address: () => undefined,
        refuse: () => undefined,
        target: () => 'steps',
        async deliver({ delivery_id }): Promise<DeliveryOutcome> {
          delivered = delivery_id
          const done = progress.read(delivery_id)
          seen.push(done)
          if (done?.['text'] !== true) await progress.write(delivery_id, { text: true })
          return done === undefined ? { type: 'retry', code: 'cut_off' } : { type: 'delivered' }
        },
      })
    },
  })
  const caught = createCaught()
  const clock = createLeapingClock()
  await startTestDaemon(t, { plugins: [steps, caught.plugin], clock })
  await caught.ingress.receive(connectorOf(), eventOf('x', { reply_targets: [{ plugin: 'steps', address: 'a' }] }))
  for (const pause = createPause(); seen.length < 1;) await pause()
  t.deepEqual(caught.progress.read(delivered), { text: true })
  for (const pause = createPause(); seen.length < 2;) {
    clock.leap(60_000)
    await pause()
  }
  t.deepEqual(seen, [undefined, { text: true }])
  for (const pause = createPause(); caught.progress.read(delivered) !== undefined;) await pause()
  await caught.progress.write(delivered, { late: true })
  t.is(caught.progress.read(delivered), undefined, 'an attempt that was given up leaves nothing')
})
