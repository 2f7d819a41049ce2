import { existsSync } from 'node:fs'
import { rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { createCommandLine } from '../../../../support/command-line.js'
import { freshRoot, startTestDaemon } from '../../../../support/daemon.js'
import { planned, serverIn, writeServers } from '../../../../support/mcp.js'
import { codeOf } from '../../../../support/runs.js'
import { makeFolder } from '../../../../support/tools.js'

test('mcp-34, mcp-37: servers of .mcp.json in the workspace are shown, with tables to take, and not started', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const workspace = await makeFolder(t)
  const started = join(workspace, 'started')
  const file = join(workspace, '.mcp.json')
  const mcpServers = {
    one: { command: '/bin/touch', args: [started] },
    listed: { command: '/bin/touch', args: [started] },
    web: { type: 'http', url: 'https://mcp.example/mcp', headers: { 'x-a': '${KEY}' } },
    filled: { command: 'x', args: ['${KEY}'] },
    'odd \u001b[2J': { command: 'x' },
    'odd name': { command: 'x' },
  }
  await writeFile(file, JSON.stringify({ mcpServers }))
  await writeServers(root, { listed: planned({}) })
  const daemon = await startTestDaemon(t, { root, flags: { 'workspace-root': workspace } })
  await serverIn(daemon, 'listed')
  const line = createCommandLine(daemon)
  const shown = (await line('mcp', 'list')).out
  t.regex(
    shown,
    /^listed {2}stdio {2}connected {2}0 tools\none {2}found in \.mcp\.json, not started: holdfast mcp found one\n/u,
  )
  t.false(shown.includes('\u001b'))
  t.regex(shown, /^odd name {2}found in \.mcp\.json, not started: holdfast mcp found 'odd name'$/mu)
  t.regex(shown, /^odd \\u001b\[2J {2}found in \.mcp\.json, not started; by such a name it cannot be asked for$/mu)
  t.is(
    (await line('mcp', 'found', 'one')).out,
    'Read what it would start before you put it into config/mcp.toml:\n\n' +
      `[mcp_servers.one]\ncommand = "/bin/touch"\nargs = ["${started}"]\n`,
  )
  const web = (await line('mcp', 'found', 'web')).out
  t.regex(web, /^http_header_secret_refs = \{ "x-a" = "mcp\.web\.x-a" \}$/mu)
  t.regex((await line('mcp', 'found', 'filled')).out, /would not be taken as it is: variables such as \$\{NAME\}/u)
  t.regex((await line('mcp', 'found', 'odd name')).out, /taken as it is: its name must be of letters, digits, dots/u)
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/runtime/mcp/found/listed')), [404, 'mcp_found_unknown'])
  t.deepEqual((await daemon.request('GET', '/v1/runtime/mcp/servers')).body.servers.length, 1)
  t.false(existsSync(started))
  await writeFile(file, '{"mcpServers":7}')
  t.regex((await line('mcp', 'list')).out, /^\.mcp\.json of the workspace must be JSON with mcpServers\.$/mu)
  await rm(file)
  await symlink('/etc/hostname', file)
  t.regex((await line('mcp', 'list')).out, /must not lead out of its folder\.$/mu)
})

test('mcp-34: with --mcp-discovery off nothing is looked for', async (t) => {
  const workspace = await makeFolder(t)
  await writeFile(join(workspace, '.mcp.json'), '{"mcpServers":{"one":{"command":"x"}}}')
  const daemon = await startTestDaemon(t, { flags: { 'workspace-root': workspace, 'mcp-discovery': 'off' } })
  t.deepEqual((await daemon.request('GET', '/v1/runtime/mcp/servers')).body, {
    file: 'config/mcp.toml',
    servers: [],
    found: [],
  })
})

test('mcp-41: a value of .mcp.json that may be a secret is shown nowhere, and the table names a secret in its place', async (t) => {
  const workspace = await makeFolder(t)
  const mcpServers = {
    local: {
      command: 'npx',
      args: [
        'server',
        '--token',
        'canary-1',
        '--pass',
        'canary-10',
        '-p',
        'canary-11',
        '-uroot:canary-12',
        '-u',
        'me:canary-13',
        '-p',
        '8080',
        '--level=debug',
        'sk-canary0000000000000000000000000000000000002',
        "serve --token 'can'ary-14",
      ],
      env: {
        PIN: '12345',
        API_KEY: 'canary-3',
        DEBUG: 'true',
        DATA: '/srv/data',
        OTHER: 'canary-4',
        NOT_TEXT: { a: 'canary-5' },
      },
    },
    web: {
      url: 'https://user:canary-6@mcp.example/mcp?api_key=canary-7',
      headers: { Authorization: 'Bearer canary-8', Accept: 'application/json', 'x-flag': 'canary-9' },
    },
    plain: { command: 'npx', env: { PORT: '8080', LOG_LEVEL: 'debug' } },
  }
  await writeFile(join(workspace, '.mcp.json'), JSON.stringify({ mcpServers }))
  const daemon = await startTestDaemon(t, { flags: { 'workspace-root': workspace } })
  const line = createCommandLine(daemon)
  const [local, web, plain] = await Promise.all(
    ['local', 'web', 'plain'].map(async (name) => (await line('mcp', 'found', name)).out),
  )
  for (const name of ['local', 'web'])
    t.false(JSON.stringify((await daemon.request('GET', `/v1/runtime/mcp/found/${name}`)).body).includes('canary'))
  t.false(`${local}${web}`.includes('canary'))
  t.regex(
    local ?? '',
    /^args = \["server","--token","<secret>","--pass","<secret>","-p","<secret>","-uroot:<secret>","-u","me:<secret>","-p","8080","--level=debug","<secret>","<secret>"\]$/mu,
  )
  t.regex(local ?? '', /^env = \{ "DEBUG" = "true", "DATA" = "\/srv\/data" \}$/mu)
  t.regex(
    local ?? '',
    /^env_secret_refs = \{ "PIN" = "mcp\.local\.PIN", "API_KEY" = "mcp\.local\.API_KEY", "OTHER" = "mcp\.local\.OTHER"/mu,
  )
  t.regex(local ?? '', /^ {2}holdfast secrets set --stdin mcp\.local\.API_KEY$/mu)
  t.regex(web ?? '', /^url = "<secret>"$/mu)
  t.regex(web ?? '', /^headers = \{ "Accept" = "application\/json" \}$/mu)
  t.regex(web ?? '', /"Authorization" = "mcp\.web\.Authorization", "x-flag" = "mcp\.web\.x-flag"/u)
  t.is(
    plain,
    'Read what it would start before you put it into config/mcp.toml:\n\n' +
      '[mcp_servers.plain]\ncommand = "npx"\nenv = { "PORT" = "8080", "LOG_LEVEL" = "debug" }\n',
  )
})
