/**
 * An MCP server that asks for tokens, and the authorization server that gives them, on one port. Everything that it
 * answers can be replaced, so that it can also be hostile.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'

/** One request as it came. */
export interface OauthAsked {
  readonly path: string
  readonly form: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: string
}
/** How one request is answered: 200 and nothing when absent. */
export type OauthAnswer = {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: unknown
}
type Answers = (asked: OauthAsked) => OauthAnswer | undefined | Promise<OauthAnswer | undefined>

export interface OauthServer {
  readonly url: string
  readonly origin: string
  readonly asked: OauthAsked[]
  /** Tokens that the MCP server takes now. */
  readonly good: Set<string>
  /** Refresh tokens that can be used now, each once. */
  readonly refreshes: Set<string>
  /** In place of what a path answers; undefined leaves it. Takes the place of what was set before. */
  on(path: string, answers: Answers): void
  at(path: string): OauthAsked[]
  /** What a browser does with an address: where it is sent to. */
  browse(address: string): Promise<string>
}

const paths = {
  resource: '/.well-known/oauth-protected-resource/mcp',
  metadata: '/.well-known/oauth-authorization-server',
} as const

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

/** As much of MCP as a client needs to call one tool. */
const speak = (body: string): OauthAnswer => {
  const { id, method, params } = JSON.parse(body)
  if (id === undefined) return { status: 202 }
  const result =
    method === 'initialize'
      ? {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'fixture', version: '1' },
        }
      : method === 'tools/list'
        ? { tools: [{ name: 'echo', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }] }
        : method === 'tools/call'
          ? { content: [{ type: 'text', text: 'echoed' }] }
          : {}
  return { body: { jsonrpc: '2.0', id, result } }
}

const send = (response: ServerResponse, { status = 200, headers = {}, body = '' }: OauthAnswer): void => {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
}

export const startOauthServer = async (t: ExecutionContext<any>): Promise<OauthServer> => {
  const asked: OauthAsked[] = []
  const [good, refreshes] = [new Set<string>(), new Set<string>()]
  const codes = new Map<string, { readonly challenge: string; readonly client: string; readonly redirect: string }>()
  const replaced = new Map<string, Answers>()
  let made = 0
  const giveTokens = (scope: string): OauthAnswer => {
    made += 1
    const [access_token, refresh_token] = [`canary-access-${made}`, `canary-refresh-${made}`]
    good.clear()
    good.add(access_token)
    refreshes.add(refresh_token)
    return { body: { access_token, refresh_token, token_type: 'Bearer', expires_in: 3600, scope } }
  }
  const token = ({ form }: OauthAsked): OauthAnswer => {
    if (form.get('grant_type') === 'refresh_token') {
      const given = form.get('refresh_token') ?? ''
      return refreshes.delete(given) ? giveTokens('read write') : { status: 400, body: { error: 'invalid_grant' } }
    }
    const code = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const fits = code?.challenge === challenge && code.redirect === form.get('redirect_uri')
    return fits ? giveTokens('read write') : { status: 400, body: { error: 'invalid_grant' } }
  }
  const authorize = ({ form }: OauthAsked): OauthAnswer => {
    made += 1
    const code = `canary-code-${made}`
    const redirect = form.get('redirect_uri') ?? ''
    codes.set(code, { challenge: form.get('code_challenge') ?? '', client: form.get('client_id') ?? '', redirect })
    const back = new URL(redirect)
    back.searchParams.set('code', code)
    back.searchParams.set('state', form.get('state') ?? '')
    back.searchParams.set('iss', origin)
    return { status: 302, headers: { location: back.href } }
  }
  const mcp = ({ headers, body }: OauthAsked): OauthAnswer =>
    good.has(headers.authorization?.slice('Bearer '.length) ?? '')
      ? speak(body)
      : {
          status: 401,
          headers: { 'www-authenticate': `Bearer resource_metadata="${origin}${paths.resource}", scope="read write"` },
        }
  const answer = (one: OauthAsked): OauthAnswer => {
    switch (one.path) {
      case '/mcp':
        return mcp(one)
      case paths.resource:
        return { body: { resource: `${origin}/mcp`, authorization_servers: [origin], scopes_supported: ['read'] } }
      case paths.metadata:
        return {
          body: {
            issuer: origin,
            authorization_endpoint: `${origin}/authorize`,
            token_endpoint: `${origin}/token`,
            registration_endpoint: `${origin}/register`,
            revocation_endpoint: `${origin}/revoke`,
            response_types_supported: ['code'],
            code_challenge_methods_supported: ['S256'],
            token_endpoint_auth_methods_supported: ['client_secret_post'],
            authorization_response_iss_parameter_supported: true,
          },
        }
      case '/register':
        made += 1
        return {
          status: 201,
          body: { ...JSON.parse(one.body), client_id: `client-${made}`, client_secret: `canary-client-${made}` },
        }
      case '/authorize':
        return authorize(one)
      case '/token':
        return token(one)
      case '/revoke':
        refreshes.delete(one.form.get('token') ?? '')
        good.delete(one.form.get('token') ?? '')
        return {}
      default:
        return { status: 404 }
    }
  }
  const server = createServer((request, response) => {
    void (async () => {
      const body = await readBody(request)
      const { pathname, search } = new URL(request.url ?? '/', 'http://x')
      const form = new URLSearchParams(search === '' ? body : search)
      const one: OauthAsked = { path: pathname, form, headers: request.headers, body }
      asked.push(one)
      send(response, (await replaced.get(pathname)?.(one)) ?? answer(one))
    })().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `${origin}/mcp`,
    origin,
    asked,
    good,
    refreshes,
    on: (path, answers) => void replaced.set(path, answers),
    at: (path) => asked.filter((one) => one.path === path),
    async browse(address) {
      const { headers } = await fetch(address, { redirect: 'manual' })
      return headers.get('location') ?? ''
    },
  }
}
