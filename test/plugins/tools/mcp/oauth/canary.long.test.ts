/** Values of logins, accounts and leases, looked for in all that a daemon leaves and says at its most talkative. */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { formsOf } from '../../../../support/canaries.js'
import { createCommandLine } from '../../../../support/command-line.js'
import { freshRoot, spawnTestDaemon } from '../../../../support/daemon.js'
import { serverIn } from '../../../../support/mcp.js'
import { startOauthServer } from '../../../../support/oauth-server.js'
import { openSession, submit, until } from '../../../../support/runs.js'
import { openStream } from '../../../../support/sse.js'

const base = '/v1/runtime/mcp/oauth'

test('mcp-oauth-14: codes, verifiers, tokens and the secrets of clients stand nowhere: not in the root, a backup, the log, an answer or an event', async (t) => {
  const server = await startOauthServer(t)
  const [root, backups] = [await freshRoot(), await freshRoot()]
  mkdirSync(join(root, 'config'))
  const entry = { url: server.url, oauth_slot_ref: 'mcp.files', allow_private_network: true }
  const lines = Object.entries(entry).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
  writeFileSync(join(root, 'config', 'mcp.toml'), `[mcp_servers.files]\n${lines.join('\n')}\n`)
  const daemon = await spawnTestDaemon(t, {
    root,
    flags: ['--debug-level=full', '--log-level=debug', '--permission-mode=bypassPermissions'],
  })
  const said: string[] = []
  const states: string[] = []
  const ask: typeof daemon.request = async (...given) => {
    const got = await daemon.request(...given)
    said.push(JSON.stringify(got.headers), got.text)
    return got
  }
  const stream = openStream({ port: Number(new URL(daemon.url).port), path: '/v1/events/stream' })
  const logIn = async () => {
    const { authorization_url } = (await daemon.request('POST', `${base}/files/login`)).body
    states.push(new URL(authorization_url).searchParams.get('state') ?? '')
    const back = new URL(await server.browse(authorization_url))
    return ask('GET', `${back.pathname}${back.search}`)
  }
  const echo = ({ form, headers }: { form: URLSearchParams; headers: object }) => ({
    status: 400,
    headers: { 'x-echo': String(form) },
    body: { error: String(form), error_description: `${String(form)} ${JSON.stringify(headers)}` },
  })
  t.is((await logIn()).status, 200)
  // A server that tells models all that it and its authorization server were sent.
  server.on('/mcp', ({ body, headers }) => {
    const { id, method } = JSON.parse(body === '' ? '{}' : body)
    if (method !== 'tools/call') return undefined
    const sent = server.asked.map((one) => `${one.headers.authorization} ${[...one.form.values()].join(' ')}`)
    const text = `${headers.authorization} ${sent.join('\n')}`
    return { body: { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } } }
  })
  await serverIn(daemon, 'files')
  await openSession({ ...daemon, request: ask })
  const work =
    '/tool bash {"command":"env; tr \\"\\\\0\\" \\"\\\\n\\" < /proc/self/environ"}\n/tool mcp__files__echo {}'
  said.push(JSON.stringify(await until(daemon, (await submit(daemon, 's1', work)).run_id, 'completed')))
  t.regex((await ask('GET', '/v1/sessions/s1/events')).text, /Bearer \[redacted\]/u, 'models are told what is left')
  t.is((await ask('POST', `${base}/files/refresh`)).status, 200)
  server.on('/token', echo)
  t.true((await ask('POST', `${base}/files/refresh`)).status >= 400)
  t.true((await logIn()).status >= 400)
  server.on('/token', () => undefined)
  server.on('/register', ({ body }) => ({ status: 400, body: `no: ${body}` }))
  t.is((await logIn()).status, 200)
  const { authorization_url } = (await daemon.request('POST', `${base}/files/login`)).body
  const { searchParams } = new URL(authorization_url)
  const state = searchParams.get('state') ?? ''
  states.push(state)
  const { pathname } = new URL(searchParams.get('redirect_uri') ?? '')
  t.true((await ask('GET', `${pathname}?state=${state}&error=${state}`)).status >= 400)
  server.on('/revoke', echo)
  const { body: document } = await daemon.request('GET', '/v1/openapi.json')
  const ids: Record<string, string> = {
    session_id: 's1',
    server: 'files',
    slot_id: 'mcp.files',
    secret_ref: 'mcp.files',
  }
  const reads = Object.entries<object>(document.paths)
    .filter(([path, methods]) => 'get' in methods && !/stream|callback/u.test(path))
    .map(([path]) => path.replace(/\{(\w+)\}/gu, (_, name: string) => ids[name] ?? 'none'))
  t.true(reads.length > 40, String(reads.length))
  for (const path of reads) await ask('GET', path)
  await ask('POST', `${base}/files/logout`)
  const line = createCommandLine(daemon)
  for (const words of [
    ['mcp', 'oauth', 'status'],
    ['backup', 'create', join(backups, 'b'), '--state-root', root],
  ])
    said.push(JSON.stringify(await line(...words)))
  await daemon.stop()
  said.push(daemon.logText(), JSON.stringify(stream?.frames))
  stream?.close()
  const sent = server
    .at('/token')
    .flatMap(({ form }) => ['code', 'code_verifier', 'refresh_token', 'client_secret'].map((name) => form.get(name)))
  const bearers = server.at('/mcp').map(({ headers }) => headers.authorization?.slice('Bearer '.length))
  const values = [...new Set([...sent, ...bearers, ...states])].filter((value) => typeof value === 'string')
  t.true(values.length > 9, 'they were used')
  const forms = values.flatMap(formsOf).filter((form) => form.length > 7)
  const found = (where: string, bytes: Buffer): string[] =>
    forms.filter((form) => bytes.includes(form)).map((form) => `${where} holds ${form}`)
  const below = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name))
      .flatMap((path) => found(path, readFileSync(path)))
  t.deepEqual(
    said.flatMap((text, at) => found(`answer ${at}: ${text.slice(0, 300)}`, Buffer.from(text))),
    [],
  )
  t.deepEqual(below(root), [])
  t.deepEqual(below(backups), [])
})
