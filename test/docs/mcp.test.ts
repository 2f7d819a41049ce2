/** What the guide to MCP servers shows works. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import test from 'ava'
import { createCommandLine } from '../support/command-line.js'
import { freshRoot, startTestDaemon } from '../support/daemon.js'
import { blocksFor, textOf } from '../support/docs.js'
import { serverIn } from '../support/mcp.js'

const { resolve } = createRequire(import.meta.url)

test('the servers of the guide are understood, and its command calls a tool', async (t) => {
  const root = await freshRoot()
  const [config = ''] = blocksFor('docs/mcp.md', 'mcp')
  const [command = ''] = blocksFor('docs/mcp.md', 'mcp-call')
  const program = join(dirname(resolve('@modelcontextprotocol/server-filesystem/package.json')), 'dist/index.js')
  mkdirSync(join(root, 'config'))
  writeFileSync(
    join(root, 'config', 'mcp.toml'),
    config
      .replace('"npx"', JSON.stringify(process.execPath))
      .replace(
        '"-y", "@modelcontextprotocol/server-filesystem", "/srv/documents"',
        JSON.stringify([program, root]).slice(1, -1),
      ),
  )
  writeFileSync(join(root, 'config', 'tools.toml'), blocksFor('docs/mcp.md', 'mcp-rules').join(''))
  const daemon = await startTestDaemon(t, { root })
  await serverIn(daemon, 'files')
  const line = createCommandLine(daemon)
  const list = await line('mcp', 'list')
  t.regex(list.out, /^files {2}stdio {2}connected {2}\d+ tools\ntickets {2}http {2}\w+ {2}0 tools/u)
  const [, name = '', , input = ''] = /holdfast mcp call (\S+) (--input-json) '(.*)'/u.exec(command) ?? []
  const ran = await line('mcp', 'call', name, '--input-json', input.replace('/srv/documents', root))
  t.deepEqual([ran.code, ran.err], [0, ''])
  t.regex(ran.out, /\[DIR\] config/u)
  const tools = await line('mcp', 'tools', '--server', 'files')
  t.regex(tools.out, /mcp__files__read_text_file {2}read {2}/u)
  t.notRegex(tools.out, /write_file/u)
  const [, tool = ''] = /permissions check (\w+)/u.exec(textOf('docs/mcp.md')) ?? []
  t.like(JSON.parse((await line('runtime', 'permissions', 'check', tool, '--output', 'json')).out), {
    decision: 'allow',
  })
})

test('the server of the guide that is required is understood', async (t) => {
  const root = await freshRoot()
  mkdirSync(join(root, 'config'))
  writeFileSync(join(root, 'config', 'mcp.toml'), blocksFor('docs/mcp.md', 'mcp-required').join(''))
  const { body } = await (await startTestDaemon(t, { root })).request('GET', '/v1/runtime/mcp/servers')
  t.like(body.servers[0], { name: 'tickets', required: true })
})
