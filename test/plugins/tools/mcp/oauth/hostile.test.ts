/** An authorization server that is wrong, broken or evil. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { freshRoot, startTestDaemon } from '../../../../support/daemon.js'
import { startOauthServer, type OauthAnswer, type OauthServer } from '../../../../support/oauth-server.js'

const [resource, metadata] = ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-authorization-server']

const start = async (t: ExecutionContext<any>) => {
  const server = await startOauthServer(t)
  const root = await freshRoot()
  mkdirSync(join(root, 'config'))
  const entry = { url: server.url, oauth_slot_ref: 'mcp.files', allow_private_network: true }
  const lines = Object.entries(entry).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
  writeFileSync(join(root, 'config', 'mcp.toml'), `[mcp_servers.files]\n${lines.join('\n')}\n`)
  const daemon = await startTestDaemon(t, { root })
  const begin = () => daemon.request('POST', '/v1/runtime/mcp/oauth/files/login')
  const finish = async (address: string) => {
    const { pathname, search } = new URL(await server.browse(address))
    return daemon.request('GET', `${pathname}${search}`)
  }
  return { server, daemon, begin, finish }
}

/** What the metadata of the authorization server are, but for this. */
const metadataBut = (server: OauthServer, other: object) => (): OauthAnswer => ({
  body: {
    issuer: server.origin,
    authorization_endpoint: `${server.origin}/authorize`,
    token_endpoint: `${server.origin}/token`,
    registration_endpoint: `${server.origin}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    ...other,
  },
})
const responsible =
  (server: OauthServer, ...authorization_servers: string[]) =>
  (): OauthAnswer => ({
    body: { resource: server.url, authorization_servers },
  })

test('mcp-oauth-12: discovery goes nowhere but where the entry lets it, follows no redirect, and reads no more than it must', async (t) => {
  const { server, daemon, begin } = await start(t)
  const bystander = await startOauthServer(t)
  const elsewhere = bystander.origin.replace('127.0.0.1', '127.0.0.2')
  const sendTo = (location: string) => (): OauthAnswer => ({ status: 302, headers: { location } })
  const cases: readonly (readonly [
    string,
    (() => OauthAnswer) | undefined,
    (() => OauthAnswer) | undefined,
    RegExp,
  ])[] = [
    ['a redirect', sendTo(`${bystander.origin}/x`), undefined, /does not fit/u],
    ['a redirect to a cloud', sendTo('http://169.254.169.254/latest'), undefined, /does not fit/u],
    ['another loopback', responsible(server, elsewhere), undefined, /outbound_address_refused/u],
    ['a private address', responsible(server, 'https://10.0.0.1'), undefined, /outbound_address_refused/u],
    ['a cloud', responsible(server, 'https://[::ffff:169.254.169.254]'), undefined, /outbound_address_refused/u],
    ['no TLS', responsible(server, 'http://auth.example'), undefined, /not https/u],
    ['a file', responsible(server, 'file:///etc/passwd'), undefined, /does not fit|not https/u],
    ['100 MB', () => ({ body: Buffer.alloc(100 * 1024 * 1024, 'x') }), undefined, /outbound_answer_too_large/u],
    ['garbage', () => ({ body: '<html>' }), undefined, /does not fit/u],
    ['nesting', () => ({ body: '['.repeat(100_000) }), undefined, /does not fit/u],
    ['an error', () => ({ status: 500 }), undefined, /does not fit/u],
    ['another resource', () => ({ body: { resource: 'https://bank.example/' } }), undefined, /another resource/u],
    ['another issuer', undefined, metadataBut(server, { issuer: 'https://bank.example' }), /another issuer/u],
    [
      'no PKCE',
      undefined,
      metadataBut(server, { code_challenge_methods_supported: undefined }),
      /does not support PKCE/u,
    ],
    [
      'plain PKCE',
      undefined,
      metadataBut(server, { code_challenge_methods_supported: ['plain'] }),
      /does not support PKCE/u,
    ],
    [
      'a script',
      undefined,
      metadataBut(server, { authorization_endpoint: 'javascript:alert(1)' }),
      /does not fit|not https/u,
    ],
    [
      'an open page',
      undefined,
      metadataBut(server, { authorization_endpoint: 'http://a.example/' }),
      /endpoint is not https/u,
    ],
    ['an open register', undefined, metadataBut(server, { registration_endpoint: 'http://a.example/' }), /not https/u],
    [
      'a private register',
      undefined,
      metadataBut(server, { registration_endpoint: 'https://10.0.0.1/' }),
      /address_refused/u,
    ],
    ['no register', undefined, metadataBut(server, { registration_endpoint: undefined }), /registers no clients/u],
  ]
  for (const [name, ofResource, ofServer, reason] of cases) {
    server.on(resource, () => ofResource?.())
    server.on(metadata, () => ofServer?.())
    const { status, body, text } = await begin()
    t.deepEqual([status, body.code], [502, 'mcp_oauth_failed'], `${name}: ${text}`)
    t.regex(body.detail, reason, name)
  }
  t.is(bystander.asked.length, 0)
  t.is(server.at('/token').length, 0)
  t.deepEqual((await daemon.request('GET', '/v1/runtime/secrets')).body, [])
})

test('mcp-oauth-12: tokens that no header may carry are not stored', async (t) => {
  const { server, daemon, begin, finish } = await start(t)
  const good = { access_token: 'canary', token_type: 'Bearer' }
  const cases: readonly (readonly [string, OauthAnswer, RegExp])[] = [
    ['a line feed', { body: { ...good, access_token: 'canary\nx-evil: 1' } }, /characters/u],
    ['a blank', { body: { ...good, access_token: 'canary two' } }, /characters/u],
    ['none', { body: { ...good, access_token: '' } }, /characters/u],
    ['a long one', { body: { ...good, access_token: 'x'.repeat(20_000) } }, /characters/u],
    ['a bad refresh token', { body: { ...good, refresh_token: 'canary\r\n' } }, /characters/u],
    ['another kind', { body: { ...good, token_type: 'mac' } }, /no bearer/u],
    ['no token', { body: { token_type: 'Bearer' } }, /does not fit/u],
    ['garbage', { body: 'canary' }, /does not fit/u],
    ['an error in a 200', { body: { error: 'invalid_scope' } }, /invalid_scope/u],
    ['a redirect', { status: 307, headers: { location: 'http://169.254.169.254/' } }, /error of its own|does not fit/u],
    ['much', { body: Buffer.alloc(1024 * 1024, 'x') }, /outbound_answer_too_large/u],
  ]
  for (const [name, answer, reason] of cases) {
    server.on('/token', () => answer)
    const { status, body, text } = await finish((await begin()).body.authorization_url)
    t.true([409, 502].includes(status), `${name}: ${text}`)
    t.regex(body.detail, reason, name)
    t.false(text.includes('canary'), name)
  }
  t.deepEqual((await daemon.request('GET', '/v1/runtime/secrets')).body, [])
})
