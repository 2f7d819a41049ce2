/** What is redacted although nobody has used it since the start. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { array, defaulted, definePlugin, object, Problem, string } from '../../../../core/plugin.js'
import { freshRoot, spawnTestDaemon, startTestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'
import { eventually, writeServers } from '../../../support/mcp.js'
import { lender } from '../../../support/plugins.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'
import { SecretSlots } from '../../../../plugins/operator/secrets/contract.js'
import { secretErrors } from '../../../../plugins/operator/secrets/slots/errors.js'

/** A daemon, and what it would say instead of a text. */
const opened = async (t: ExecutionContext, options: TestDaemonOptions) => {
  const lent = lender({})
  const daemon = await startTestDaemon(t, { ...options, plugins: [lent.plugin, ...(options.plugins ?? [])] })
  return { ...daemon, said: (text: string) => lent.context().secrets.redact(text) }
}
const said = 'it says plainwords-canary-zz and more'
const redacted = 'it says [redacted] and more'

test('secrets-22: after a restart a run that names a stored secret leaves it nowhere, before anything has used it', async (t) => {
  const root = await freshRoot()
  const flags = { 'debug-level': 'redacted' }
  const first = await startTestDaemon(t, { root, flags })
  const state = { value: 'plainwords-canary-zz' }
  t.is((await first.request('POST', '/v1/runtime/secrets', { slot_id: 'mail', state })).status, 200)
  await first.stop()
  const second = await startTestDaemon(t, { root, flags })
  await openSession(second)
  const { run_id } = await submit(second, 's1', said)
  await until(second, run_id, 'completed')
  const { text } = await second.request('GET', '/v1/sessions/s1/memory-context')
  t.true(text.includes('[redacted] and more'), text)
  t.false(text.includes('canary'))
})

test('secrets-22: so are secrets under a new key, tokens of accounts, and those of a root that is another one', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  await first.request('POST', '/v1/runtime/secrets', { slot_id: 'mail', state: { value: 'plainwords-canary-zz' } })
  const tokens = { access_token: 'canary-access', refresh_token: 'canary-refresh', client_secret: 'canary-client' }
  await first.request('POST', '/v1/runtime/auth/accounts', { slot_id: 'mcp.files', state: tokens })
  t.is((await first.request('POST', '/v1/runtime/secrets-key')).body.encrypted_anew, 2)
  await first.stop()
  const copy = await freshRoot()
  cpSync(root, copy, { recursive: true })
  const second = await opened(t, { root: copy })
  t.is(second.said(said), redacted)
  for (const token of Object.values(tokens)) t.is(second.said(`<${token}>`), '<[redacted]>')
})

test('secrets-22: hundreds of secrets are known before another plugin starts', async (t) => {
  const root = await freshRoot()
  const slots = lender({ slots: SecretSlots })
  const first = await startTestDaemon(t, { root, plugins: [slots.plugin] })
  const { state } = slots.context()
  const valueOf = (at: number): string => `canary ${at} of many`
  for (let from = 0; from < 500; from += 100)
    await state.commit((tx) => {
      for (let at = from; at < from + 100; at += 1)
        slots.services().slots.put(tx, {
          slot_id: `s${at}`,
          provider: 'generic',
          mode: 'opaque_secret',
          state: { value: valueOf(at) },
        })
    })
  await first.stop()
  const second = await opened(t, { root })
  const ids = Array.from({ length: 500 }, (_, at) => at)
  t.deepEqual(
    ids.filter((at) => second.said(valueOf(at)) !== '[redacted]'),
    [],
  )
})

test('secrets-26: what has no room is refused, also as a new value, and a daemon with all of them starts', async (t) => {
  const root = await freshRoot()
  const slots = lender({ slots: SecretSlots })
  const first = await startTestDaemon(t, { root, plugins: [slots.plugin] })
  const valueOf = (at: number): string => `${at} of many `.padEnd(60_000, 'x')
  const ids = Array.from({ length: 139 }, (_, at) => at)
  const { state } = slots.context()
  await state.commit((tx) => {
    for (const at of ids)
      slots.services().slots.put(tx, {
        slot_id: `s${at}`,
        provider: 'generic',
        mode: 'opaque_secret',
        state: { value: valueOf(at) },
      })
  })
  const store = (slot_id: string, value: string) =>
    first.request('POST', '/v1/runtime/secrets', { slot_id, state: { value } })
  const refused = await store('one-more', 'x'.repeat(60_000))
  t.deepEqual(codeOf(refused), [409, secretErrors.secrets_full.code])
  t.regex(refused.body.detail, /together they have 8 MiB/u)
  t.is((await first.request('GET', '/v1/runtime/secrets/one-more')).status, 404)
  t.is((await store('s0', 'y'.repeat(60_000))).status, 200, 'no longer than the old one')
  t.is((await store('s1', 'y'.repeat(64_000))).status, 200, 'a little longer')
  t.is((await first.request('DELETE', '/v1/runtime/secrets/s2')).status, 200)
  t.is((await store('one-more', 'x'.repeat(50_000))).status, 200, 'there is room again')
  await first.stop()
  const second = await opened(t, { root })
  t.is(second.said(valueOf(138)), '[redacted]')
})

test('secrets-26: new values of what is there have 1 MiB beyond', async (t) => {
  const slots = lender({ slots: SecretSlots })
  const daemon = await startTestDaemon(t, { plugins: [slots.plugin] })
  const { state } = slots.context()
  const put = (from: number, to: number, length: number) =>
    state.commit((tx) => {
      for (let at = from; at < to; at += 1)
        slots.services().slots.put(tx, {
          slot_id: `s${at}`,
          provider: 'generic',
          mode: 'opaque_secret',
          state: { value: `${at}`.padEnd(length, 'x') },
        })
    })
  await put(0, 150, 55_000)
  await put(0, 100, 64_000)
  const error = await t.throwsAsync(put(100, 150, 64_000))
  t.is(error instanceof Problem ? error.code : '', secretErrors.secrets_full.code)
  t.like((await daemon.request('GET', '/v1/runtime/secrets/s149')).body.details, { version: 1 })
})

test('secrets-22, runtime-25: tokens in files and members of config/ that are named like a secret are redacted', async (t) => {
  const root = await freshRoot()
  const file = join(await freshRoot(), 'token')
  writeFileSync(file, 'canary-admin-token\n', { mode: 0o600 })
  mkdirSync(join(root, 'config'), { recursive: true })
  writeFileSync(join(root, 'config', 'models.toml'), 'api_key = "canary-models-key"\n')
  writeFileSync(
    join(root, 'config', 'doors.toml'),
    'front_password = "canary-front"\nlocks = [{ lock_token = "canary-lock", colour = "vermilion" }]\n',
  )
  const doors = definePlugin({
    id: 'doors',
    version: '1.0.0',
    api: 1,
    summary: 'Uses nothing of what it is given.',
    config: object({
      front_password: defaulted(string(), ''),
      locks: defaulted(array(object({ lock_token: string(), colour: string() })), []),
    }),
    register: () => {},
  })
  const headers = { authorization: 'Bearer canary-admin-token' }
  const daemon = await opened(t, { root, flags: { 'http-admin-token-file': file }, headers, plugins: [doors] })
  t.is(daemon.said('a canary-admin-token b canary-models-key c'), 'a [redacted] b [redacted] c')
  t.is(daemon.said('canary-front canary-lock vermilion'), '[redacted] [redacted] vermilion')
  writeFileSync(file, 'canary-other-token\n')
  const other = { authorization: 'Bearer canary-other-token' }
  t.is((await daemon.request('GET', '/v1/runtime', undefined, other)).status, 200)
  t.is(daemon.said('a canary-admin-token b canary-other-token c'), 'a [redacted] b [redacted] c')
})

test('secrets-22: what an MCP server is given in the clear is redacted from the start on, and when its entry changes', async (t) => {
  const root = await freshRoot()
  const env = (value: string) => ({ one: { command: '/nowhere', env: { MAIL_TOKEN: value, COLOUR: 'vermilion' } } })
  const url = { url: 'https://mcp.example/', headers: { Authorization: 'Bearer canary-bearer', accept: 'vermilion' } }
  await writeServers(root, { ...env('canary-env'), two: { ...url, enabled: false } })
  const daemon = await opened(t, { root })
  t.is(daemon.said('canary-env canary-bearer vermilion'), '[redacted] [redacted] vermilion')
  await writeServers(root, env('canary-changed'))
  await eventually(async () => (daemon.said('canary-changed') === '[redacted]' ? true : undefined))
  t.is(daemon.said('canary-env'), '[redacted]', 'for a while longer')
})

test('secrets-22: variables that an operator names for commands are redacted', async (t) => {
  const root = await freshRoot()
  mkdirSync(join(root, 'config'), { recursive: true })
  writeFileSync(join(root, 'config', 'shell.toml'), 'pass_environment = ["MAIL_TOKEN", "STORE"]\n')
  const daemon = await spawnTestDaemon(t, {
    root,
    env: { MAIL_TOKEN: 'plainwords-canary-zz', STORE: 'postgres://me:canary-password@x.example/db' },
  })
  await openSession(daemon)
  const { run_id } = await submit(daemon, 's1', `${said}, canary-password too`)
  await until(daemon, run_id, 'completed')
  const { text } = await daemon.request('GET', '/v1/sessions/s1/memory-context')
  t.true(text.includes('[redacted] and more, [redacted] too'), text)
  t.false(text.includes('canary'), text)
})
