/** Prompts of servers, by hand and of one that others made. */
import { rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createCommandLine } from '../../../../support/command-line.js'
import { freshRoot, startTestDaemon } from '../../../../support/daemon.js'
import { planned, serverIn, writeServers } from '../../../../support/mcp.js'
import { codeOf } from '../../../../support/runs.js'
import { makeFolder } from '../../../../support/tools.js'

const start = async (t: ExecutionContext<any>, servers: Readonly<Record<string, object>>) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await writeServers(root, servers)
  const daemon = await startTestDaemon(t, { root })
  await daemon.request('POST', '/v1/runtime/secrets', { slot_id: 'mcp.key', state: { value: 'sesame-4711-open' } })
  await Promise.all(Object.keys(servers).map((name) => serverIn(daemon, name)))
  return {
    daemon,
    list: (server: string, query = '') => daemon.request('GET', `/v1/runtime/mcp/servers/${server}/prompts?${query}`),
    get: (server: string, name: string, given?: object) =>
      daemon.request('POST', `/v1/runtime/mcp/servers/${server}/prompts/${name}`, given && { arguments: given }),
  }
}

const message = (content: unknown, role = 'user') => ({ role, content })
const said = (text: string) => ({ type: 'text', text })

test('mcp-21: prompts are listed and got, bounded and redacted; odd ones are left out', async (t) => {
  const many = Array.from({ length: 250 }, (_, at) => ({ name: `p${at}` }))
  const prompts = [
    { name: 'one', title: 'T', description: 'Knows sesame-4711-open.', arguments: [{ name: 'a', required: true }, 7] },
    { description: 'without a name' },
    'odd',
    ...many,
  ]
  const texts = Array.from({ length: 120 }, () => message(said('x')))
  const parts = [
    message(said('Say sesame-4711-open.')),
    message({ type: 'image', mimeType: 'image/png', data: 'AAAA' }, 'assistant'),
    message(said('y'.repeat(300_000)), 'system'),
    message(undefined),
  ]
  const promptFile = join(await makeFolder(t), 'prompt.json')
  await writeFile(promptFile, JSON.stringify({ description: 'D', messages: [...parts, 'odd', ...texts] }))
  const { list, get, daemon } = await start(t, {
    many: planned({ prompts: { prompts, nextCursor: 'two' }, promptFile }, { env_secret_refs: { KEY: 'mcp.key' } }),
    refuses: planned({ prompts: { prompts: [] } }),
    none: planned({}),
  })
  const listed = (await list('many')).body
  t.deepEqual(listed.prompts[0], {
    name: 'one',
    description: 'Knows [redacted].',
    arguments: [{ name: 'a', required: true }],
  })
  t.deepEqual([listed.prompts.length, listed.prompts[1].name, listed.next_cursor], [200, 'p0', 'two'])
  t.deepEqual((await list('none')).body, { prompts: [] })
  const { body } = await get('many', 'one', { a: 'b' })
  t.is(body.messages.length, 100)
  t.deepEqual(body.messages.slice(0, 2), [
    { role: 'user', text: 'Say [redacted].' },
    { role: 'assistant', text: '[An image, image/png, 3 bytes: not shown.]' },
  ])
  t.is(body.messages[2].role, 'user')
  t.regex(body.messages[2].text, /^y{262144}\n\[Cut: 37856 more characters\.\]$/u)
  t.is(body.messages[3].text, '[A part that cannot be read.]')
  t.deepEqual(codeOf(await get('refuses', 'one')), [502, 'mcp_call_refused'])
  t.deepEqual(codeOf(await list('nobody')), [404, 'mcp_server_not_found'])
  const line = createCommandLine(daemon)
  t.regex((await line('mcp', 'prompts', 'many')).out, /^one a {2}Knows \[redacted\]\.\np0 {2}\n[^]*--cursor two\n$/u)
  t.is((await line('mcp', 'prompts', 'none')).out, 'No prompts of this MCP server.\n')
  t.regex((await line('mcp', 'prompt', 'many', 'one')).out, /^user: Say \[redacted\]\.\n\nassistant: \[An image/u)
})

test('mcp-21: prompts of a real server are listed, and got with arguments', async (t) => {
  const { resolve } = createRequire(import.meta.url)
  const program = join(dirname(resolve('@modelcontextprotocol/server-everything/package.json')), 'dist/index.js')
  const { list, get } = await start(t, { everything: { command: process.execPath, args: [program] } })
  const { prompts } = (await list('everything')).body
  const asking = prompts.find(({ arguments: given }: any) => given.some(({ required }: any) => required))
  t.truthy(asking, JSON.stringify(prompts))
  const values = Object.fromEntries(asking.arguments.map(({ name }: any) => [name, 'blue']))
  const { status, body } = await get('everything', asking.name, values)
  t.is(status, 200)
  t.regex(JSON.stringify(body.messages), /blue/u)
  t.is((await get('everything', asking.name)).status, 502, 'an argument is missing')
})
