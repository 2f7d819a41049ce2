import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { createCommandLine } from '../../../../support/command-line.js'
import { freshRoot, startTestDaemon } from '../../../../support/daemon.js'
import { eventually, writeServers } from '../../../../support/mcp.js'
import { makeFolder } from '../../../../support/tools.js'

const table = (name: string, more = ''): string =>
  `[mcp_servers.${name}]\nurl = "https://mcp.example/${name}"\noauth_slot_ref = "mcp.${name}"\n${more}`

test('mcp-28: another file is read and watched in place of that in config', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await writeServers(root, { unread: { url: 'https://mcp.example/unread', oauth_slot_ref: 'mcp.unread' } })
  const file = join(await makeFolder(t), 'mine.toml')
  const daemon = await startTestDaemon(t, { root, flags: { 'mcp-config': file } })
  const names = async (): Promise<string> =>
    (await daemon.request('GET', '/v1/runtime/mcp/servers')).body.servers.map(({ name }: any) => name).join()
  const become = (wanted: string) => eventually(async () => ((await names()) === wanted ? true : undefined))
  const warnings = async (code: string): Promise<any[]> =>
    (await daemon.request('GET', '/v1/status')).body.health.warnings.filter((one: any) => one.code === code)
  t.is(await names(), '')
  t.true((await warnings('mcp_file_missing'))[0].message.startsWith(file))
  await writeFile(file, table('one'))
  await become('one')
  t.deepEqual(await warnings('mcp_file_missing'), [])
  await writeFile(file, table('two') + table('bad', 'colour = 1\n'))
  await become('two')
  const [{ message }] = await warnings('config_entry_invalid')
  t.regex(message.replace(file, 'FILE'), /^FILE:\d+: \[mcp_servers\.bad\] /u)
})

test('mcp-35: what is told of servers and their accounts names the file that is read', async (t) => {
  const file = join(await makeFolder(t), 'mine.toml')
  await writeFile(file, '')
  const daemon = await startTestDaemon(t, { flags: { 'mcp-config': file } })
  const line = createCommandLine(daemon)
  t.is((await line('mcp', 'list')).out, `No MCP servers. Name one in ${file}, or see holdfast mcp catalog list.\n`)
  t.true((await line('mcp', 'catalog', 'get', 'linear')).out.includes(`Its table for ${file}:\n`))
  const { body } = await daemon.request('POST', '/v1/runtime/mcp/oauth/nosuch/refresh', {})
  t.is(body.detail, `There is no MCP server nosuch that is asked with an account; the list is ${file}.`)
})
