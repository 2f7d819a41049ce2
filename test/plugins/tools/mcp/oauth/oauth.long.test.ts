import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createCommandLine } from '../../../../support/command-line.js'
import {
  freshRoot,
  spawnTestDaemon,
  startTestDaemon,
  type Reachable,
  type TestDaemonOptions,
} from '../../../../support/daemon.js'
import { createLeapingClock } from '../../../../../core/testing/leaping-clock.js'
import { eventually } from '../../../../support/mcp.js'
import { startOauthServer, type OauthServer } from '../../../../support/oauth-server.js'
import { codeOf } from '../../../../support/runs.js'

const base = '/v1/runtime/mcp/oauth'
const slot = '/v1/runtime/auth/accounts/mcp.files'

const listed = (url: string, more = ''): string =>
  `[mcp_servers.files]\nurl = "${url}"\noauth_slot_ref = "mcp.files"\nallow_private_network = true\n${more}`

interface Wish extends TestDaemonOptions {
  readonly toml?: string
}
const prepare = async (server: OauthServer, toml = ''): Promise<string> => {
  const root = await freshRoot()
  mkdirSync(join(root, 'config'))
  writeFileSync(join(root, 'config', 'mcp.toml'), listed(server.url, toml))
  return root
}
const start = async (t: ExecutionContext<any>, { toml, ...wish }: Wish = {}) => {
  const server = await startOauthServer(t)
  const root = await prepare(server, toml)
  return { server, root, daemon: await startTestDaemon(t, { root, ...wish }) }
}

const begin = async ({ request }: Reachable, body?: object): Promise<any> =>
  (await request('POST', `${base}/files/login`, body)).body
const view = async ({ request }: Reachable): Promise<any> => (await request('GET', `${base}/files`)).body
const logIn = async (daemon: Reachable, server: OauthServer): Promise<void> => {
  const back = await server.browse((await begin(daemon)).authorization_url)
  const { pathname, search } = new URL(back)
  await daemon.request('GET', `${pathname}${search}`)
}

test('mcp-oauth-1: a login asks for a code with PKCE, for the resource and the scopes of the server', async (t) => {
  const { server, daemon } = await start(t)
  t.like(await view(daemon), { state: 'login_required', reason: 'nobody has logged in yet', can_refresh: false })
  const begun = await begin(daemon)
  const asked = new URL(begun.authorization_url).searchParams
  t.like(Object.fromEntries(asked), {
    response_type: 'code',
    code_challenge_method: 'S256',
    resource: server.url,
    scope: 'read write',
    redirect_uri: begun.redirect_uri,
  })
  t.regex(asked.get('code_challenge') ?? '', /^[A-Za-z0-9_-]{43}$/u)
  t.is(new URL(begun.redirect_uri).origin, daemon.url)
  t.like(JSON.parse(server.at('/register')[0]?.body ?? ''), {
    application_type: 'native',
    redirect_uris: [begun.redirect_uri],
    token_endpoint_auth_method: 'client_secret_post',
  })
  t.like(await view(daemon), { state: 'login_pending', login_expires_at_ms: begun.expires_at_ms })
  const back = new URL(await server.browse(begun.authorization_url))
  const done = await daemon.request('GET', `${back.pathname}${back.search}`)
  t.is(done.status, 200, done.text)
  t.regex(done.text, /files is done/u)
  const [token] = server.at('/token')
  t.is(token?.form.get('resource'), server.url)
  t.like(await view(daemon), {
    state: 'logged_in',
    issuer: server.origin,
    scopes: ['read', 'write'],
    can_refresh: true,
    version: 1,
  })
  t.like((await daemon.request('GET', slot)).body, { provider: 'mcp_oauth', mode: 'oauth_account' })
  const refused = await daemon.request('DELETE', slot)
  t.deepEqual(codeOf(refused), [409, 'secret_in_use'])
  t.regex(refused.body.action, /To log out of the MCP server: holdfast mcp oauth logout files$/u)
  t.regex((await daemon.request('POST', `${slot}/revoke`)).body.action, /holdfast mcp oauth logout/u)
})

test('mcp-oauth-1: oauth_scopes and oauth_resource of the list are asked for in place of what the server says', async (t) => {
  const toml = 'oauth_scopes = ["one", "two"]\noauth_resource = "https://files.example/"'
  const { server, daemon } = await start(t, { toml })
  const asked = new URL((await begin(daemon)).authorization_url).searchParams
  t.like(Object.fromEntries(asked), { scope: 'one two', resource: 'https://files.example/' })
  server.on('/token', () => ({ body: { access_token: 'canary-narrow', token_type: 'bearer', scope: 'one' } }))
  const back = new URL(await server.browse((await begin(daemon)).authorization_url))
  await daemon.request('GET', `${back.pathname}${back.search}`)
  t.like(await view(daemon), { state: 'logged_in', scopes: ['one'], missing_scopes: ['two'], can_refresh: false })
})

test('mcp-oauth-2: the state of a login is good once, for ten minutes, until another one is begun', async (t) => {
  const clock = createLeapingClock({ still: true })
  const { server, daemon } = await start(t, { clock })
  const finish = async (back: string, state?: string) => {
    const url = new URL(back)
    if (state !== undefined) url.searchParams.set('state', state)
    return daemon.request('GET', `/v1/mcp/oauth/callback?${url.searchParams.toString()}`)
  }
  const first = await server.browse((await begin(daemon)).authorization_url)
  const state = new URL(first).searchParams.get('state') ?? ''
  for (const wrong of ['x', `${state}0`, state.slice(1), `${state.slice(0, -1)}${state.endsWith('0') ? 1 : 0}`])
    t.deepEqual(codeOf(await finish(first, wrong)), [400, 'mcp_oauth_login_unknown'])
  const second = await server.browse((await begin(daemon)).authorization_url)
  t.deepEqual(codeOf(await finish(first)), [400, 'mcp_oauth_login_unknown'])
  t.is((await finish(second)).status, 200)
  t.deepEqual(codeOf(await finish(second)), [400, 'mcp_oauth_login_unknown'])
  const third = await server.browse((await begin(daemon)).authorization_url)
  clock.leap(600_001)
  await clock.sleep(0)
  t.deepEqual(codeOf(await finish(third)), [400, 'mcp_oauth_login_unknown'])
  t.is(server.at('/token').length, 1)
  const fourth = await server.browse((await begin(daemon)).authorization_url)
  const both = await Promise.all([finish(fourth), finish(fourth)])
  t.deepEqual(both.map(({ status }) => status).toSorted(), [200, 400])
  t.is(server.at('/token').length, 2, 'also of two at once')
})

test('mcp-oauth-2: a login that was refused, or came from another issuer, leaves what was stored', async (t) => {
  const { server, daemon } = await start(t)
  await logIn(daemon, server)
  for (const [key, value, reason] of [
    ['error', 'access_denied', /answered access_denied/u],
    ['error', 'canary <b>', /answered a code that is none/u],
    ['iss', 'https://other.example', /another issuer/u],
    ['iss', undefined, /without iss, which/u],
    ['code', 'canary-other', /answered invalid_grant/u],
    ['code', undefined, /without a code/u],
  ] as const) {
    const back = new URL(await server.browse((await begin(daemon)).authorization_url))
    if (value === undefined) back.searchParams.delete(key)
    else back.searchParams.set(key, value)
    const got = await daemon.request('GET', `${back.pathname}${back.search}`)
    t.deepEqual(codeOf(got), [409, 'mcp_oauth_login_refused'], got.text)
    t.regex(got.body.detail, reason)
    t.false(got.text.includes('canary'))
    t.like(await view(daemon), { state: 'logged_in', version: 1 })
  }
})

test('mcp-oauth-2, mcp-oauth-3: the address that the browser ended at can be pasted', async (t) => {
  const more = `[mcp_servers.more]\nurl = "http://127.0.0.1:1/mcp"\noauth_slot_ref = "mcp.more"\nallow_private_network = true\n`
  const { server, daemon } = await start(t, { toml: more })
  const back = await server.browse((await begin(daemon)).authorization_url)
  const paste = (address: string) => daemon.request('POST', '/v1/runtime/mcp/oauth/files/finish', { address })
  t.deepEqual(codeOf(await paste('not an address')), [400, 'mcp_oauth_login_unknown'])
  const elsewhere = await daemon.request('POST', '/v1/runtime/mcp/oauth/more/finish', { address: back })
  t.deepEqual(codeOf(elsewhere), [400, 'mcp_oauth_login_unknown'], 'at another server it is not used up')
  t.regex(elsewhere.body.action, /POST \/v1\/runtime\/mcp\/oauth\/more\/login\./u)
  t.like((await paste(back)).body, { state: 'logged_in' })
  t.deepEqual(codeOf(await daemon.request('POST', `${base}/other/login`)), [404, 'mcp_oauth_unknown'])
})

test('mcp-oauth-4: a refresh stores new tokens as a new version, by whichever route', async (t) => {
  const { server, daemon } = await start(t)
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/runtime/mcp/oauth/files/refresh')), [
    409,
    'mcp_oauth_login_required',
  ])
  await logIn(daemon, server)
  t.like((await daemon.request('POST', `${base}/files/refresh`)).body, { state: 'logged_in', version: 2 })
  t.like((await daemon.request('POST', `${slot}/refresh`)).body, { details: { version: 3, readable: true } })
  const forms = server.at('/token').map(({ form }) => Object.fromEntries(form))
  t.like(forms[1], { grant_type: 'refresh_token', resource: server.url })
  t.is(new Set(forms.map(({ refresh_token }) => refresh_token)).size, 3)
})

test('mcp-oauth-5, secrets-14: a refresh that is refused is not tried again, needs a login, and stays known after a restart', async (t) => {
  const { server, daemon, root } = await start(t)
  await logIn(daemon, server)
  server.refreshes.clear()
  const refused = await daemon.request('POST', `${base}/files/refresh`)
  t.deepEqual(codeOf(refused), [409, 'mcp_oauth_login_required'])
  t.regex(refused.body.detail, /refused the refresh token \(invalid_grant\)/u)
  const again = await daemon.request('POST', `${slot}/refresh`)
  t.deepEqual(codeOf(again), [409, 'account_refresh_failed'])
  t.regex(again.body.detail, /refused the refresh token \(invalid_grant\)/u)
  t.is(server.at('/token').length, 2)
  const warned = async (target: Reachable) =>
    (await target.request('GET', '/v1/status')).body.health.warnings.find(
      ({ code }: { code: string }) => code === 'mcp_login_required',
    )
  t.like(await warned(daemon), { related_id: 'files', action: 'holdfast mcp oauth login files' })
  await daemon.stop()
  const next = await startTestDaemon(t, { root })
  t.like(await view(next), { state: 'login_required', action: 'holdfast mcp oauth login files' })
  t.deepEqual(codeOf(await next.request('POST', `${base}/files/refresh`)), [409, 'mcp_oauth_login_required'])
  t.is(server.at('/token').length, 2)
  await logIn(next, server)
  t.like(await view(next), { state: 'logged_in' })
  t.is(await warned(next), undefined)
})

test('mcp-oauth-5: a server that needs a login is one warning, which names the flag of a client that is not known', async (t) => {
  const { server, daemon } = await start(t, { toml: 'required = true' })
  const line = createCommandLine(daemon)
  const warnings = async (): Promise<any[]> =>
    (await daemon.request('GET', '/v1/status')).body.health.warnings.filter(
      ({ related_id }: any) => related_id === 'files',
    )
  t.like(
    await eventually(async () =>
      (await daemon.request('GET', '/v1/runtime/mcp/servers')).body.servers.find(
        ({ state }: any) => state === 'waiting',
      ),
    ),
    { name: 'files' },
  )
  const [only, ...others] = await warnings()
  t.deepEqual(others, [])
  t.like(only, { code: 'mcp_login_required', severity: 'error' })
  t.is(
    only.action,
    'Log in: holdfast mcp oauth login files or, where its client was registered by hand, ' +
      'holdfast mcp oauth login --client-id ID files',
  )
  server.on('/.well-known/oauth-authorization-server', () => ({
    body: {
      issuer: server.origin,
      authorization_endpoint: `${server.origin}/authorize`,
      token_endpoint: `${server.origin}/token`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    },
  }))
  t.regex((await line('mcp', 'oauth', 'login', 'files')).err, /registers no clients: .* give its --client-id/u)
  t.regex(
    (await line('mcp', 'oauth', 'refresh', 'files')).err,
    /mcp_oauth_login_required\)\nLog in with holdfast mcp oauth login files\.\n$/u,
  )
})

const warningsOf = async ({ request }: Reachable): Promise<any[]> =>
  (await request('GET', '/v1/status')).body.health.warnings.filter(({ related_id }: any) => related_id === 'files')
const isIn = (daemon: Reachable, wanted: string): Promise<any> =>
  eventually(async () => {
    const [found] = (await daemon.request('GET', '/v1/runtime/mcp/servers')).body.servers
    return found.state === wanted ? found : undefined
  })
const echo = ({ request }: Reachable) => request('POST', '/v1/runtime/mcp/tools/mcp__files__echo/call', {})

test('mcp-oauth-5, mcp-15: a refresh that is refused amid a connection is one warning, and a call is refused as one that needs a login', async (t) => {
  const clock = createLeapingClock()
  const { server, daemon } = await start(t, { clock })
  await logIn(daemon, server)
  await isIn(daemon, 'connected')
  t.is((await echo(daemon)).status, 200)
  server.refreshes.clear()
  server.good.clear()
  clock.leap(20_000)
  t.deepEqual(codeOf(await echo(daemon)), [409, 'mcp_oauth_login_required'])
  t.regex((await isIn(daemon, 'waiting')).problem, /needs a login/u)
  t.deepEqual(
    (await warningsOf(daemon)).map(({ code }: any) => code),
    ['mcp_login_required'],
  )
  t.deepEqual(codeOf(await echo(daemon)), [409, 'mcp_oauth_login_required'])
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/runtime/mcp/servers/files/prompts')), [
    409,
    'mcp_oauth_login_required',
  ])
})

test('mcp-oauth-5: a token that cannot be renewed and has expired is a warning too', async (t) => {
  const clock = createLeapingClock()
  const { server, daemon } = await start(t, { clock })
  server.on('/token', () => {
    server.good.add('canary-short')
    return { body: { access_token: 'canary-short', token_type: 'bearer', expires_in: 600, scope: 'read write' } }
  })
  await logIn(daemon, server)
  await isIn(daemon, 'connected')
  clock.leap(700_000)
  t.is((await echo(daemon)).status, 503)
  const [only, ...others] = await eventually(async () => {
    const warned = await warningsOf(daemon)
    return warned[0]?.code === 'mcp_login_required' ? warned : undefined
  })
  t.deepEqual(others, [])
  t.like(only, {
    message: 'The MCP server files needs a login: its token has expired, and it has no refresh token.',
    action: 'holdfast mcp oauth login files',
  })
})

test('mcp-oauth-6: a refresh whose answer did not come is tried again, later, and a refusal then says what it may mean', async (t) => {
  const clock = createLeapingClock({ still: true })
  const { server, daemon } = await start(t, { clock })
  await logIn(daemon, server)
  server.on('/token', ({ form }) => {
    server.refreshes.delete(form.get('refresh_token') ?? '')
    return { status: 500, body: 'canary-said' }
  })
  const refresh = () => daemon.request('POST', `${base}/files/refresh`)
  const failed = await refresh()
  t.deepEqual(codeOf(failed), [502, 'mcp_oauth_failed'])
  t.false(failed.text.includes('canary'))
  t.deepEqual(codeOf(await refresh()), [502, 'mcp_oauth_failed'])
  t.is(server.at('/token').length, 2, 'it waits a second')
  t.like(await view(daemon), { state: 'logged_in', version: 1 })
  server.on('/token', () => undefined)
  clock.leap(1001)
  const refused = await refresh()
  t.deepEqual(codeOf(refused), [409, 'mcp_oauth_login_required'])
  t.regex(refused.body.detail, /an earlier refresh may have used up/u)
})

test('mcp-oauth-6: a daemon that is killed before it has stored new tokens knows it after the restart, and says so', async (t) => {
  const server = await startOauthServer(t)
  const root = await prepare(server)
  const first = await spawnTestDaemon(t, { root })
  await logIn(first, server)
  server.on('/token', async ({ form }) => {
    server.refreshes.delete(form.get('refresh_token') ?? '')
    await first.kill('SIGKILL')
    return {}
  })
  await t.throwsAsync(async () => first.request('POST', `${base}/files/refresh`))
  await first.exited
  server.on('/token', () => undefined)
  const second = await startTestDaemon(t, { root })
  t.like(await view(second), { state: 'logged_in', version: 1 })
  const refused = await second.request('POST', `${base}/files/refresh`)
  t.deepEqual(codeOf(refused), [409, 'mcp_oauth_login_required'])
  t.regex(refused.body.detail, /an earlier refresh may have used up: its answer was never stored/u)
})

test('mcp-oauth-7: a logout takes the tokens here and at the authorization server, or says that it could not', async (t) => {
  const { server, daemon } = await start(t)
  await logIn(daemon, server)
  t.deepEqual((await daemon.request('POST', '/v1/runtime/mcp/oauth/files/logout')).body, {
    server: 'files',
    logged_out: true,
    told_server: true,
  })
  t.deepEqual(
    server.at('/revoke').map(({ form }) => form.get('token_type_hint')),
    ['refresh_token', 'access_token'],
  )
  t.is(server.refreshes.size + server.good.size, 0)
  t.like(await view(daemon), { state: 'login_required', reason: 'its account was revoked', can_refresh: false })
  t.like((await daemon.request('GET', slot)).body.details, { readable: false })
  t.like((await daemon.request('POST', `${base}/files/logout`)).body, { told_server: false })
  await logIn(daemon, server)
  server.on('/revoke', () => ({ status: 503 }))
  t.like((await daemon.request('POST', `${base}/files/logout`)).body, {
    told_server: false,
    reason: 'it answered 503',
  })
  t.like(await view(daemon), { state: 'login_required' })
})

test('mcp-oauth-7: tokens that come after a logout are not stored, and taken back', async (t) => {
  const { server, daemon } = await start(t)
  await logIn(daemon, server)
  let answer = (): void => {}
  const held = new Promise<void>((resolve) => {
    answer = resolve
  })
  server.on('/token', async () => {
    await held
    server.refreshes.add('canary-refresh-3')
    return undefined
  })
  const refreshing = daemon.request('POST', `${base}/files/refresh`)
  while (server.at('/token').length < 2) await new Promise((resolve) => setImmediate(resolve))
  await daemon.request('POST', `${base}/files/logout`)
  answer()
  await refreshing
  t.like(await view(daemon), { state: 'login_required', reason: 'its account was revoked' })
  t.true(server.at('/revoke').some(({ form }) => form.get('token') === 'canary-refresh-4'))
})

test('mcp-oauth-7: a logout ends a login that is under way, also while its tokens are on their way', async (t) => {
  const { server, daemon } = await start(t)
  const finish = async (back: string) => {
    const { pathname, search } = new URL(back)
    return daemon.request('GET', `${pathname}${search}`)
  }
  const first = await server.browse((await begin(daemon)).authorization_url)
  t.like((await daemon.request('POST', `${base}/files/logout`)).body, { logged_out: true })
  t.deepEqual(codeOf(await finish(first)), [400, 'mcp_oauth_login_unknown'])
  let answer = (): void => {}
  const held = new Promise<void>((resolve) => {
    answer = resolve
  })
  server.on('/token', async () => {
    await held
    return undefined
  })
  const second = finish(await server.browse((await begin(daemon)).authorization_url))
  while (server.at('/token').length === 0) await new Promise((resolve) => setImmediate(resolve))
  await daemon.request('POST', `${base}/files/logout`)
  answer()
  t.deepEqual(codeOf(await second), [409, 'mcp_oauth_login_refused'])
  t.like(await view(daemon), { state: 'login_required' })
  t.is(server.good.size + server.refreshes.size, 0, 'what came too late is taken back')
})

test('mcp-oauth-8: tokens stay with the address that they were asked for', async (t) => {
  const { server, daemon, root } = await start(t)
  await logIn(daemon, server)
  await daemon.stop()
  writeFileSync(join(root, 'config', 'mcp.toml'), listed(`${server.origin}/other`))
  const next = await startTestDaemon(t, { root })
  t.like(await view(next), { state: 'login_required', reason: 'its account is for another address than url says now' })
  t.deepEqual(codeOf(await next.request('POST', `${base}/files/refresh`)), [409, 'mcp_oauth_login_required'])
})

test('mcp-oauth-9: a client that was registered is registered once, one of the operator not at all', async (t) => {
  const { server, daemon } = await start(t)
  await logIn(daemon, server)
  await logIn(daemon, server)
  t.is(server.at('/register').length, 1)
  const half = await daemon.request('POST', `${base}/files/login`, { client_secret_ref: 'nobody' })
  t.deepEqual(codeOf(half), [400, 'mcp_oauth_client_incomplete'])
  await daemon.request('POST', '/v1/runtime/secrets', { slot_id: 'client', state: { value: 'canary-own' } })
  const { authorization_url } = await begin(daemon, { client_id: 'own', client_secret_ref: 'client' })
  t.is(new URL(authorization_url).searchParams.get('client_id'), 'own')
  const back = new URL(await server.browse(authorization_url))
  await daemon.request('GET', `${back.pathname}${back.search}`)
  t.is(server.at('/register').length, 1)
  t.like(Object.fromEntries(server.at('/token').at(-1)?.form ?? []), { client_id: 'own', client_secret: 'canary-own' })
})

test('mcp-oauth-9: at another authorization server, and for another address of the daemon, another client is registered', async (t) => {
  const { server, daemon, root } = await start(t)
  await logIn(daemon, server)
  const other = await startOauthServer(t)
  server.on('/.well-known/oauth-protected-resource/mcp', () => ({
    body: { resource: server.url, authorization_servers: [other.origin] },
  }))
  const { authorization_url } = await begin(daemon)
  t.true(authorization_url.startsWith(other.origin), authorization_url)
  t.deepEqual(
    [server, other].map((one) => one.at('/register').length),
    [1, 1],
  )
  await daemon.stop()
  const next = await startTestDaemon(t, { root })
  server.on('/.well-known/oauth-protected-resource/mcp', () => undefined)
  const { redirect_uri } = await begin(next)
  t.deepEqual(
    server.at('/register').map(({ body }) => JSON.parse(body).redirect_uris.includes(redirect_uri)),
    [false, true],
  )
})

test('mcp-oauth-3: the command line logs in, tells, refreshes and logs out', async (t) => {
  const { server, daemon } = await start(t)
  const line = createCommandLine(daemon)
  t.regex((await line('mcp', 'oauth', 'status')).out, /^files {2}needs a login: nobody has logged in yet\n/u)
  const typing = line('mcp', 'oauth', 'login', 'files')
  while ((await view(daemon)).state !== 'login_pending') await new Promise((resolve) => setImmediate(resolve))
  const { form } = { form: await begin(daemon) }
  const back = new URL(await server.browse(form.authorization_url))
  await daemon.request('GET', `${back.pathname}${back.search}`)
  const typed = await typing
  t.regex(typed.out, /Open this address in a browser, within (?:9|10) min/u)
  t.regex((await line('mcp', 'oauth', 'refresh', 'files')).out, /^files {2}logged in/u)
  t.is((await line('mcp', 'oauth', 'logout', 'files')).out, 'Logged out of files.\n')
})

test('mcp-oauth-13: a login connects the server, a refresh leaves the connection, a logout ends it', async (t) => {
  const { server, daemon } = await start(t)
  const states = async (): Promise<any> => (await daemon.request('GET', '/v1/runtime/mcp/servers')).body.servers[0]
  const until = async (holds: (state: any) => boolean): Promise<void> => {
    while (!holds(await states())) await new Promise((resolve) => setImmediate(resolve))
  }
  await until(({ problem }) => /needs a login/u.test(problem))
  t.is(server.at('/mcp').length, 0, 'without an account it is not asked')
  await logIn(daemon, server)
  await until(({ state, tool_count }) => state === 'connected' && tool_count === 1)
  const greetings = () => server.at('/mcp').filter(({ body }) => body.includes('"initialize"') && body.includes('2.0'))
  const before = greetings().length
  await daemon.request('POST', `${base}/files/refresh`)
  t.is((await states()).state, 'connected')
  t.is(greetings().length, before)
  await daemon.request('POST', `${base}/files/logout`)
  await until(({ state, problem }) => state !== 'connected' && /was revoked/u.test(problem))
})
