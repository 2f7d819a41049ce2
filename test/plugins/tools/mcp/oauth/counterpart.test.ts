/** A login at an authorization server that others wrote. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { OAuth2Server } from 'oauth2-mock-server'
import { freshRoot, startTestDaemon } from '../../../../support/daemon.js'
import { startOauthServer } from '../../../../support/oauth-server.js'

const base = '/v1/runtime/mcp/oauth/files'

test('mcp-oauth-1, mcp-oauth-4: an OpenID server checks what the daemon sends it, and its tokens are kept and renewed', async (t) => {
  const issuer = new OAuth2Server()
  await issuer.issuer.keys.generate('RS256')
  await issuer.start(0, '127.0.0.1')
  t.teardown(() => issuer.stop())
  const at = String(issuer.issuer.url).replace('localhost', '127.0.0.1')
  issuer.issuer.url = at
  const server = await startOauthServer(t)
  server.on('/.well-known/oauth-protected-resource/mcp', () => ({
    body: { resource: server.url, authorization_servers: [at] },
  }))
  const root = await freshRoot()
  mkdirSync(join(root, 'config'))
  const entry = `url = "${server.url}"\noauth_slot_ref = "mcp.files"\nallow_private_network = true\n`
  writeFileSync(join(root, 'config', 'mcp.toml'), `[mcp_servers.files]\n${entry}`)
  const daemon = await startTestDaemon(t, { root })
  const begin = async () => (await daemon.request('POST', `${base}/login`, { client_id: 'holdfast' })).body
  const finish = async (address: string) => {
    const { pathname, search } = new URL(await server.browse(address))
    return daemon.request('GET', `${pathname}${search}`)
  }
  const forged = new URL((await begin()).authorization_url)
  forged.searchParams.set('code_challenge', 'A'.repeat(43))
  t.is((await finish(forged.href)).status, 409, 'its code belongs to another verifier')
  t.is((await finish((await begin()).authorization_url)).status, 200)
  t.like((await daemon.request('GET', base)).body, {
    state: 'logged_in',
    issuer: at,
    client_id: 'holdfast',
    version: 1,
  })
  let form: unknown
  issuer.service.once('beforeResponse', (_, { body }) => {
    form = body
  })
  t.like((await daemon.request('POST', `${base}/refresh`)).body, { state: 'logged_in', version: 2 })
  t.like(form, { grant_type: 'refresh_token', client_id: 'holdfast', resource: server.url })
  issuer.service.once('beforeResponse', (response) => {
    response.statusCode = 400
    response.body = { error: 'invalid_grant' }
  })
  t.is((await daemon.request('POST', `${base}/refresh`)).status, 409)
  t.like((await daemon.request('GET', base)).body, { state: 'login_required' })
  t.is((await finish((await begin()).authorization_url)).status, 200)
  t.like((await daemon.request('POST', `${base}/logout`)).body, {
    logged_out: true,
    told_server: true,
    reason: undefined,
  })
})
