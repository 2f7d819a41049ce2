import { mkdir, rm, writeFile } from 'node:fs/promises'
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

test('mcp-42: a server whose table is wrong is told by the list, and by that of connectors, hooks and skills', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await mkdir(join(root, 'config'))
  await mkdir(join(root, 'skills', 'broken'), { recursive: true })
  await writeFile(join(root, 'config', 'mcp.toml'), '[mcp_servers.typo]\ncomand = "python3"\n')
  await writeFile(join(root, 'config', 'connectors.toml'), '[[http_connectors]]\nname = "door"\ncolour = 1\n')
  await writeFile(join(root, 'skills', 'broken', 'SKILL.md'), '---\nname: [\n---\n')
  const daemon = await startTestDaemon(t, { root })
  const line = createCommandLine(daemon)
  const { out } = await line('mcp', 'list')
  t.regex(
    out,
    /^wrong: config\/mcp\.toml:\d+: \[mcp_servers\.typo\] .*comand is not a known field; did you mean command\?/u,
  )
  t.false(out.includes('No MCP servers'))
  t.regex(
    (await line('connectors', 'list')).out,
    /^wrong: config\/connectors\.toml:\d+: \[\[http_connectors\]\] door /u,
  )
  t.regex((await line('skills', 'list')).out, /^wrong: .*broken/u)
  t.deepEqual(JSON.parse((await line('skills', 'list', '--output', 'json')).out), [])
  await writeFile(join(root, 'config', 'hooks.toml'), '[hooks.guard]\nevnt = "stop"\n')
  const hooks = await eventually(async () => {
    const { out: shown } = await line('runtime', 'hooks', 'get')
    return shown.includes('wrong') ? shown : undefined
  })
  t.regex(hooks, /config\/hooks\.toml:\d+: \[hooks\.guard\] /u)
})
