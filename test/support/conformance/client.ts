/**
 * The daemon as a client that a judge asks: started for one scenario, with the judge's server as its only MCP server.
 * This program does what a person would do: logs in where a login is needed, and calls each tool once.
 */
import { startInProcess } from '../../../core/testing/test-daemon.js'
import { shippedPlugins } from '../../../core/shipped.js'
import { freshRoot } from '../folders.js'
import { writeServers } from '../mcp.js'

const name = 'judged'
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
const context: any = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}')
const url = process.argv[2] ?? ''
const hasAccount = scenario.startsWith('auth/')
/** A judge that asks for ever more scopes is not followed for ever. */
const mostLogins = 3
/** For a server to be connected, and for all; the judge does not end what it gave up. Milliseconds. */
const [patienceMs, lifeMs] = [40_000, 90_000]
setTimeout(() => process.exit(1), lifeMs)

const root = await freshRoot()
await writeServers(root, {
  [name]: { url, allow_private_network: true, ...(hasAccount && { oauth_slot_ref: 'mcp.judged' }) },
})
const { daemon } = await startInProcess({ root, plugins: await shippedPlugins() })

const ask = async (method: string, path: string, body?: unknown): Promise<any> => {
  const response = await fetch(new URL(path, daemon.url), {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  const text = await response.text()
  return response.headers.get('content-type')?.includes('json') === true ? JSON.parse(text) : text
}

/** The client that an operator gives where the scenario is about one: its id, or the address of its description. */
const givenClient = async (): Promise<object | undefined> => {
  if (scenario === 'auth/basic-cimd') return { client_id: 'https://conformance-test.local/client-metadata.json' }
  const { client_id, client_secret: value } = context
  if (client_id === undefined) return undefined
  const slot = { slot_id: 'mcp.client', provider: 'generic', mode: 'opaque_secret', state: { value } }
  await ask('POST', '/v1/runtime/secrets', slot)
  return { client_id, client_secret_ref: 'mcp.client' }
}

const logIn = async (): Promise<void> => {
  const { authorization_url } = await ask('POST', `/v1/runtime/mcp/oauth/${name}/login`, await givenClient())
  if (authorization_url === undefined) return
  const { headers } = await fetch(authorization_url, { redirect: 'manual' })
  const { pathname, search } = new URL(headers.get('location') ?? '')
  await ask('GET', `${pathname}${search}`)
}

const needsLogin = async (): Promise<boolean> => {
  if (!hasAccount) return false
  const { state, missing_scopes } = await ask('GET', `/v1/runtime/mcp/oauth/${name}`)
  return state === 'login_required' || missing_scopes !== undefined
}

/** True once it is connected; false when it needs a login or its time is over. */
const connected = async (): Promise<boolean> => {
  for (const end = Date.now() + patienceMs; Date.now() < end;) {
    const { servers } = await ask('GET', '/v1/runtime/mcp/servers')
    if (servers[0].state === 'connected') return true
    if (await needsLogin()) return false
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  return false
}

/** Two numbers and a schema are all that tools of the judge take. */
const callTools = async (): Promise<void> => {
  const { tools } = await ask('GET', '/v1/runtime/mcp/tools')
  const { input_schema } = await ask('GET', `/v1/runtime/mcp/tools/${tools[0]?.name}`)
  for (const tool of tools) {
    const input = tool.tool === 'json_schema_echo' ? { schema: input_schema } : { a: 5, b: 3 }
    await ask('POST', `/v1/runtime/mcp/tools/${tool.name}/call`, { input })
  }
}

for (let logins = 0; ; logins += 1) {
  if (await connected()) await callTools()
  if (logins === mostLogins || !(await needsLogin())) break
  await logIn()
}
await daemon.stop()
process.exit(0)
