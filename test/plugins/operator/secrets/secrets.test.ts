import { createDecipheriv, hash } from 'node:crypto'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { keyWarnings } from '../../../../plugins/operator/secrets/key-warnings.js'
import test, { type ExecutionContext } from 'ava'
import { SecretReferences, SecretSlots } from '../../../../plugins/operator/secrets/contract.js'
import { createCommandLine } from '../../../support/command-line.js'
import { freshRoot, startTestDaemon, type Reachable } from '../../../support/daemon.js'
import { blocksFor } from '../../../support/docs.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { lender } from '../../../support/plugins.js'
import { rewriteRecord } from '../../../support/rewrite.js'
import { codeOf } from '../../../support/runs.js'

const store = ({ request }: Pick<Reachable, 'request'>, slot_id: string, value: string, more: object = {}) =>
  request('POST', '/v1/runtime/secrets', { slot_id, state: { value }, ...more })

const allIn = (folder: string): string[] => readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))

test('secrets-2: a secret is shown by its name, mode, version and key, and never by its value', async (t) => {
  const daemon = await startTestDaemon(t)
  const stored = await store(daemon, 'mail.password', 'canary-one', { mode: 'api_key', updated_at_ms: 5 })
  t.is(stored.status, 200)
  t.like(stored.body, { slot_id: 'mail.password', provider: 'generic', mode: 'api_key' })
  t.like(stored.body.details, { version: 1, readable: true })
  t.regex(stored.body.details.key_id, /^[0-9a-f]{16}$/u)
  t.true(stored.body.updated_at_ms > 5)
  await store(daemon, 'another', 'canary-two')
  const { body: list } = await daemon.request('GET', '/v1/runtime/secrets')
  t.deepEqual(
    list.map(({ slot_id }: { slot_id: string }) => slot_id),
    ['another', 'mail.password'],
  )
  t.deepEqual((await daemon.request('GET', '/v1/runtime/secrets/mail.password')).body, list[1])
  t.false(JSON.stringify([stored.body, list]).includes('canary'))
  const none = await daemon.request('GET', '/v1/runtime/secrets/nobody')
  t.deepEqual(codeOf(none), [404, 'secret_not_found'])
  t.regex(none.body.action, /holdfast secrets set --stdin nobody$/u)
  t.deepEqual((await daemon.request('DELETE', '/v1/runtime/secrets/another')).body, { accepted: true })
  t.deepEqual(codeOf(await daemon.request('DELETE', '/v1/runtime/secrets/another')), [404, 'secret_not_found'])
})

const sealedSlots = async (t: ExecutionContext) => {
  const root = await freshRoot()
  const daemon = await startTestDaemon(t, { root })
  await store(daemon, 'first', 'gräphite "quoted"')
  await store(daemon, 'second', 'other')
  const run = createCommandLine(daemon)
  const shown = async (name: string) =>
    JSON.parse((await run('state', 'show', 'secret_slots', name, '--state-root', root)).out)
  const hex = readFileSync(join(root, 'secrets/slots.key'), 'utf8').trim()
  return { first: await shown('first'), second: await shown('second'), hex }
}

test('secrets-3: what is stored opens as the page says, in its own place alone', async (t) => {
  const { first, second, hex } = await sealedSlots(t)
  const key = Buffer.from(hex, 'hex')
  t.is(first.key_id, hash('sha256', Buffer.concat([Buffer.from('secret-slots-key'), key])).slice(0, 16))
  const open = ({ sealed, slot_id, version }: typeof first, name = slot_id, number = version): string => {
    const bytes = Buffer.from(sealed, 'base64')
    const cipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
    cipher.setAuthTag(bytes.subarray(12, 28)).setAAD(Buffer.from(`secret-slot\n${name}\n${number}`))
    return cipher.update(bytes.subarray(28)).toString() + cipher.final().toString()
  }
  t.deepEqual(JSON.parse(open(first)), { value: 'gräphite "quoted"' })
  t.throws(() => open(first, 'second'))
  t.throws(() => open(first, 'first', 2))
  t.not(first.sealed.slice(0, 16), second.sealed.slice(0, 16), 'a nonce is used once')
})

const withPython = spawnSync('python3', ['-c', 'import cryptography']).status === 0 ? test : test.skip
withPython('secrets-3: Python decrypts a slot with the key, as the documented lines say', async (t) => {
  const { first, hex } = await sealedSlots(t)
  const [program = ''] = blocksFor('docs/state-format.md', 'state-format-secret')
  const { stdout } = spawnSync('python3', ['-c', program, hex], { input: JSON.stringify(first), encoding: 'utf8' })
  t.deepEqual(JSON.parse(stdout), { value: 'gräphite "quoted"' })
})

test('secrets-4: the first start makes a key that only the daemon may read, and the next one uses it', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  const file = join(root, 'secrets/slots.key')
  t.is(statSync(file).mode & 0o777, 0o600)
  t.regex(readFileSync(file, 'utf8'), /^[0-9a-f]{64}\n$/u)
  await store(first, 'a', 'canary')
  await first.stop()
  const slots = lender({ slots: SecretSlots })
  const second = await startTestDaemon(t, { root, plugins: [slots.plugin] })
  t.is(slots.services().slots.value('a'), 'canary')
  t.is((await second.request('GET', '/v1/runtime/secrets/a')).body.details.readable, true)
})

test('secrets-4: a key of the operator beats its file, a file that others may read is refused, and none is made then', async (t) => {
  const file = join(await freshRoot(), 'key')
  writeFileSync(file, `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o644 })
  const open = async (flags: Record<string, string>) => {
    const daemon = await startTestDaemon(t, { flags })
    const { status, body } = await store(daemon, 'a', 'canary')
    const warned = (await daemon.request('GET', '/v1/status')).body.health.warnings.map(
      ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
    )
    return { daemon, status, body, warned: warned.filter((text: string) => text.startsWith('secrets')) }
  }
  const refused = await open({ 'secrets-key-file': file })
  t.deepEqual([refused.status, refused.body.code], [409, 'secrets_key_unusable'])
  t.regex(refused.warned.join(), /others than its owner may read/u)
  t.false((await refused.daemon.request('GET', '/v1/runtime/secrets')).text.includes('canary'))
  const beaten = await open({ 'secrets-key': '07'.repeat(32), 'secrets-key-file': file })
  t.deepEqual([beaten.status, beaten.warned], [200, []])
  const wrong = await open({ 'secrets-key': 'too short' })
  t.deepEqual([wrong.status, wrong.body.code], [409, 'secrets_key_unusable'])
  t.false(JSON.stringify([wrong.body, wrong.warned, wrong.daemon.log]).includes('too short'))
})

test('secrets-5, secrets-6: a secret of another key is shown as such, others work, and no key is made beside it', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  await store(first, 'old', 'canary-old')
  const { key_id } = (await first.request('GET', '/v1/runtime/secrets/old')).body.details
  await first.stop()
  const file = join(root, 'secrets/slots.key')
  const kept = readFileSync(file)
  writeFileSync(file, '')
  const slots = lender({ slots: SecretSlots })
  const second = await startTestDaemon(t, { root, plugins: [slots.plugin] })
  const { body } = await second.request('GET', '/v1/runtime/secrets/old')
  t.like(body.details, { readable: false, key_id, problem: `the key ${key_id} is not known` })
  t.regex(body.details.action, /slots\.key/u)
  t.is(t.throws(() => slots.services().slots.value('old'))?.message.includes(key_id), true)
  t.deepEqual(codeOf(await store(second, 'new', 'x')), [409, 'secrets_key_unusable'])
  t.is(readFileSync(file, 'utf8'), '', 'nothing is written over it')
  const { warnings } = (await second.request('GET', '/v1/status')).body.health
  const missing = warnings.find(({ code }: { code: string }) => code === 'secrets_key_missing')
  t.like(missing, { severity: 'error', related_id: key_id })
  t.regex(missing.action, /; store the secret again: holdfast secrets set old --stdin$/u)
  await second.stop()
  const third = await startTestDaemon(t, { root, flags: { 'secrets-key': '11'.repeat(32) } })
  t.is((await store(third, 'new', 'canary-new')).status, 200)
  t.deepEqual(
    (await third.request('GET', '/v1/runtime/secrets')).body.map(({ details }: any) => details.readable),
    [true, false],
  )
  const told = (await third.request('GET', '/v1/status')).body.health.warnings
  t.is(told.find(({ code }: { code: string }) => code === 'secrets_key_missing').related_id, key_id)
  await third.stop()
  writeFileSync(file, kept)
  const fourth = await startTestDaemon(t, { root, flags: { 'secrets-key': '11'.repeat(32) } })
  const all = (await fourth.request('GET', '/v1/runtime/secrets')).body
  t.true(all.every(({ details }: any) => details.readable && details.key_id === all[0].details.key_id))
  await fourth.stop()
  rewriteRecord(root, { collection: 'secret_slots', id: 'new' }, (slot) => ({ ...slot, version: 7 }))
  const fifth = await startTestDaemon(t, { root, flags: { 'secrets-key': '11'.repeat(32) } })
  t.deepEqual(
    (await fifth.request('GET', '/v1/runtime/secrets')).body.map(({ details }: any) => details.problem),
    ['its bytes are not as they were written', undefined],
  )
})

test('secrets-2: no route of secrets, accounts, subjects or leases answers a read-only token', async (t) => {
  const tokens = { 'http-admin-token': 'admin-token', 'http-readonly-token': 'read-token' }
  const admin = { authorization: 'Bearer admin-token' }
  const daemon = await startTestDaemon(t, { flags: tokens, headers: { authorization: 'Bearer read-token' } })
  const { body } = await daemon.request('GET', '/v1/openapi.json', undefined, admin)
  const asked = Object.entries<object>(body.paths)
    .filter(([path]) => /^\/v1\/runtime\/(?:secrets|auth)/u.test(path))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => [method.toUpperCase(), path] as const))
  t.true(asked.length > 15)
  for (const [method, path] of asked)
    t.deepEqual(
      codeOf(await daemon.request(method, path.replace(/\{[^}]+\}/gu, 'x'), method === 'POST' ? {} : undefined)),
      [403, 'insufficient_access'],
      `${method} ${path}`,
    )
})

test('secrets-6: no key is made where secrets are without one, nor where a key file is without secrets', async (t) => {
  const root = await freshRoot()
  const file = join(root, 'secrets/slots.key')
  const first = await startTestDaemon(t, { root })
  await store(first, 'old', 'canary-old')
  await first.stop()
  rmSync(file)
  const second = await startTestDaemon(t, { root })
  t.deepEqual(codeOf(await store(second, 'new', 'x')), [409, 'secrets_key_unusable'])
  t.false(existsSync(file))
  await second.stop()
  const other = await freshRoot()
  mkdirSync(join(other, 'secrets'), { mode: 0o700 })
  writeFileSync(join(other, 'secrets/slots.key'), '', { mode: 0o600 })
  const third = await startTestDaemon(t, { root: other })
  t.deepEqual(codeOf(await store(third, 'new', 'x')), [409, 'secrets_key_unusable'])
  t.is(readFileSync(join(other, 'secrets/slots.key'), 'utf8'), '')
})

for (const [what, spoil] of Object.entries({
  'is open to others': (file: string) => chmodSync(file, 0o644),
  'is empty': (file: string) => truncateSync(file),
  'is too long': (file: string) => truncateSync(file, 64 * 1024 + 1),
  'is no key': (file: string) => writeFileSync(file, 'no key'),
  'is a link': (file: string) => {
    renameSync(file, `${file}.real`)
    symlinkSync(`${file}.real`, file)
  },
  'is missing': (file: string) => renameSync(file, `${file}.real`),
}))
  test(`secrets-5: where the key ${what} nothing that the warnings say to paste destroys it`, async (t) => {
    const root = await freshRoot()
    const file = join(root, 'secrets/slots.key')
    const first = await startTestDaemon(t, { root })
    await store(first, 'old', 'canary-old')
    await first.stop()
    spoil(file)
    const before = allIn(dirname(file))
    const second = await startTestDaemon(t, { root })
    const { warnings } = (await second.request('GET', '/v1/status')).body.health
    const actions = warnings.flatMap(({ code, action }: any) => (code.startsWith('secrets_key') ? [action] : []))
    t.is(actions.length, 2)
    await second.stop()
    const lines = actions.flatMap((action: string) => action.match(/(?:chmod|mv|\(set).*(?= and start again)/gu) ?? [])
    t.true(lines.length > 0, actions.join())
    for (const line of [...lines, ...lines]) spawnSync('sh', ['-c', line])
    const after = allIn(dirname(file))
    for (const text of before) t.true(after.includes(text), 'what was there is there')
    const third = await startTestDaemon(t, { root })
    t.is((await store(third, 'new', 'canary-new')).status, 200, 'what was pasted helps')
    const { details } = (await third.request('GET', '/v1/runtime/secrets/old')).body
    t.is(details.readable, what === 'is open to others')
  })

test('secrets-2, secrets-7: a new value raises the version, and whoever asks gets it and is told', async (t) => {
  const slots = lender({ slots: SecretSlots })
  const daemon = await startTestDaemon(t, { plugins: [slots.plugin] })
  const told: string[] = []
  const { slots: service } = slots.services()
  service.onChange((ref) => told.push(ref))
  await store(daemon, 'a', 'one')
  t.is(service.value('a'), 'one')
  const { body } = await store(daemon, 'a', 'two', { mode: 'api_key' })
  t.like(body, { mode: 'api_key', details: { version: 2 } })
  t.is(service.value('a'), 'two')
  await daemon.request('DELETE', '/v1/runtime/secrets/a')
  t.throws(() => service.value('a'), { message: /no secret a/u })
  t.deepEqual(told, ['a', 'a', 'a'])
})

test('secrets-8: other spellings are understood, and the underscored ones are told', async (t) => {
  const daemon = await startTestDaemon(t)
  for (const [given, shown] of [
    ['openai', 'open_ai'],
    ['open_ai', 'open_ai'],
    ['openrouter', 'open_router'],
    ['xai', 'x_ai'],
    ['anthropic', 'anthropic'],
  ] as const)
    t.like((await store(daemon, 'a', 'x', { provider: given, mode: 'api_key' })).body, { provider: shown })
  t.like((await store(daemon, 'b', 'x')).body, { provider: 'generic', mode: 'opaque_secret' })
  const account = await daemon.request('POST', '/v1/runtime/secrets', {
    slot_id: 'mcp.files',
    provider: 'mcp_o_auth',
    mode: 'o_auth_account',
    state: { access_token: 'x' },
  })
  t.like(account.body, { provider: 'mcp_oauth', mode: 'oauth_account' })
})

test('secrets-23: a new value leaves the provider and the mode as they are, and an account its tokens', async (t) => {
  const slots = lender({ slots: SecretSlots })
  const daemon = await startTestDaemon(t, { plugins: [slots.plugin] })
  await store(daemon, 'key', 'one', { provider: 'open_ai', mode: 'api_key' })
  t.like((await store(daemon, 'key', 'two')).body, { provider: 'open_ai', mode: 'api_key', details: { version: 2 } })
  t.like((await store(daemon, 'key', 'x', { provider: 'google' })).body, { provider: 'google', mode: 'api_key' })
  const tokens = (state: object, more: object = {}, path = '/v1/runtime/auth/accounts') =>
    daemon.request('POST', path, { slot_id: 'mail', state, ...more })
  t.like((await tokens({ access_token: 'one' }, { provider: 'google' })).body, { provider: 'google' })
  t.deepEqual(codeOf(await store(daemon, 'mail', 'plain text')), [400, 'secret_invalid'])
  t.deepEqual(slots.services().slots.state('mail'), { access_token: 'one' })
  for (const path of ['/v1/runtime/auth/accounts', '/v1/runtime/secrets'])
    t.like((await tokens({ access_token: 'two' }, {}, path)).body, { provider: 'google', mode: 'oauth_account' })
  t.like((await tokens({ access_token: 'x' }, {}, '/v1/runtime/auth/accounts/mcp-oauth')).body, {
    provider: 'mcp_oauth',
  })
})

test('secrets-9: what cannot be kept is refused and changes nothing', async (t) => {
  const daemon = await startTestDaemon(t)
  const refused: readonly object[] = [
    { slot_id: 'connectors.slack.main.bot_token', mode: 'api_key', state: { value: 'x' } },
    { slot_id: 'connectors.slack.main.bot_token', provider: 'open_ai', state: { value: 'x' } },
    { slot_id: 'mcp.files', provider: 'google', state: { value: 'x' } },
    { slot_id: 'a', provider: 'mcp_oauth', state: { value: 'x' } },
    { slot_id: 'a', state: { value: ' ' } },
    { slot_id: 'a', state: { token: 'x' } },
    { slot_id: 'a', state: { value: 'x', more: 'y' } },
    { slot_id: 'a', state: { value: 'x'.repeat(70_000) } },
    { slot_id: 'a', mode: 'oauth_account', state: { client_id: 'x' } },
    { slot_id: 'a', mode: 'oauth_account', state: { access_token: 'x', expires_at_ms: 'soon' } },
  ]
  for (const body of refused)
    t.deepEqual(
      codeOf(await daemon.request('POST', '/v1/runtime/secrets', body)),
      [400, 'secret_invalid'],
      JSON.stringify(body).slice(0, 99),
    )
  for (const slot_id of ['', '..', 'a/b', 'a b', '-a'])
    t.deepEqual(codeOf(await daemon.request('POST', '/v1/runtime/secrets', { slot_id, state: { value: 'x' } })), [
      400,
      'bad_request',
    ])
  t.deepEqual((await daemon.request('GET', '/v1/runtime/secrets')).body, [])
  t.is((await store(daemon, 'connectors.slack.main.bot_token', 'x')).status, 200)
  t.is((await store(daemon, 'mcp.files', 'x')).status, 200)
})

test('secrets-2, secrets-10: a secret that is used says by what, and is not deleted', async (t) => {
  const user = lender({ slots: SecretSlots })
  let used = true
  const daemon = await startTestDaemon(t, {
    plugins: [
      {
        ...user.plugin,
        register(ctx: any, services: any) {
          user.plugin.register(ctx, services)
          ctx.contribute(SecretReferences, {
            id: 'lender',
            of: (ref: string) => (used && ref === 'a' ? [{ kind: 'lamp', id: 'green' }] : []),
          })
        },
      },
    ],
  })
  await store(daemon, 'a', 'one')
  t.deepEqual((await daemon.request('GET', '/v1/runtime/secrets/a')).body.details.used_by, [
    { kind: 'lamp', id: 'green' },
  ])
  const refused = await daemon.request('DELETE', '/v1/runtime/secrets/a')
  t.deepEqual(codeOf(refused), [409, 'secret_in_use'])
  t.regex(refused.body.detail, /used by lamp green/u)
  t.regex(refused.body.action, /POST \/v1\/runtime\/auth\/slots\/a\/revoke\.$/u)
  t.is(user.services().slots.value('a'), 'one')
  used = false
  t.is((await daemon.request('DELETE', '/v1/runtime/secrets/a')).status, 200)
})

test('secrets-14: accounts are secrets with tokens: shown without them, revoked by deleting, and not refreshed', async (t) => {
  const daemon = await startTestDaemon(t)
  await store(daemon, 'plain', 'x')
  const tokens = {
    client_id: 'c',
    access_token: 'canary-at',
    refresh_token: 'canary-rt',
    expires_at_ms: 1_900_000_000_000,
  }
  for (const [path, slot_id] of [
    ['/v1/runtime/auth/accounts', 'mail'],
    ['/v1/runtime/auth/accounts/mcp-oauth', 'mcp.files'],
  ] as const) {
    const { status, body } = await daemon.request('POST', path, { slot_id, state: tokens })
    t.is(status, 200)
    t.like(body, { provider: 'mcp_oauth', mode: 'oauth_account', details: { expires_at_ms: tokens.expires_at_ms } })
  }
  const generic = { slot_id: 'g', provider: 'generic', state: tokens }
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/runtime/auth/accounts/mcp-oauth', generic)), [
    400,
    'secret_invalid',
  ])
  const old = { slot_id: 'mail', state: { ...tokens, expires_at_ms: 1 } }
  t.regex(
    (await daemon.request('POST', '/v1/runtime/auth/accounts', old)).body.summary,
    /an OAuth account.*, expired$/u,
  )
  await daemon.request('POST', '/v1/runtime/auth/accounts', { ...old, state: tokens })
  const { body, text } = await daemon.request('GET', '/v1/runtime/auth/accounts')
  t.deepEqual(
    body.map(({ slot_id }: any) => slot_id),
    ['mail', 'mcp.files'],
  )
  t.false(text.includes('canary'))
  t.deepEqual((await daemon.request('GET', '/v1/runtime/auth/accounts/mail')).body, body[0])
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/runtime/auth/accounts/plain')), [404, 'secret_not_account'])
  t.deepEqual(codeOf(await daemon.request('DELETE', '/v1/runtime/auth/accounts/plain')), [404, 'secret_not_account'])
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/runtime/auth/accounts/mail/refresh')), [
    409,
    'account_refresh_unavailable',
  ])
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/runtime/auth/accounts/no/refresh')), [404, 'secret_not_found'])
  t.deepEqual(
    codeOf(
      await daemon.request('POST', '/v1/runtime/auth/accounts', {
        slot_id: 'a',
        mode: 'api_key',
        state: { value: 'x' },
      }),
    ),
    [400, 'secret_invalid'],
  )
  t.deepEqual((await daemon.request('POST', '/v1/runtime/auth/accounts/mail/revoke')).body, { accepted: true })
  t.deepEqual((await daemon.request('DELETE', '/v1/runtime/auth/accounts/mcp.files')).body, { accepted: true })
  t.deepEqual((await daemon.request('GET', '/v1/runtime/auth/accounts')).body, [])
})

test('secrets-1, secrets-22: a value that was replaced or deleted is redacted for five minutes more, for calls under way', async (t) => {
  const slots = lender({ slots: SecretSlots })
  const clock = createLeapingClock({ still: true })
  const daemon = await startTestDaemon(t, { plugins: [slots.plugin], clock })
  const seen = (...values: readonly string[]): boolean[] =>
    values.map((value) => slots.context().secrets.redact(`x ${value}`).includes(value))
  /** What the leap makes due has fired when it resolves. */
  const leap = async (ms: number): Promise<void> => {
    clock.leap(ms)
    await clock.sleep(0)
  }
  await store(daemon, 'a', 'canary-one')
  await store(daemon, 'b', 'canary-one')
  t.deepEqual(seen('canary-one', 'canary-two'), [false, true])
  await store(daemon, 'a', 'canary-two')
  await leap(300_001)
  t.deepEqual(seen('canary-one', 'canary-two'), [false, false], 'another secret has the old value')
  await daemon.request('DELETE', '/v1/runtime/secrets/b')
  await leap(299_000)
  t.deepEqual(seen('canary-one', 'canary-two'), [false, false])
  await leap(1001)
  t.deepEqual(seen('canary-one', 'canary-two'), [true, false])
})

test('secrets-20: a revoked secret holds nothing for anybody until another value is stored', async (t) => {
  const root = await freshRoot()
  const slots = lender({ slots: SecretSlots })
  const daemon = await startTestDaemon(t, {
    root,
    plugins: [slots.plugin],
    flags: {
      provider: 'openai_compatible',
      'provider-base-url': 'http://127.0.0.1:1',
      model: 'm',
      'auth-ref': 'models.key',
    },
  })
  const { slots: service } = slots.services()
  const revoke = (slot_id: string) => daemon.request('POST', `/v1/runtime/auth/slots/${slot_id}/revoke`)
  t.deepEqual(codeOf(await revoke('models.key')), [404, 'secret_not_found'])
  await store(daemon, 'models.key', 'canary-old', { mode: 'api_key' })
  t.is(service.value('models.key'), 'canary-old')
  const told: string[] = []
  service.onChange((ref) => told.push(ref))
  const { status, body } = await revoke('models.key')
  t.is(status, 200)
  t.is(body.summary, 'the key of an API, version 2, revoked')
  t.like(body.details, { version: 2, readable: false, problem: 'it was revoked' })
  t.is(body.details.used_by.length, 1, 'it is revoked although it is used')
  t.deepEqual(told, ['models.key'])
  t.throws(() => service.value('models.key'), { message: /was revoked/u })
  t.throws(() => service.state('models.key'), { message: /was revoked/u })
  const [route] = (await daemon.request('GET', '/v1/status')).body.provider_readiness.routes
  t.like(route, { state: 'error', code: 'secret_revoked' })
  const run = createCommandLine(daemon)
  const kept = JSON.parse((await run('state', 'show', 'secret_slots', 'models.key', '--state-root', root)).out)
  t.is(Buffer.from(kept.sealed, 'base64').length, 12 + 16 + '{}'.length)
  t.regex((await run('runtime', 'auth', 'revoke-slot', 'models.key')).out, /version 2, revoked/u)
  const again = await store(daemon, 'models.key', 'canary-new', { mode: 'api_key' })
  t.like(again.body.details, { version: 3, readable: true })
  t.is(again.body.details.revoked_at_ms, undefined)
  t.is(service.value('models.key'), 'canary-new')
})

test('secrets-6: where no key could be made yet, the warning does not ask for one that never was', (t) => {
  const keys = { fault: { kind: 'absent', reason: 'it is missing' }, previousFault: undefined, find: () => undefined }
  const none = { groups: () => [], count: () => 0 }
  const told = (fresh: boolean) =>
    keyWarnings({ keys, slots: none, lasting: none, root: '/r', isFresh: () => fresh } as any).map(
      ({ action }) => action,
    )
  t.regex(told(true)[0] ?? '', /^The daemon makes the first key by itself/u)
  t.regex(told(false)[0] ?? '', /^Put the key back/u)
})

test('secrets-5: where another key is in force nobody is told to write over it', (t) => {
  const keys = { fault: undefined, previousFault: undefined, find: () => undefined }
  const [slots, lasting] = [
    { groups: () => ['k1'], count: () => 1, list: () => [{ slot_id: 's1' }] },
    { groups: () => [], count: () => 0 },
  ]
  const [told] = keyWarnings({ keys, slots, lasting, root: '/r', isFresh: () => false } as any)
  t.notRegex(told?.action ?? '', /slots\.key/u)
  t.regex(told?.action ?? '', /^Another key is in force: leave it where it is\..* as --secrets-previous-key-file/u)
})
