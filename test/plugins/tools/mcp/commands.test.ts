import { rm, writeFile } from 'node:fs/promises'
import test from 'ava'
import { createCommandLine } from '../../../support/command-line.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { planned, serverIn, writeServers } from '../../../support/mcp.js'

test('mcp-15: commands show servers and tools, and nothing of theirs steers a terminal', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const inputSchema = { type: 'object' }
  const described = { name: 'tool', description: 'It \u001b]52;c;x\u0007 sets.\nNot a line.', inputSchema }
  await writeServers(root, { one: planned({ tools: [described, { name: 'wrong', inputSchema }] }) })
  const daemon = await startTestDaemon(t, { root })
  await serverIn(daemon, 'one')
  const line = createCommandLine(daemon)
  t.is((await line('mcp', 'list')).out, 'one  stdio  connected  2 tools\n')
  t.is(
    (await line('mcp', 'tools')).out,
    'mcp__one__tool  once  It \\u001b]52;c;x\\u0007 sets.\nmcp__one__wrong  once  The tool wrong.\n',
  )
  t.is(
    (await line('mcp', 'call', 'mcp__one__tool', '--input-json', '{"a":"\\u001b[2J"}')).out,
    'tool {"a":"\\u001b[2J"}\n',
  )
  t.regex(
    (await line('mcp', 'tool', 'mcp__one__tool')).out,
    /^mcp__one__tool {2}once\nIt \\u001b[^\n]*\nNot a line\.\n\{\n {2}"type": "object"\n\}\n$/u,
  )
  t.deepEqual(await line('mcp', 'call', 'mcp__one__wrong'), {
    code: 1,
    out: 'The tool says that it failed:\nIt failed.\n',
    err: '',
  })
  t.is((await line('mcp', 'call', 'mcp__one__wrong', '--output', 'json')).code, 1)
  t.regex((await line('mcp', 'call', 'mcp__one__none')).err, /No MCP server has a tool mcp__one__none/u)
  t.regex((await line('mcp', 'call', 'mcp__one__tool', '--input-json', '[')).err, /--input-json/u)
  const metrics = (await daemon.request('GET', '/metrics')).text
  t.regex(metrics, /^service_mcp_calls_total\{server="one",outcome="answered"\} 3$/mu)
  t.regex(metrics, /^service_mcp_servers_connected 1$/mu)
  const { body } = await daemon.request('GET', '/v1/status')
  t.like(body.mcp, { server_count: 1, connected_count: 1, tool_count: 2 })
})

test('mcp-22: a wrong input is told by its place, and a server that is not there is refused', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const inputSchema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
  await writeServers(root, {
    one: planned({ tools: [{ name: 'read', description: 'Reads.', inputSchema }] }),
    two: planned({ tools: [] }),
  })
  const daemon = await startTestDaemon(t, { root })
  await serverIn(daemon, 'one')
  const line = createCommandLine(daemon)
  t.is((await line('mcp', 'tools', '--server', 'one')).out, 'mcp__one__read  once  Reads.\n')
  t.is((await line('mcp', 'tools', '--server', 'two')).out, 'No tools of MCP servers.\n')
  const { code, err } = await line('mcp', 'call', 'mcp__one__read')
  t.is(code, 2)
  t.regex(err, /^ {2}path of --input-json is required$/mu)
  t.regex(err, /holdfast mcp tool mcp__one__read shows what the tool takes/u)
  const nosuch = await line('mcp', 'tools', '--server', 'nosuch')
  t.is(nosuch.code, 2)
  t.regex(
    nosuch.err,
    /no MCP server nosuch.*mcp_server_unknown\)\n {2}--server must be one of one, two\nName one of holdfast mcp list\./u,
  )
})

test('mcp-22: of many servers the first are named, and that there are others', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const names = Array.from({ length: 21 }, (_, at) => `server${at}`)
  await writeServers(
    root,
    Object.fromEntries(names.map((name) => [name, { url: 'http://127.0.0.1:1/', allow_private_network: true }])),
  )
  const daemon = await startTestDaemon(t, { root })
  const { err } = await createCommandLine(daemon)('mcp', 'tools', '--server', 'nosuch')
  t.regex(err, /--server must be one of server0, .*server19 and others$/mu)
})

test('mcp-32: a tool is called with mcp tools call as with mcp call, and mcp tools alone lists them', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await writeServers(root, { one: planned({ tools: [{ name: 'tool', inputSchema: { type: 'object' } }] }) })
  const daemon = await startTestDaemon(t, { root })
  await serverIn(daemon, 'one')
  const line = createCommandLine(daemon)
  const file = `${root}/input.json`
  await writeFile(file, '{"a":1}')
  const called = await line('mcp', 'tools', 'call', 'mcp__one__tool', '--file', file)
  t.deepEqual(called, { code: 0, out: 'tool {"a":1}\n', err: '' })
  t.deepEqual(await line('mcp', 'call', 'mcp__one__tool', '--input-json', '{"a":1}'), called)
  t.is((await line('mcp', 'tools')).out, 'mcp__one__tool  once  The tool tool.\n')
  const help = (await line('mcp', 'tools', '--help')).out
  t.regex(help, /^holdfast mcp tools\n/u)
  t.regex(help, /--server <name>/u)
  t.regex(help, /mcp tools call <tool_name>/u)
})
