/** The way in of all connectors; docs/rules/ingress.md. */
import test from 'ava'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { connectorOf, createCaught, eventOf, toldBy } from './sending.js'

test('ingress-1, ingress-2, ingress-3, ingress-5, ingress-6: one run for each event, in the session that it belongs to', async (t) => {
  const caught = createCaught()
  const clock = createLeapingClock({ still: true })
  const daemon = await startTestDaemon(t, { plugins: [caught.plugin], clock })
  const { ingress } = caught
  const shop = connectorOf()

  const event = eventOf('hello', { key: 'external:shop:1', binding_keys: ['shop:a'] })
  const five = await Promise.all(Array.from({ length: 5 }, () => ingress.receive(shop, event)))
  t.deepEqual(
    five.map(({ type }) => type),
    ['accepted', 'duplicate', 'duplicate', 'duplicate', 'duplicate'],
  )
  const [first] = five
  if (first === undefined || first.type === 'pending') return t.fail('it has its run')
  t.is(new Set(five.map((one) => 'run' in one && one.run.run_id)).size, 1)
  t.is(first.session_id, 'shop-1')
  const runs = await daemon.request('GET', '/v1/runs')
  t.is(runs.body.length, 1)
  t.like(runs.body[0], { run_id: first.run.run_id, session_id: 'shop-1' })

  const moved = connectorOf({
    fixed_session_id: 'elsewhere',
    session_policy: { create_if_missing: false, persona_id: 'none' },
    ingress_events_per_second: 1,
  })
  const again = await ingress.receive(moved, { ...event, natural_session_id: 'other', binding_keys: [] })
  t.like(again, { type: 'duplicate', session_id: 'shop-1' })
  t.deepEqual(await toldBy(ingress.receive(moved, { ...event, fingerprint: 'other' })), [
    409,
    'conflict',
    { reason: 'other_payload', run_id: first.run.run_id, session_id: 'shop-1' },
  ])

  const sessionsOf = async (settings: Parameters<typeof connectorOf>[0], more: Parameters<typeof eventOf>[1]) =>
    (await ingress.receive(connectorOf(settings), eventOf('x', more))).session_id
  t.is(await sessionsOf({ fixed_session_id: 'fixed' }, { session_id: 'asked' }), 'fixed')
  t.is(await sessionsOf({}, { session_id: 'asked', binding_keys: ['shop:b'] }), 'asked')
  t.is(await sessionsOf({}, { binding_keys: ['shop:new', 'shop:b'], natural_session_id: 'never' }), 'asked')
  t.is(await sessionsOf({}, { binding_keys: ['shop:new'], natural_session_id: 'never' }), 'asked')
  t.deepEqual(await toldBy(ingress.receive(shop, eventOf('x', { binding_keys: ['shop:a', 'shop:b'] }))), [
    409,
    'conflict',
    { reason: 'session_bound' },
  ])
  t.is(await sessionsOf({ fixed_session_id: 'fixed' }, { binding_keys: ['shop:a', 'shop:c'] }), 'fixed')
  t.is(await sessionsOf({}, { binding_keys: ['shop:c'] }), 'fixed', 'what was free is bound to it')
  t.is(await sessionsOf({}, { binding_keys: ['shop:a'] }), 'shop-1', 'what was not stays where it is')
  const { natural_session_id: _, ...homeless } = eventOf('x')
  t.deepEqual(await toldBy(ingress.receive(shop, homeless)), [400, 'bad_request', { reason: 'session_unresolved' }])

  const policyOf = async (session_policy: object | undefined, session_id: string) =>
    toldBy(ingress.receive(connectorOf({ session_policy: session_policy as never }), eventOf('x', { session_id })))
  const missing = [409, 'conflict', { reason: 'session_missing' }]
  t.deepEqual(await policyOf(undefined, 'absent'), missing, 'without a policy no session is opened')
  t.deepEqual(await policyOf({ create_if_missing: false }, 'absent'), missing)
  t.is((await daemon.request('GET', '/v1/sessions/absent')).status, 404)
  t.deepEqual(await policyOf({ create_if_missing: true, persona_id: 'nobody' }, 'absent'), [
    400,
    'bad_request',
    { reason: 'persona_missing' },
  ])
  t.is((await daemon.request('GET', '/v1/sessions/absent')).status, 404)
  const capability_scope = { skill_allow: ['one'] }
  t.deepEqual(await policyOf({ create_if_missing: true, capability_scope }, 'scoped'), ['taken'])
  t.deepEqual(await policyOf({ create_if_missing: true, capability_scope }, 'scoped'), ['taken'])
  t.deepEqual(await policyOf({ create_if_missing: true }, 'scoped'), ['taken'], 'a policy that says nothing')
  t.deepEqual(await policyOf({ create_if_missing: true, capability_scope }, 'shop-1'), [
    409,
    'conflict',
    { reason: 'session_policy' },
  ])
  t.deepEqual(await policyOf({ create_if_missing: true, persona_id: 'nobody' }, 'scoped'), [
    409,
    'conflict',
    { reason: 'session_policy' },
  ])
})
