/** Scopes that a server asks for while it is used. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { freshRoot, startTestDaemon, type Reachable } from '../../../../support/daemon.js'
import { eventually, serverIn } from '../../../../support/mcp.js'
import { startOauthServer, type OauthAsked, type OauthServer } from '../../../../support/oauth-server.js'

const base = '/v1/runtime/mcp/oauth/files'
const methodOf = ({ body }: OauthAsked): string => JSON.parse(body === '' ? '{}' : body).method ?? ''

const start = async (t: ExecutionContext<any>, toml = '') => {
  const server = await startOauthServer(t)
  const root = await freshRoot()
  mkdirSync(join(root, 'config'))
  const entry = `url = "${server.url}"\noauth_slot_ref = "mcp.files"\nallow_private_network = true\n${toml}`
  writeFileSync(join(root, 'config', 'mcp.toml'), `[mcp_servers.files]\n${entry}`)
  return { server, daemon: await startTestDaemon(t, { root }) }
}

/** Scopes that a login asks for. */
const logIn = async ({ request }: Reachable, server: OauthServer): Promise<string | null> => {
  const { authorization_url } = (await request('POST', `${base}/login`)).body
  const { pathname, search } = new URL(await server.browse(authorization_url))
  await request('GET', `${pathname}${search}`)
  return new URL(authorization_url).searchParams.get('scope')
}

const lacks = (scope: string) => ({
  status: 403,
  headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
})

const warned = async ({ request }: Reachable): Promise<any> =>
  (await request('GET', '/v1/status')).body.health.warnings.find(({ code }: any) => code === 'mcp_scopes_missing')

test('mcp-oauth-15: scopes that a server says a request lacked are told, and the next login asks for them beside those that the account has', async (t) => {
  const { server, daemon } = await start(t)
  await logIn(daemon, server)
  await serverIn(daemon, 'files')
  server.on('/mcp', (one) => (methodOf(one) === 'tools/call' ? lacks('admin delete') : undefined))
  const call = () => daemon.request('POST', '/v1/runtime/mcp/tools/mcp__files__echo/call', { input: {} })
  const noScope = { 'www-authenticate': 'Bearer error="invalid_request", scope="other"' }
  server.on('/mcp', (one) => (methodOf(one) === 'tools/call' ? { status: 403, headers: noScope } : undefined))
  t.is((await call()).body.code, 'mcp_server_unavailable')
  t.is((await daemon.request('GET', base)).body.missing_scopes, undefined, 'it does not say that scopes are lacking')
  server.on('/mcp', (one) => (methodOf(one) === 'tools/call' ? lacks('admin delete') : undefined))
  await serverIn(daemon, 'files')
  const refused = (await call()).body
  t.is(refused.code, 'mcp_server_unavailable')
  t.regex(refused.detail, /asks for scopes that its account has not \(admin delete\)/u)
  const view = (await daemon.request('GET', base)).body
  t.like(view, {
    state: 'logged_in',
    missing_scopes: ['admin', 'delete'],
    action: 'holdfast mcp oauth login files',
  })
  t.like(await warned(daemon), { related_id: 'files', action: 'holdfast mcp oauth login files' })
  server.on('/authorize', ({ form }) => ({
    status: 302,
    headers: { location: `${form.get('redirect_uri')}?error=access_denied&state=${form.get('state')}` },
  }))
  // The server asks for less than it did: what the account has is asked for nevertheless.
  server.on('/mcp', ({ headers }) =>
    headers.authorization === undefined
      ? { status: 401, headers: { 'www-authenticate': 'Bearer scope="read"' } }
      : undefined,
  )
  t.is(await logIn(daemon, server), 'read write admin delete')
  t.like(await warned(daemon), { related_id: 'files' }, 'a login that was refused has given none')
  server.on('/authorize', () => undefined)
  t.is(await logIn(daemon, server), 'read write admin delete')
  t.is((await daemon.request('GET', base)).body.action, undefined)
  t.is(await warned(daemon), undefined)
  await serverIn(daemon, 'files')
  t.false((await call()).body.output.is_error)
})

test('mcp-oauth-15: what is no scope is let go, of scopes twenty are kept, and the list of the operator stands', async (t) => {
  const { server, daemon } = await start(t, 'oauth_scopes = ["one"]')
  await logIn(daemon, server)
  await serverIn(daemon, 'files')
  const many = Array.from({ length: 30 }, (_, at) => `s${at}`)
  server.on('/mcp', (one) =>
    methodOf(one) === 'tools/call' ? lacks(['\u00e4', 'x'.repeat(201), ...many].join(' ')) : undefined,
  )
  await daemon.request('POST', '/v1/runtime/mcp/tools/mcp__files__echo/call', { input: {} })
  t.deepEqual((await daemon.request('GET', base)).body.missing_scopes, ['one', ...many.slice(0, 20)])
  t.regex((await warned(daemon)).action, /oauth_scopes of \[mcp_servers\.files\] in config\/mcp\.toml, then: /u)
  t.is(await logIn(daemon, server), 'one')
})

test('mcp-oauth-1: a server that greets everybody names its scopes when it is asked for its tools', async (t) => {
  const { server, daemon } = await start(t)
  server.on('/mcp', (one) => (methodOf(one) === 'initialize' && !one.headers.authorization ? {} : undefined))
  t.is(await logIn(daemon, server), 'read write')
})

test('mcp-18: of a server over HTTP that is connected no more it is told why', async (t) => {
  const { server, daemon } = await start(t)
  await logIn(daemon, server)
  await serverIn(daemon, 'files')
  const before = daemon.log.length
  server.on('/mcp', () => ({ status: 410, body: 'It has moved.' }))
  await daemon.request('POST', '/v1/runtime/mcp/tools/mcp__files__echo/call', { input: {} })
  const told = () => daemon.log.slice(before).find(({ fact }) => fact === 'an MCP server is not connected')
  t.regex(String((await eventually(async () => told())).details['message']), /It has moved/u)
})
