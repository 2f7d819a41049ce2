/** What children are lent, and whose events are theirs; docs/rules/external.md. */
import test, { type ExecutionContext } from 'ava'
import { unsafeCast, type JsonObject } from '../../../../core/base/schema.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import type { State } from '../../../../core/plugin.js'
import { shippedPlugins } from '../../../../core/shipped.js'
import {
  createChildCredentials,
  type ChildCredentials,
} from '../../../../plugins/connectors/external/children/credentials.js'
import { credentialRoute } from '../../../../plugins/connectors/external/children/credential-route.js'
import { createInstanceCheck } from '../../../../plugins/connectors/external/events/instance.js'
import { createExternalKind } from '../../../../plugins/connectors/external/setup/kind.js'
import type { Asked } from '../../../../plugins/connectors/external/sidecar/client.js'
import type { ExternalConnector } from '../../../../plugins/connectors/external/setup/connector.js'
import { createManifests } from '../../../../plugins/connectors/external/sidecar/manifests.js'
import type { Manifest } from '../../../../plugins/connectors/external/sidecar/protocol.js'
import { Leases } from '../../../../plugins/operator/leases/contract.js'
import { SecretSlots } from '../../../../plugins/operator/secrets/contract.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { testPlugin } from '../../../support/plugins.js'

const connectorOf = (name: string, child_process?: JsonObject): ExternalConnector =>
  unsafeCast({
    name,
    settings: { mode: child_process ? 'child_process' : 'remote_http', base_url: 'http://127.0.0.1:1', child_process },
  })

const start = async (t: ExecutionContext) => {
  const connectors = new Map<string, ExternalConnector>()
  const lent: { credentials?: ChildCredentials; leases?: Leases; slots?: SecretSlots; state?: State } = {}
  const plugin = testPlugin('lender', {
    needs: { leases: Leases, slots: SecretSlots },
    register(ctx, { leases, slots }) {
      const credentials = createChildCredentials(leases)
      Object.assign(lent, { credentials, leases, slots, state: ctx.state })
      const kind = createExternalKind({ slots, open: [] })
      ctx.routes(
        credentialRoute({
          kind,
          connectors: unsafeCast({ find: (_: unknown, name: string) => connectors.get(name) }),
          credentials,
          slots,
        }),
      )
    },
  })
  const shipped = (await shippedPlugins()).filter(({ id }) => id !== 'external')
  const clock = createLeapingClock()
  const daemon = await startTestDaemon(t, { shipped, plugins: [plugin], clock })
  const { credentials, leases, slots, state } = lent
  if (!credentials || !leases || !slots || !state) throw new Error('the lender was not loaded')
  const store = (slot_id: string, value: string) =>
    state.commit((tx) => slots.put(tx, { slot_id, provider: 'generic', mode: 'opaque_secret', state: { value } }))
  const ask = (name: string, key: string, token?: string) =>
    daemon.request('GET', `/v1/connectors/external/${name}/credentials/${key}`, undefined, {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    })
  return { ...daemon, clock, connectors, credentials, leases, slots, state, store, ask }
}

test('external-39, external-40, external-41, external-42: a child asks for its secrets one by one, as long as it runs', async (t) => {
  const { connectors, credentials, leases, slots, state, store, ask, clock, log } = await start(t)
  await store('bot', 'canary-bot')
  await store('mail', 'canary-mail')
  await store('alien', 'canary-alien')
  const slotsOf = (credential_slots?: JsonObject) =>
    connectorOf('main', { command: 'x', ...(credential_slots && { credential_slots }) })
  const main = slotsOf({ BOT: 'bot', MAIL: 'mail' })
  connectors.set('main', main)
  connectors.set('other', connectorOf('other', { command: 'x', credential_slots: { BOT: 'bot' } }))
  connectors.set('remote', connectorOf('remote'))
  const codeOf = async (...asked: Parameters<typeof ask>) => {
    const { status, body } = await ask(...asked)
    t.is(body.domain, 'connector_ingress')
    return [status, body.code]
  }
  const [missing, closed] = [
    [404, 'not_found'],
    [401, 'unauthorized'],
  ]

  t.is(await credentials.begin(slotsOf()), undefined, 'who needs nothing is lent nothing')
  t.deepEqual(await codeOf('main', 'BOT', 'hft_x'), closed, 'nothing is lent yet')
  const first = await credentials.begin(main)
  t.deepEqual(first?.env_keys, ['BOT', 'MAIL'])
  const answer = await ask('main', 'BOT', first?.token)
  t.is(answer.status, 200)
  const { value, lease_id, grant_id, expires_at_ms, ...rest } = answer.body
  t.deepEqual(rest, {})
  t.is(value, 'canary-bot')
  t.regex(lease_id, /^lease_/u)
  t.is(typeof grant_id, 'string')
  t.true(expires_at_ms > clock.now() && expires_at_ms <= clock.now() + 300_000)
  t.is((await ask('main', 'MAIL', first?.token)).body.value, 'canary-mail')
  await store('bot', 'canary-new')
  t.is((await ask('main', 'BOT', first?.token)).body.value, 'canary-new', 'it is the value of now')

  // The order of what is wrong.
  t.deepEqual(await codeOf('nobody', 'BOT', first?.token), missing)
  t.deepEqual(await codeOf('remote', 'BOT', first?.token), missing)
  t.deepEqual(await codeOf('main', 'NONE'), closed)
  t.deepEqual(await codeOf('main', 'BOT', `${first?.token}x`), closed)
  t.deepEqual(await codeOf('other', 'BOT', first?.token), closed, 'a lease is one connector’s')
  t.deepEqual(await codeOf('main', 'NONE', first?.token), missing)
  t.deepEqual(await codeOf('main', '__proto__', first?.token), missing)
  connectors.set('main', slotsOf({ BOT: 'alien', MAIL: 'mail', LATER: 'alien' }))
  t.deepEqual(await codeOf('main', 'BOT', first?.token), closed, 'and of the secret that was lent')
  t.deepEqual(await codeOf('main', 'LATER', first?.token), closed)
  connectors.set('main', main)
  const alien = await leases.issue({
    subject: { id: 'connector:external:main', kind: 'connector' },
    audience: { type: 'connector', connector: 'external:main', env_keys: ['BOT'], secret_refs: ['bot'] },
  })
  t.deepEqual(await codeOf('main', 'BOT', alien.token), closed, 'the token is the one that the child was given')

  // It ends with the child.
  const second = await credentials.begin(main)
  t.deepEqual(await codeOf('main', 'BOT', first?.token), closed)
  t.is(leases.check(first?.token ?? ''), undefined)
  t.is((await ask('main', 'BOT', second?.token)).status, 200)
  await credentials.end('main')
  await credentials.end('main')
  t.deepEqual(await codeOf('main', 'BOT', second?.token), closed)
  const third = await credentials.begin(main)
  await state.commit((tx) => slots.revoke(tx, 'mail'))
  t.not((await ask('main', 'MAIL', third?.token)).status, 200)
  await t.throwsAsync(credentials.begin(main), { message: /mail/u })
  connectors.set('main', slotsOf({ BOT: 'bot', GONE: 'gone' }))
  const fourth = await credentials.begin(slotsOf({ BOT: 'bot', GONE: 'gone' }))
  t.deepEqual(await codeOf('main', 'GONE', fourth?.token), missing)
  clock.leap(300_001)
  t.deepEqual(await codeOf('main', 'BOT', fourth?.token), closed, 'it is lent for a short time')
  const fifth = await credentials.begin(slotsOf({ BOT: 'bot' }))
  await leases.revokeSubject('connector:external:main')
  t.deepEqual(await codeOf('main', 'BOT', fifth?.token), closed)
  await t.throwsAsync(credentials.begin(slotsOf({ BOT: 'bot' })), { message: /revoked/u })
  for (const canary of ['canary', first?.token ?? 'none']) t.false(JSON.stringify(log).includes(canary))
})

test('external-17, external-30: events of a child are those of the one that runs; it is asked once', async (t) => {
  const child = connectorOf('main', { command: 'x' })
  const clock = createLeapingClock({ still: true })
  let [now, asked]: [string | undefined, number] = ['one', 0]
  const failures: string[] = []
  const manifests = createManifests({
    clock,
    signal: new AbortController().signal,
    failed: ({ name }) => failures.push(name),
    client: {
      async manifest(): Promise<Asked<Manifest>> {
        asked += 1
        if (now === undefined) return { type: 'failure', code: 'outbound_timed_out' }
        return { type: 'answer', value: unsafeCast({ protocol_version: 1, instance_id: now }) }
      },
    },
  })
  const check = () => createInstanceCheck(manifests, child)
  t.true(await check()('one'))
  t.is(asked, 1)
  t.true(await check()('one'), 'it is known')
  t.is(asked, 1)
  const batch = check()
  t.false(await batch('forged'))
  t.false(await batch('forged'))
  t.true(await batch('one'))
  t.is(asked, 2, 'a request asks once')
  now = 'two'
  t.true(await check()('two'), 'it was started again')
  t.false(await check()('one'))
  now = undefined
  await t.throwsAsync(check()('three'), { message: /cannot take events now/u })
  t.deepEqual(failures, ['main'])
  t.true(await createInstanceCheck(manifests, connectorOf('remote'))('any'), 'a remote sidecar may be many')

  now = 'three'
  clock.leap(300_000)
  t.is(manifests.known(child), undefined, 'five minutes are over')
  await manifests.find(child)
  t.is(manifests.known(child)?.instance_id, 'three')
  const moved = { ...child, settings: { ...child.settings, base_url: 'http://127.0.0.1:2' } }
  t.is(manifests.known(moved), undefined, 'at another place another one answers')
  manifests.forget('main')
  t.is(manifests.known(child), undefined)
  const late = manifests.fetch(child)
  manifests.forget('main')
  await late
  t.is(manifests.known(child), undefined, 'what began before it ended is not kept')
})
