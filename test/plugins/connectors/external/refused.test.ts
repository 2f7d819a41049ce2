/** Events that are refused each time; docs/rules/external.md. */
import test from 'ava'
import { unsafeCast } from '../../../../core/plugin.js'
import { createEventTaker } from '../../../../plugins/connectors/external/events/receive.js'
import { ingressErrors } from '../../../../plugins/connectors/ingress/contract.js'

test('external-28: what a hook refuses is rejected, and never asked for again', async (t) => {
  const taker = (error: unknown) =>
    createEventTaker(
      unsafeCast({
        ingress: { receive: () => Promise.reject(error) },
        runs: { sessionOfBinding: () => undefined },
        counts: { add: () => {} },
        log: { error: () => {} },
      }),
      unsafeCast({
        connector: {
          name: 'chat',
          settings: { mode: 'remote_http', platform: 'p', additional_binding_keys: [], additional_reply_targets: [] },
        },
        isProven: true,
        hashes: new Map(),
      }),
    )
  const event = { instance_id: 'i', event_id: 'e', routing_key: 'r', content: 'hello' }
  t.like(await taker(ingressErrors.forbidden()).takeItem(event), { event_id: 'e', status: 'rejected' })
  t.like(await taker(ingressErrors.forbidden()).take(event), { event_id: 'e', status: 'rejected' })
  t.like(await taker(ingressErrors.service_unavailable()).takeItem(event), { event_id: 'e', status: 'error' })
})
