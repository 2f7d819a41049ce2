import { rm } from 'node:fs/promises'
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
  t.is((await line('mcp', 'call', 'mcp__one__wrong')).out, 'The tool says that it failed:\nIt failed.\n')
  t.regex(
    (await line('mcp', 'tool', 'mcp__one__tool')).out,
    /^mcp__one__tool {2}once\nIt \\u001b[^\n]*\nNot a line\.\n\{\n {2}"type": "object"\n\}\n$/u,
  )
  t.regex((await line('mcp', 'call', 'mcp__one__none')).err, /No MCP server has a tool mcp__one__none/u)
  t.regex((await line('mcp', 'call', 'mcp__one__tool', '--input-json', '[')).err, /--input-json/u)
  const metrics = (await daemon.request('GET', '/metrics')).text
  t.regex(metrics, /^service_mcp_calls_total\{server="one",outcome="answered"\} 2$/mu)
  t.regex(metrics, /^service_mcp_servers_connected 1$/mu)
  const { body } = await daemon.request('GET', '/v1/status')
  t.like(body.mcp, { server_count: 1, connected_count: 1, tool_count: 2 })
})
