import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import test from 'ava'
import { parse } from '../../../../../core/plugin.js'
import { catalog, profiles } from '../../../../../plugins/tools/mcp/catalog/catalog.js'
import { ServerEntry, serverList } from '../../../../../plugins/tools/mcp/config/entry.js'
import { createCommandLine } from '../../../../support/command-line.js'
import { freshRoot, startTestDaemon } from '../../../../support/daemon.js'
import { planned, serverIn, writeServers } from '../../../../support/mcp.js'
import { codeOf } from '../../../../support/runs.js'

test('mcp-29: each server of the catalogue is one that the list takes, and each profile names some of them', (t) => {
  const names = catalog.map(({ name }) => name)
  t.is(new Set(names).size, names.length)
  for (const { name, entry, secret } of catalog) {
    const parsed = parse(ServerEntry, entry)
    t.true(parsed.ok, name)
    if (!parsed.ok) continue
    t.is(serverList().fault?.(name, parsed.value), undefined, name)
    t.is(parsed.value.bearer_token_secret_ref === undefined, secret === undefined, name)
    t.is(parsed.value.startup_timeout_sec, entry['command'] === undefined ? 30 : 300, name)
  }
  for (const { servers } of profiles) t.true(servers.length > 0 && servers.every((name) => names.includes(name)))
})

test('mcp-29: the catalogue says what can run here and what it needs, and its table is one to paste', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await writeServers(root, { github: planned({}, { enabled: false }) })
  const daemon = await startTestDaemon(t, { root })
  const line = createCommandLine(daemon)
  const { body } = await daemon.request('GET', '/v1/runtime/mcp/catalog')
  t.deepEqual(
    body.servers.map(({ name }: any) => name),
    catalog.map(({ name }) => name),
  )
  const isThere = (program: string): boolean =>
    (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))
  for (const { name, entry, supported, problem, listed } of body.servers) {
    t.is(supported, entry.command === undefined || isThere(entry.command), name)
    t.is(problem, supported ? undefined : `The program ${entry.command} is not found.`)
    t.is(listed, name === 'github')
  }
  const can = JSON.parse((await line('mcp', 'catalog', 'list', '--supported-only', '--output', 'json')).out)
  t.deepEqual(
    can.servers,
    body.servers.filter(({ supported }: any) => supported),
  )
  const work = await line('mcp', 'catalog', 'list', '--profile', 'work')
  t.regex(work.out, /^linear {2}Issues and projects at Linear\. {2}needs a login\nnotion .*\nsentry .*\n$/u)
  t.is(
    (await line('mcp', 'catalog', 'get', 'github')).out,
    'github  Repositories, issues and pull requests at GitHub.  needs a secret  is on the list\n\n' +
      'Its table for config/mcp.toml:\n\n[mcp_servers.github]\nurl = "https://api.githubcopilot.com/mcp/"\n' +
      'bearer_token_secret_ref = "mcp.github"\n\n' +
      'Store a personal access token of GitHub: holdfast mcp auth set --stdin mcp.github\n',
  )
  t.regex((await line('mcp', 'catalog', 'get', 'linear')).out, /\nLog in: holdfast mcp oauth login linear\n$/u)
  const nosuch = await line('mcp', 'catalog', 'list', '--profile', 'nosuch')
  t.is(nosuch.code, 2)
  t.regex(nosuch.err, /--profile must be one of local, code, work\n/u)
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/runtime/mcp/catalog/nosuch')), [
    404,
    'mcp_catalog_server_unknown',
  ])
  t.regex((await line('mcp', 'catalog', 'get', 'nosuch')).err, /Name one of holdfast mcp catalog list/u)
})

test('mcp-30: a profile puts its servers on the list, and a table of the file stands in the place of one', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await writeServers(root, {
    linear: planned({}, { enabled: false }),
    sentry: planned({ tools: [{ name: 'tool', inputSchema: { type: 'object' } }] }),
  })
  const daemon = await startTestDaemon(t, { root, flags: { 'mcp-profile': 'work' } })
  await serverIn(daemon, 'sentry')
  const listed = async (): Promise<any[]> => (await daemon.request('GET', '/v1/runtime/mcp/servers')).body.servers
  const shown = (await listed()).map(({ name, transport, profile }) => [name, transport, profile])
  t.deepEqual(shown, [
    ['notion', 'http', 'work'],
    ['sentry', 'stdio', undefined],
  ])
  const line = createCommandLine(daemon)
  t.regex((await line('mcp', 'list')).out, /^notion {2}http {2}\w+ {2}0 tools {2}\(work\)$/mu)
  t.is((await line('mcp', 'profiles', 'list')).out.match(/^work .*is on\n {2}linear, notion, sentry$/gmu)?.length, 1)
  t.regex(
    (await line('mcp', 'profiles', 'get', 'code')).out,
    /^code {2}.*\.\n {2}git, github, context7, playwright\n$/u,
  )
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/runtime/mcp/profiles/x')), [404, 'mcp_profile_unknown'])
  const all = (await daemon.request('GET', '/v1/runtime/mcp/profiles')).body
  t.deepEqual(
    all.profiles.map(({ name }: any) => name),
    profiles.map(({ name }) => name),
  )
  const { body } = await daemon.request('GET', '/v1/status')
  const login = body.health.warnings.filter(({ code }: any) => code === 'mcp_login_required')
  t.deepEqual(
    login.map(({ related_id }: any) => related_id),
    ['notion'],
  )
  await writeServers(root, { linear: planned({}, { enabled: false }) })
  await serverIn(daemon, 'sentry', 'waiting')
  t.like(
    (await listed()).find(({ name }) => name === 'sentry'),
    { transport: 'http', profile: 'work' },
  )
})

test('mcp-30: a table that is wrong at the start leaves its server out, and a profile that is none is refused', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await writeServers(root, { notion: { url: 7 } })
  const daemon = await startTestDaemon(t, { root, flags: { 'mcp-profile': 'work' } })
  const { body } = await daemon.request('GET', '/v1/runtime/mcp/servers')
  t.deepEqual(
    body.servers.map(({ name }: any) => name),
    ['linear', 'sentry'],
  )
  await t.throwsAsync(startTestDaemon(t, { flags: { 'mcp-profile': 'work,play' } }), {
    message: /--mcp-profile .*must be one of/u,
  })
})
