/** Literal secrets in files and settings of operators, looked for in all that a daemon leaves, says and starts. */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { formsOf } from '../support/canaries.js'
import { createCommandLine } from '../support/command-line.js'
import { freshRoot, spawnTestDaemon } from '../support/daemon.js'
import { eventually, planned, writeServers } from '../support/mcp.js'
import { startReceiver, type Answerer } from '../support/receiver.js'
import { submit, until } from '../support/runs.js'
import { openStream } from '../support/sse.js'

const canaries = {
  fileCommand: 'canary-in-a-command/+=1',
  fileUrl: 'canary-in-a-path-2',
  template: 'canary-in-a-template-3~!',
  setCommand: 'canary-set-in-a-command/+=4',
  setUrl: 'canary-set-in-a-path-5',
  mcpEnv: 'canary-in-an-environment/+=6',
  mcpArgument: 'canary-in-an-argument-10~!',
  mcpPair: 'canary-in-a-pair-of-arguments-11~!',
  mcpQuery: 'canary-in-a-query-12~!',
  mcpHeader: 'canary-in-a-header-7~!',
  reply: 'canary-of-a-receiver/+=8',
}
const [admin, reader] = ['admin-token-of-a-test-aaaa', 'reader-token-of-a-test-bbbb']

const looker = (values: readonly string[]) => {
  // The beginning of a value stands where a text was cut before it was redacted.
  const forms = values.flatMap((value) => [...formsOf(value), value.slice(0, 16)])
  return (where: string, bytes: Buffer): string[] =>
    forms.filter((form) => bytes.includes(form)).map((form) => `${where} holds ${form}`)
}
const foundBelow = (folder: string, look: (where: string, bytes: Buffer) => string[]): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('/config'))
    .map((entry) => join(entry.parentPath, entry.name))
    .flatMap((path) => look(path, readFileSync(path)))

const hook = (event: string, executor: object): string =>
  `event = "${event}"\nexecutor = { ${Object.entries(executor)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    .join(', ')} }\n`

test('hooks-17, mcp-4, deliveries-32, secrets-25: literal secrets of hooks, MCP servers and reply targets stand nowhere but where they were given', async (t) => {
  const receiver = await startReceiver(t)
  const echo: Answerer = ({ headers, path, body }, response) => {
    response.statusCode = 500
    response.setHeader('x-echo', path)
    response.end(JSON.stringify({ headers, path, body }))
  }
  for (const path of [`/hook/${canaries.fileUrl}`, `/hook/${canaries.setUrl}`]) receiver.on(path, echo)
  receiver.on('/reply', (received, response, count) =>
    count === 1 ? echo(received, response, count) : response.end('ok'),
  )
  const [root, backups, workspace] = [await freshRoot(), await freshRoot(), await freshRoot()]
  const at = `http://127.0.0.1:${receiver.port}`
  mkdirSync(join(root, 'config'))
  const write = (file: string, text: string) => writeFileSync(join(root, 'config', file), text, { mode: 0o600 })
  write('http.toml', 'allow_cidrs = ["127.0.0.0/8"]\n')
  write(
    'hooks.toml',
    `allow_cidrs = ["127.0.0.0/8"]\n` +
      `[hooks.command]\n${hook('stop', { type: 'command', command: `TOKEN=${canaries.fileCommand} true; env > seen; exit 3` })}` +
      `[hooks.web]\n${hook('stop', { type: 'http', url: `${at}/hook/${canaries.fileUrl}` })}` +
      `[hooks.judge]\n${hook('stop', { type: 'prompt', template: `The word is ${canaries.template}.` })}`,
  )
  const shown = planned({ shows: ['API_TOKEN'] }, { env: { API_TOKEN: canaries.mcpEnv } })
  const mcpPath = `/mcp?api_key=${canaries.mcpQuery}`
  receiver.on(mcpPath, echo)
  await writeServers(root, {
    shown: { ...shown, args: [...shown.args, `--token=${canaries.mcpArgument}`, '--api-key', canaries.mcpPair] },
    web: { url: `${at}${mcpPath}`, allow_private_network: true, headers: { 'x-own-token': canaries.mcpHeader } },
  })
  const daemon = await spawnTestDaemon(t, {
    root,
    flags: [
      '--debug-level=full',
      '--log-level=debug',
      '--permission-mode=bypassPermissions',
      `--workspace-root=${workspace}`,
      `--http-admin-token=${admin}`,
      `--http-readonly-token=${reader}`,
    ],
  })
  const said: string[] = []
  const as = (token: string) => ({ authorization: `Bearer ${token}` })
  const ask: typeof daemon.request = (method, path, body) => daemon.request(method, path, body, as(admin))
  const read = async (path: string): Promise<void> => {
    const got = await daemon.request('GET', path, undefined, as(reader))
    said.push(JSON.stringify(got.headers), got.text)
  }
  const port = Number(new URL(daemon.url).port)
  const stream = openStream({ port, path: '/v1/events/stream', headers: as(reader) })
  await eventually(async () => {
    const { servers } = (await ask('GET', '/v1/runtime/mcp/servers')).body
    return servers.some(({ name, state }: any) => name === 'shown' && state === 'connected') ? true : undefined
  })
  await ask('POST', '/v1/sessions', { session_id: 's1' })
  const target = { reply_targets: [{ type: 'http', url: `${at}/reply`, headers: { 'x-own-token': canaries.reply } }] }
  const put = await ask('PUT', '/v1/sessions/s1/reply-targets', target)
  t.is(put.status, 200, put.text)
  said.push(put.text)
  const work = '/tool bash {"command":"env; tr \\"\\\\0\\" \\"\\\\n\\" < /proc/self/environ"}\n/say Done'
  const run = async (): Promise<void> => {
    const { run_id } = await submit({ request: ask }, 's1', work)
    await until({ request: ask }, run_id, 'completed')
    for (const path of ['', '/events', '/external-actions', '/debug']) await read(`/v1/runs/${run_id}${path}`)
  }
  await run()
  const hooks = {
    stop: [
      { name: 'command', executor: { type: 'command', command: `: ${canaries.setCommand}; exit 4` } },
      { name: 'web', executor: { type: 'http', url: `${at}/hook/${canaries.setUrl}` } },
      { name: 'judge', executor: { type: 'prompt', template: canaries.template, system_prompt: canaries.template } },
    ],
  }
  const set = await ask('POST', '/v1/runtime/hooks', { hooks })
  t.is(set.status, 200)
  said.push(set.text)
  t.is((await ask('POST', '/v1/runtime/hooks', { hooks: { stop: [{ name: canaries.setUrl }] } })).status, 400)
  await run()
  // Wherever what it says is cut, a value is cut in two.
  const babbles = { type: 'command', command: `yes '${canaries.mcpHeader}' | head -c 20000 >&2; exit 2` }
  const guards = { pre_tool_use: [{ name: 'babbles', executor: babbles }] }
  t.is((await ask('POST', '/v1/runtime/hooks', { hooks: guards })).status, 200)
  await run()
  await receiver.until(() => receiver.at('/reply').length > 1, 'a second attempt')
  const { body: document } = await ask('GET', '/v1/openapi.json')
  const ids: Record<string, string> = { session_id: 's1', server: 'web' }
  const reads = Object.entries<object>(document.paths)
    .filter(([path, methods]) => 'get' in methods && !/stream|callback/u.test(path))
    .map(([path]) => path.replace(/\{(\w+)\}/gu, (_, name: string) => ids[name] ?? 'none'))
  t.true(reads.length > 40, String(reads.length))
  for (const path of reads) await read(path)
  const line = createCommandLine(daemon)
  for (const words of [
    ['status'],
    ['runtime', 'get'],
    ['runtime', 'hooks', 'dead-letter'],
    ['deliveries', 'list'],
    ['backup', 'create', join(backups, 'b'), '--state-root', root],
  ])
    said.push(JSON.stringify(await line(...words, `--token=${admin}`)))
  t.true(
    (await ask('GET', '/v1/runtime/hooks/dead-letter')).body.dead_letters.length >= 4,
    'hooks were asked, and failed',
  )
  t.true(
    receiver.at(mcpPath).length > 0 &&
      receiver.at(mcpPath).every(({ headers }) => headers['x-own-token'] === canaries.mcpHeader),
  )
  t.is(receiver.at('/reply')[0]?.headers['x-own-token'], canaries.reply)
  await daemon.stop()
  said.push(daemon.logText(), JSON.stringify(stream.frames), readFileSync(join(workspace, 'seen'), 'utf8'))
  stream.close()
  const look = looker(Object.values(canaries))
  t.deepEqual(
    said.flatMap((text, n) => look(`answer ${n}: ${text.slice(0, 200)}`, Buffer.from(text))),
    [],
  )
  t.deepEqual(foundBelow(root, look), [])
  t.deepEqual(foundBelow(backups, look), [])
  t.true(readdirSync(backups).length > 0)
})
