import test, { type ExecutionContext } from 'ava'
import { redactSecrets } from '../../../../core/plugin.js'
import { Leases, type Audience } from '../../../../plugins/operator/leases/contract.js'
import { SecretSlots } from '../../../../plugins/operator/secrets/contract.js'
import { createCommandLine } from '../../../support/command-line.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { lender } from '../../../support/plugins.js'
import { rewriteRecord } from '../../../support/rewrite.js'
import { codeOf } from '../../../support/runs.js'

const connector: Audience = { type: 'connector', connector: 'slack/main', env_keys: ['TOKEN'], secret_refs: ['a'] }
const route: Audience = { type: 'route', route_id: 'openai', slot_id: 'a' }
const server: Audience = { type: 'mcp_server', server: 'files', slot_id: 'mcp.files', scopes_hash: 'x' }
const subject = { id: 'connector:slack:main', kind: 'connector' } as const

const start = async (t: ExecutionContext, root?: string) => {
  const lent = lender({ leases: Leases, slots: SecretSlots })
  const clock = createLeapingClock({ still: true })
  const daemon = await startTestDaemon(t, { ...(root !== undefined && { root }), plugins: [lent.plugin], clock })
  return { ...daemon, clock, ...lent.services() }
}

test('secrets-15: a lease lives as long as its audience allows, and a second at least', async (t) => {
  const { leases } = await start(t)
  const lifeOf = async (audience: Audience, ttl_ms?: number): Promise<number> => {
    const { lease } = await leases.issue({ subject, audience, ...(ttl_ms !== undefined && { ttl_ms }) })
    return lease.expires_at_ms - lease.issued_at_ms
  }
  t.deepEqual([await lifeOf(connector), await lifeOf(route), await lifeOf(server)], [300_000, 60_000, 60_000])
  t.deepEqual(
    [await lifeOf(connector, 5000), await lifeOf(route, 90_000), await lifeOf(server, 1)],
    [5000, 60_000, 1000],
  )
})

test('secrets-16: a token is good for its lease alone, until it expires, and stands nowhere', async (t) => {
  const root = await freshRoot()
  const first = await start(t, root)
  const { lease, token } = await first.leases.issue({ subject, audience: connector })
  const other = await first.leases.issue({ subject, audience: connector })
  t.is(other.lease.grant_id, lease.grant_id)
  t.deepEqual(first.leases.check(token), lease)
  t.is(redactSecrets(`x ${token}`), 'x <redacted>')
  const cut = (at: number): string => `${token.slice(0, at)}${token[at] === 'a' ? 'b' : 'a'}${token.slice(at + 1)}`
  for (let at = 0; at < token.length; at += 1) t.is(first.leases.check(cut(at)), undefined)
  for (const wrong of ['', 'hft_', token.slice(0, -1), `${token}a`, token.slice(0, 30) + other.token.slice(30)])
    t.is(first.leases.check(wrong), undefined)
  const shown = await first.request('GET', `/v1/runtime/auth/leases/${lease.id}`)
  t.deepEqual(shown.body, { lease, revoked: false, active: true })
  t.false(shown.text.includes(token.slice(31)))
  await first.stop()
  const second = await start(t, root)
  t.deepEqual(second.leases.check(token), lease)
  second.clock.leap(300_001)
  t.is(second.leases.check(token), undefined)
  t.like((await second.request('GET', `/v1/runtime/auth/leases/${lease.id}`)).body, { revoked: false, active: false })
})

test('secrets-16: a token is no good for a lease whose facts are others', async (t) => {
  const root = await freshRoot()
  const first = await start(t, root)
  const { lease, token } = await first.leases.issue({ subject, audience: connector })
  await first.stop()
  rewriteRecord(root, { collection: 'auth_leases', id: lease.id }, (stored) => ({
    ...stored,
    lease: { ...stored.lease, audience: { ...stored.lease.audience, secret_refs: ['b'] } },
  }))
  const second = await start(t, root)
  t.like((await second.request('GET', `/v1/runtime/auth/leases/${lease.id}`)).body, { active: true })
  t.is(second.leases.check(token), undefined)
})

test('secrets-16: another key of leases ends them all, and the key is not deleted', async (t) => {
  const { leases, request } = await start(t)
  const { token } = await leases.issue({ subject, audience: route })
  t.deepEqual(codeOf(await request('DELETE', '/v1/runtime/secrets/daemon.leases')), [409, 'secret_in_use'])
  await request('POST', '/v1/runtime/secrets', { slot_id: 'daemon.leases', state: { value: 'another' } })
  t.is(leases.check(token), undefined)
  t.truthy(leases.check((await leases.issue({ subject, audience: route })).token))
})

test('secrets-17: a lease that was revoked is never good again', async (t) => {
  const root = await freshRoot()
  const first = await start(t, root)
  const [one, two] = [
    await first.leases.issue({ subject, audience: connector }),
    await first.leases.issue({ subject, audience: route }),
  ]
  const { status, body } = await first.request('POST', `/v1/runtime/auth/leases/${one.lease.id}/revoke`)
  t.is(status, 200)
  t.like(body, { revoked: true, active: false })
  t.is(first.leases.check(one.token), undefined)
  t.deepEqual(codeOf(await first.request('POST', '/v1/runtime/auth/leases/lease_none/revoke')), [
    404,
    'lease_not_found',
  ])
  t.deepEqual(codeOf(await first.request('GET', '/v1/runtime/auth/leases/lease_none')), [404, 'lease_not_found'])
  await first.stop()
  const second = await start(t, root)
  t.is(second.leases.check(one.token), undefined)
  t.truthy(second.leases.check(two.token))
  const line = createCommandLine(second)
  t.like(JSON.parse((await line('runtime', 'auth', 'revoke-lease', two.lease.id, '--output', 'json')).out), {
    revoked: true,
  })
  t.like(JSON.parse((await line('runtime', 'auth', 'lease', two.lease.id, '--output', 'json')).out), {
    revoked: true,
    active: false,
  })
})

test('secrets-18: a revoked subject loses its leases and gets none until it is admitted, through restarts', async (t) => {
  const root = await freshRoot()
  const first = await start(t, root)
  const id = encodeURIComponent(subject.id)
  t.deepEqual(codeOf(await first.request('GET', `/v1/runtime/auth/subjects/${id}`)), [404, 'subject_not_found'])
  t.deepEqual(codeOf(await first.request('POST', `/v1/runtime/auth/subjects/${id}/revoke`)), [404, 'subject_not_found'])
  const issued = []
  for (const audience of [connector, route, server]) issued.push(await first.leases.issue({ subject, audience }))
  const bystander = await first.leases.issue({ subject: { id: 'session:s1', kind: 'session' }, audience: route })
  const [a, b, c] = issued.map(({ lease }) => lease.id)
  t.deepEqual((await first.request('GET', `/v1/runtime/auth/subjects/${id}`)).body, {
    subject_id: subject.id,
    kind: 'connector',
    current_epoch: 1,
    revoked: false,
    active_connector_lease_ids: [a],
    active_route_lease_ids: [b],
    active_mcp_lease_ids: [c],
  })
  const gone = { subject_id: subject.id, kind: 'connector', current_epoch: 2, revoked: true }
  t.deepEqual((await first.request('POST', `/v1/runtime/auth/subjects/${id}/revoke`)).body, gone)
  await t.throwsAsync(first.leases.issue({ subject, audience: route }), { message: /was revoked and gets no lease/u })
  await first.stop()
  const second = await start(t, root)
  const line = createCommandLine(second)
  t.deepEqual(JSON.parse((await line('runtime', 'auth', 'subject', subject.id, '--output', 'json')).out), gone)
  for (const { token } of issued) t.is(second.leases.check(token), undefined)
  t.like((await second.request('GET', `/v1/runtime/auth/leases/${a}`)).body, { revoked: true, active: false })
  t.truthy(second.leases.check(bystander.token))
  await second.leases.admit(subject.id)
  const again = await second.leases.issue({ subject, audience: route })
  t.is(again.lease.subject_epoch, 2)
  t.truthy(second.leases.check(again.token))
  for (const { token } of issued) t.is(second.leases.check(token), undefined, 'what was revoked stays so')
})

test('secrets-19: a lease that expired is shown for five minutes, and then leaves with the next one', async (t) => {
  const { leases, clock, request } = await start(t)
  const { lease } = await leases.issue({ subject, audience: route })
  const look = async (): Promise<number> => (await request('GET', `/v1/runtime/auth/leases/${lease.id}`)).status
  clock.leap(60_000 + 299_000)
  await leases.issue({ subject, audience: route })
  t.is(await look(), 200)
  clock.leap(2000)
  await leases.issue({ subject, audience: route })
  t.is(await look(), 404)
})

test('secrets-20: with a secret all its leases are revoked, and none is issued until it has another value', async (t) => {
  const { leases, request } = await start(t)
  const store = (slot_id: string) => request('POST', '/v1/runtime/secrets', { slot_id, state: { value: 'x' } })
  for (const slot_id of ['a', 'b', 'mcp.files']) await store(slot_id)
  const of = async (audience: Audience) => (await leases.issue({ subject, audience })).token
  const other = { ...route, slot_id: 'b' }
  const [viaConnector, viaRoute, bystander, viaServer] = [
    await of(connector),
    await of(route),
    await of(other),
    await of(server),
  ]
  await request('POST', '/v1/runtime/auth/slots/a/revoke')
  for (const token of [viaConnector, viaRoute]) t.is(leases.check(token), undefined)
  for (const token of [bystander, viaServer]) t.truthy(leases.check(token))
  await t.throwsAsync(of(connector), { message: /secret a was revoked/u })
  await request('POST', '/v1/runtime/auth/slots/mcp.files/revoke')
  t.is(leases.check(viaServer), undefined)
  await store('a')
  t.truthy(leases.check(await of(connector)))
  for (const token of [viaConnector, viaRoute]) t.is(leases.check(token), undefined, 'what was revoked stays so')
  await request('POST', '/v1/runtime/auth/slots/daemon.leases/revoke')
  t.is(leases.check(bystander), undefined)
  t.truthy(leases.check(await of(other)), 'a new key is made')
})
