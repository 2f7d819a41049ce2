/** What runs of connectors tell of their events, and what is kept for deliveries; docs/rules/ingress.md. */
import test from 'ava'
import { startTestDaemon } from '../../../support/daemon.js'
import { connectorOf, createCaught, eventOf, toldBy } from './sending.js'
import { ingressKeys } from '../../../../plugins/connectors/ingress/reserved.js'
import { outsiderView } from '../../../../plugins/connectors/ingress/contract.js'

test('ingress-4, ingress-7: an event says where it is from, and nobody forges that', async (t) => {
  const caught = createCaught()
  const daemon = await startTestDaemon(t, { plugins: [caught.plugin] })
  const event = eventOf('hello', {
    key: 'telegram:bot:4711',
    metadata: { note: 'kept' },
    facts: { telegram_ingress_fingerprint: 'f' },
  })
  const bot = connectorOf({}, { kind: 'telegram', name: 'bot' })
  const received = await caught.ingress.receive(bot, event)
  if (received.type !== 'accepted') return t.fail('it has its run')
  const { run_id } = received.run
  const shown = await daemon.request('GET', `/v1/runs/${run_id}`)
  const { connector_ingress_key } = shown.body.input_metadata
  t.regex(connector_ingress_key, /^telegram:bot:[0-9a-f]{32}$/u)
  t.deepEqual(shown.body.input_metadata, { note: 'kept', telegram_ingress_fingerprint: 'f', connector_ingress_key })
  t.like(shown.body.request, { source_plugin: 'telegram', source_kind: 'shop', actor_id: 'somebody' })
  const events = await daemon.request('GET', `/v1/runs/${run_id}/events`)
  t.like(events.body[0].event, { type: 'accepted', run: { input_metadata: shown.body.input_metadata } })

  t.deepEqual(Object.keys(outsiderView(received.run)).toSorted(), [
    'agent_id',
    'kind',
    'request',
    'run_id',
    'session_id',
    'status',
    'submitted_at_ms',
    'updated_at_ms',
  ])
  t.deepEqual(Object.keys(outsiderView(received.run).request), ['source_plugin', 'source_kind', 'actor_id'])

  for (const key of ['connector_ingress_key', ...ingressKeys.map((reserved) => reserved.key)]) {
    const forged = await daemon.request('POST', '/v1/sessions/shop-1/runs', { content: 'x', metadata: { [key]: 'y' } })
    t.is(forged.body.code, 'reserved_metadata_key', key)
    const sent = await toldBy(caught.ingress.receive(bot, eventOf('x', { metadata: { [key]: 'y' } })))
    t.deepEqual(sent, [400, 'bad_request', { reason: 'reserved_metadata_key' }], key)
  }
  const own = await daemon.request('POST', '/v1/sessions/shop-1/runs', { content: 'x', metadata: { ingress: 'y' } })
  t.is(own.body.input_metadata.ingress, 'y')

  t.is(caught.progress.read('delivery_of_nobody'), undefined)
  await caught.progress.write('delivery_of_nobody', { steps: {} })
  t.is(caught.progress.read('delivery_of_nobody'), undefined, 'nothing is kept of what is not under way')
})
