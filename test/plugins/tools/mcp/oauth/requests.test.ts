/** The tokens of requests to a server, with the client and the transport that the daemon has. */
import test, { type ExecutionContext } from 'ava'
import { shippedPlugins } from '../../../../../core/shipped.js'
import { assert } from '../../../../../core/base/assert.js'
import { createOutbound, parse, type Clock } from '../../../../../core/plugin.js'
import { SecretSlots } from '../../../../../plugins/operator/secrets/contract.js'
import { isHttp, ServerEntry } from '../../../../../plugins/tools/mcp/config/entry.js'
import { createHttpTransport } from '../../../../../plugins/tools/mcp/connection/http-transport.js'
import { loadKit } from '../../../../../plugins/tools/mcp/connection/kit.js'
import { createOauth, type Oauth } from '../../../../../plugins/tools/mcp/oauth/oauth.js'
import { startTestDaemon } from '../../../../support/daemon.js'
import { createLeapingClock } from '../../../../../core/testing/leaping-clock.js'
import { startOauthServer, type OauthServer } from '../../../../support/oauth-server.js'
import { testPlugin } from '../../../../support/plugins.js'

const entryOf = (url: string) => {
  const read = parse(ServerEntry, { url, oauth_slot_ref: 'mcp.files', allow_private_network: true })
  assert(read.ok && isHttp(read.value), 'the entry fits')
  return read.value
}

interface Wish {
  readonly clock?: Clock
}

/** A daemon with accounts of servers and without the plugin that connects to them by itself. */
const start = async (t: ExecutionContext<any>, { clock = createLeapingClock() }: Wish = {}) => {
  const server = await startOauthServer(t)
  const entry = entryOf(server.url)
  let made: Oauth | undefined
  const plugin = testPlugin('requests', {
    needs: { slots: SecretSlots },
    register(ctx, { slots }) {
      const servers = {
        source: 'config/mcp.toml',
        missing: () => undefined,
        all: () => new Map([['files', entry]]),
        beside: () => undefined,
        wrong: () => new Map(),
        lineOf: () => undefined,
        onChange: () => () => {},
      }
      made = createOauth({ ...ctx, slots, servers, loopbackUrl: () => 'http://127.0.0.1:1' })
      ctx.own(made.close)
    },
  })
  const shipped = (await shippedPlugins()).filter(({ id }) => id !== 'mcp')
  const daemon = await startTestDaemon(t, { shipped, plugins: [plugin], clock })
  assert(made, 'the plugin was loaded')
  const oauth = made
  const store = async (state: object): Promise<void> => {
    const { status, text } = await daemon.request('POST', '/v1/runtime/auth/accounts/mcp-oauth', {
      slot_id: 'mcp.files',
      state,
    })
    t.is(status, 200, text)
  }
  const authorization = oauth.authorize('files', entry)
  assert(authorization, 'it has an account')
  const connect = async () => {
    const kit = await loadKit()
    const outbound = createOutbound({ clock, connections: 300 })
    const transport = createHttpTransport({
      kit,
      name: 'one',
      clock,
      outbound,
      entry,
      timeouts: () => entry,
      headers: async () => ({}),
      authorization,
      onEnd: () => {},
      onGarbage: () => {},
    })
    const client = new kit.Client({ name: 'test', version: '1' })
    t.teardown(async () => {
      await client.close()
      await outbound.close()
    })
    await client.connect(transport)
    return client
  }
  return { server, daemon, oauth, store, authorization, connect }
}

const accountOf = (server: OauthServer, more: object = {}): object => {
  server.refreshes.add('canary-refresh-0')
  return { client_id: 'c', access_token: 'canary-access-0', refresh_token: 'canary-refresh-0', ...more }
}

test('mcp-oauth-10: two hundred requests that are refused at once lead to one refresh, and all succeed', async (t) => {
  const clock = createLeapingClock()
  const { server, store, connect, daemon } = await start(t, { clock })
  await store(accountOf(server))
  const client = await connect()
  t.is(server.at('/token').length, 1, 'the stored token was refused')
  server.good.clear()
  clock.leap(10_001)
  const call = async () => client.callTool({ name: 'echo', arguments: {} })
  const results = await Promise.all(Array.from({ length: 200 }, call))
  t.true(results.every(({ content }) => JSON.stringify(content).includes('echoed')))
  t.is(server.at('/token').length, 2)
  t.is((await daemon.request('GET', '/v1/runtime/auth/accounts/mcp.files')).body.details.version, 3)
  const refused = server.at('/mcp').filter(({ headers }) => headers.authorization === 'Bearer canary-access-1')
  t.true(refused.length > 100, 'many were refused')
})

test('mcp-oauth-10: a token is renewed before it expires, and used for as long as it is good', async (t) => {
  const clock = createLeapingClock({ still: true })
  const { server, store, authorization } = await start(t, { clock })
  await store(accountOf(server, { expires_at_ms: clock.now() + 60_000 }))
  t.is(await authorization.token(), 'canary-access-0')
  clock.leap(31_000)
  server.on('/token', () => ({ status: 503 }))
  t.is(await authorization.token(), 'canary-access-0', 'it is good for a while yet')
  t.is(server.at('/token').length, 1)
  server.on('/token', () => undefined)
  clock.leap(2_000)
  t.is(await authorization.token(), 'canary-access-1')
  clock.leap(3_600_000)
  server.on('/token', () => ({ status: 503 }))
  await t.throwsAsync(async () => authorization.token(), { message: /it had an error of its own/u })
})

for (const expires_in of [0, -5])
  test(`mcp-oauth-10: a token that is over when it comes (expires_in ${expires_in}) is used until it is refused`, async (t) => {
    const { server, store, authorization } = await start(t)
    await store(accountOf(server, { expires_at_ms: 1 }))
    const body = { access_token: 'canary-odd', refresh_token: 'canary-r', token_type: 'Bearer', expires_in }
    server.on('/token', () => ({ body }))
    for (let n = 0; n < 3; n += 1) t.is(await authorization.token(), 'canary-odd')
    t.is(server.at('/token').length, 1)
  })

test('mcp-oauth-10: a token that is refused a moment after it was given is not renewed again', async (t) => {
  const clock = createLeapingClock({ still: true })
  const { server, store, authorization } = await start(t, { clock })
  await store(accountOf(server))
  const token = (await authorization.token()) ?? ''
  await authorization.refused(token)
  const next = (await authorization.token()) ?? ''
  t.is(next, 'canary-access-1')
  await authorization.refused(token)
  t.is(server.at('/token').length, 1, 'another request was faster')
  await t.throwsAsync(async () => authorization.refused(next), { message: /given a moment before/u })
  t.is(server.at('/token').length, 1)
  clock.leap(10_001)
  await authorization.refused(next)
  t.is(server.at('/token').length, 2)
})

test.serial(
  'mcp-oauth-11: a revoked account is withheld, and nothing of the environment stands in for it',
  async (t) => {
    const { server, store, authorization, daemon } = await start(t)
    const names = ['MCP_FILES', 'MCP_FILES_TOKEN', 'MCP_FILES_ACCESS_TOKEN', 'FILES_ACCESS_TOKEN', 'SERVICE_MCP_FILES']
    for (const name of names) process.env[name] = 'canary-environment'
    t.teardown(() => names.forEach((name) => delete process.env[name]))
    const needsLogin = { message: /needs a login/u }
    await t.throwsAsync(async () => authorization.token(), needsLogin)
    await store(accountOf(server))
    t.is(await authorization.token(), 'canary-access-0')
    await daemon.request('POST', '/v1/runtime/auth/slots/mcp.files/revoke')
    await t.throwsAsync(async () => authorization.token(), { message: /its account was revoked/u })
    await t.throwsAsync(async () => authorization.refused('canary-access-0'), { message: /its account was revoked/u })
    t.is(server.at('/token').length, 0)
  },
)

test('mcp-oauth-4: an account that was stored by hand finds its authorization server, and keeps to it from then on', async (t) => {
  const { server, store, oauth } = await start(t)
  await store(accountOf(server))
  const files = oauth.get('files')
  await oauth.refresh(files)
  server.on('/.well-known/oauth-authorization-server', () => ({ status: 500 }))
  await oauth.refresh(files)
  t.is(server.at('/token').length, 2)
  t.is(server.at('/.well-known/oauth-authorization-server').length, 1)
  await store({ access_token: 'canary-only' })
  await t.throwsAsync(async () => oauth.refresh(files), { message: /no refresh token/u })
})
