/** What an external connector can be; docs/rules/external.md. */
import test from 'ava'
import { parse } from '../../../../core/base/parse.js'
import { unsafeCast, type JsonObject } from '../../../../core/base/schema.js'
import {
  createExternalKind,
  reservedVariables,
  testVariables,
} from '../../../../plugins/connectors/external/setup/kind.js'
import { ExternalSettings } from '../../../../plugins/connectors/external/setup/settings.js'
import type { SecretSlots, SecretStatus } from '../../../../plugins/operator/secrets/contract.js'
import { specialAddresses } from '../../../support/special-addresses.js'
import { eventOf, startExternal } from './sending.js'

const slot = (more: object = {}, details: object = {}): SecretStatus =>
  unsafeCast({ provider: 'generic', mode: 'opaque_secret', details: { readable: true, ...details }, ...more })
const stored: Readonly<Record<string, SecretStatus>> = {
  good: slot(),
  account: slot({ provider: 'mcp_oauth', mode: 'oauth_account' }),
  vendor: slot({ provider: 'anthropic', mode: 'api_key' }),
  revoked: slot({}, { readable: false, revoked_at_ms: 1 }),
  locked: slot({}, { readable: false }),
  blank: slot(),
}
const slots: Pick<SecretSlots, 'find' | 'value'> = {
  find: (ref) => stored[ref],
  value: (ref) => (ref === 'blank' ? ' ' : 'sesame'),
}
const kind = createExternalKind({ slots, open: [] })

/** Where it is wrong; undefined if nothing is. */
const wrongIn = (given: JsonObject, secrets: readonly string[] = ['shared_token']): string | undefined => {
  const parsed = parse(ExternalSettings, given)
  if (!parsed.ok) return `struct ${parsed.issues[0]?.path ?? ''}`
  const settings = kind.normal?.(parsed.value) ?? parsed.value
  const fault = kind.fault({ name: 'one', settings, has: (secret) => secrets.includes(secret) })
  return (fault ?? kind.faultOfUses?.(settings))?.path
}
const remote = { platform: 'discord', base_url: 'https://sidecar.example' }
const child = { platform: 'discord', mode: 'child_process', base_url: 'http://127.0.0.1:9000' }
const childWith = (child_process: JsonObject) => ({ ...child, child_process: { command: 'python3', ...child_process } })

test('external-1: a connector has its platform, its mode and what is said of nothing', (t) => {
  const parsed = parse(ExternalSettings, {})
  if (!parsed.ok) return t.fail('all of it may be left out')
  t.like(kind.normal?.(parsed.value), {
    mode: 'remote_http',
    allow_private_network: false,
    allow_unauthenticated_ingress: false,
    include_self_output: true,
    ingress_events_per_second: 100,
    additional_reply_targets: [],
    additional_binding_keys: [],
  })
  t.is(wrongIn(remote), undefined)
  t.is(wrongIn({ ...remote, platform: ' ' }), 'platform')
  t.is(wrongIn({ base_url: remote.base_url }), 'platform')
  t.is(wrongIn({ ...remote, mode: 'both' }), 'struct mode')
  t.deepEqual(kind.fixed, ['platform'])
  const rate = kind.normal?.({
    ...parsed.value,
    ingress_events_per_second: 0,
    additional_binding_keys: [' a', 'a', ' '],
  })
  t.like(rate, { ingress_events_per_second: 1, additional_binding_keys: ['a'] })
})

test('external-2: of a child is shown what it is called, and no value of its variables', (t) => {
  const parsed = parse(ExternalSettings, childWith({ env: { B: 'canary', A: '1' }, credential_slots: { KEY: 'good' } }))
  if (!parsed.ok) return t.fail('it can be')
  const view = JSON.stringify(kind.view?.(parsed.value))
  t.deepEqual(JSON.parse(view), {
    child_process: { command: 'python3', env_keys: ['A', 'B'], credential_env_keys: ['KEY'] },
  })
})

test('external-3: a base URL is an HTTP address and nothing more', (t) => {
  for (const base_url of ['https://a.example', 'http://a.example:8080/side/car/', 'https://1.1.1.1/'])
    t.is(wrongIn({ ...remote, base_url }), undefined, base_url)
  for (const base_url of [
    '',
    'a.example',
    'ftp://a.example',
    'file:///etc/passwd',
    'unix:/run/x',
    'https://u@a.example',
    'https://u:p@a.example',
    'https://a.example/?x=1',
    'https://a.example/#x',
    'https://a.example?',
    'https://a.exa mple',
    'https://a.exa\nmple',
    'https:\\\\a.example',
  ])
    t.is(wrongIn({ ...remote, base_url }), 'base_url', base_url)
  const parsed = parse(ExternalSettings, { ...remote, base_url: ' https://a.example/x// ' })
  if (parsed.ok) t.is(kind.normal?.(parsed.value).base_url, 'https://a.example/x')
})

test('external-4: a sidecar that others run has no special address, unless that is meant', (t) => {
  t.true(specialAddresses.length >= 80)
  for (const host of [
    ...specialAddresses,
    'localhost',
    'localhost.',
    'a.localhost',
    'LOCALHOST',
    '0x7f.1',
    '2130706433',
  ]) {
    const base_url = `http://${host}:8080`
    t.is(wrongIn({ ...remote, base_url }), 'base_url', host)
    t.is(wrongIn({ ...remote, base_url, allow_private_network: true }), undefined, host)
  }
})

test('external-46: a range that an operator opened is open, and none beside it', (t) => {
  const { fault } = createExternalKind({ slots, open: ['198.18.0.0/15'] })
  const pathOf = (base_url: string) => {
    const parsed = parse(ExternalSettings, { ...remote, base_url })
    return parsed.ok ? fault({ name: 'one', settings: parsed.value, has: () => true })?.path : 'none'
  }
  t.is(pathOf('http://198.18.0.7'), undefined)
  t.is(pathOf('http://198.17.0.7'), undefined)
  t.is(pathOf('http://10.0.0.1'), 'base_url')
})

test('external-5: a sidecar that the daemon starts is on this machine', (t) => {
  for (const base_url of [
    'http://127.0.0.1:9000',
    'http://127.0.0.1:9000/',
    'http://[::1]:9000',
    'https://localhost:9000',
    'http://side.localhost.:9000',
  ])
    t.is(wrongIn({ ...childWith({}), base_url }), undefined, base_url)
  for (const base_url of [
    'http://10.0.0.1',
    'http://8.8.8.8',
    'http://sidecar.example',
    'http://0.0.0.0:1',
    'http://localhost.example',
    'http://127.0.0.1/x',
    'http://127.0.0.1/?x',
    'http://127.0.0.1/#x',
    'http://u@127.0.0.1/',
  ])
    t.is(wrongIn({ ...childWith({}), base_url }), 'base_url', base_url)
})

test('external-6: the daemon starts a program, and others run none of its', (t) => {
  t.is(wrongIn({ ...remote, child_process: { command: 'x' } }), 'child_process')
  t.is(wrongIn(child), 'child_process')
  t.is(wrongIn({ ...child, child_process: { command: ' ' } }), 'child_process.command')
  t.is(wrongIn({ ...child, child_process: {} }), 'struct child_process.command')
})

test('external-7: without a shared token it says that it is open', (t) => {
  t.is(wrongIn(remote, []), 'shared_token')
  t.is(wrongIn({ ...remote, allow_unauthenticated_ingress: true }, []), undefined)
})

test('external-8: a child gets variables that are not the daemon’s, and secrets that are there', (t) => {
  for (const name of Object.values(reservedVariables)) {
    t.is(wrongIn(childWith({ env: { [name]: 'x' } })), 'child_process.env', name)
    t.is(wrongIn(childWith({ credential_slots: { [name]: 'good' } })), 'child_process.credential_slots', name)
  }
  for (const name of [' ', '', 'A=B', 'A\u0000'])
    t.is(wrongIn(childWith({ env: { [name]: 'x' } })), 'child_process.env')
  for (const ref of ['none', 'account', 'vendor', 'revoked', 'locked', 'blank', ''])
    t.is(wrongIn(childWith({ credential_slots: { KEY: ref } })), 'child_process.credential_slots', ref)
  t.is(wrongIn(childWith({ credential_slots: { ' ': 'good' } })), 'child_process.credential_slots')
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`K${at}`, 'good']))
  t.is(wrongIn(childWith({ credential_slots: many })), 'child_process.credential_slots')
  t.is(wrongIn(childWith({ env: { TOKEN: 'x' }, credential_slots: { KEY: 'good' } })), undefined)
})

test('external-9: the test endpoint of a child is opened with a shared token alone', (t) => {
  t.deepEqual(testVariables, ['SERVICE_EXTERNAL_CONNECTOR_ENABLE_TEST_API', 'SERVICE_EXTERNAL_CONNECTOR_TEST_MODE'])
  const env = Object.fromEntries(testVariables.map((name) => [name, 'true']))
  const open = { ...childWith({ env }), allow_unauthenticated_ingress: true }
  t.is(wrongIn(open, []), 'child_process.env')
  t.is(wrongIn(open), undefined)
  t.is(
    wrongIn({ ...childWith({ env: { [testVariables[0]]: 'true' } }), allow_unauthenticated_ingress: true }, []),
    undefined,
  )
})

test('connectors-12: what sessions are bound to stays while a run of an event has not ended, whatever its platform is', async (t) => {
  const { change, send, request } = await startExternal(t)
  const { body } = await send(eventOf({ content: '/sleep 3600000' }))
  const bind = () =>
    change('main', { session_policy: { create_if_missing: true, capability_scope: { skill_deny: ['x'] } } })
  t.like(await bind(), { status: 409, body: { code: 'session_not_idle' } })
  await request('POST', `/v1/runs/${body.run_id}/cancel`)
  t.is((await bind()).status, 200)
})
