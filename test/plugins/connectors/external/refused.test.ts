/** Events that are refused each time; docs/rules/external.md. */
import test from 'ava'
import { unsafeCast } from '../../../../core/plugin.js'
import { createEventTaker } from '../../../../plugins/connectors/external/events/receive.js'
import { eventOf, startExternal } from './sending.js'
import { ingressErrors } from '../../../../plugins/connectors/ingress/contract.js'

const takerOf = (error: unknown) =>
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

test('external-28: what a hook refuses is rejected, and never asked for again', async (t) => {
  t.like(await takerOf(ingressErrors.forbidden()).takeItem(event), { event_id: 'e', status: 'rejected' })
  t.like(await takerOf(ingressErrors.forbidden()).take(event), { event_id: 'e', status: 'rejected' })
  t.like(await takerOf(ingressErrors.service_unavailable()).takeItem(event), { event_id: 'e', status: 'error' })
})

test('external-26: what the operator has to see to is sent again, alone and in a batch', async (t) => {
  for (const reason of ['persona_missing', 'not_set_up']) {
    const taker = takerOf(ingressErrors.bad_request({ details: { what: 'none' }, members: { reason } }))
    const refused = await t.throwsAsync(taker.take(event), { message: 'The event is not taken: none.' })
    t.like(refused, { code: 'conflict', spec: { status: 409 }, occurrence: { members: { reason } } })
    t.like(await taker.takeItem(event), { event_id: 'e', status: 'error', reason: 'The event is not taken: none.' })
  }
})

test('external-28: an event with a board that is not there is rejected for good', async (t) => {
  const { send } = await startExternal(t)
  const { content: _, ...said } = eventOf({ input_items: [{ type: 'board_reference', board_id: 'board_none' }] })
  const { body } = await send(said)
  t.like(body, { event_id: said.event_id, status: 'rejected' })
  t.regex(body.reason, /There is no board board_none/u)
})
