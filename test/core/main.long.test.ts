/** The command line as a person meets it: real processes, signals, exit codes. */
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { version } from '../../core/base/version.js'
import { freshRoot, spawnMain, spawnTestDaemon, startTestDaemon } from '../support/daemon.js'

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}
const run = async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> => {
  const { text, exited } = spawnMain(args, env)
  const { code } = await exited
  return { code, ...text }
}

test.serial('a client command prints the answer as JSON and exits with 0', async (t) => {
  const daemon = await startTestDaemon(t)
  const byFlag = await run(['openapi', '--base-url', daemon.url])
  t.is(byFlag.code, 0)
  t.is(JSON.parse(byFlag.out).openapi, '3.1.0')
  const byVariable = await run(['openapi', '--output', 'json'], { SERVICE_DAEMON_URL: daemon.url })
  t.is(JSON.parse(byVariable.out).info.version, version)
  await daemon.stop()
})

test.serial('a second daemon on the same root is told who holds it and exits with 1', async (t) => {
  const daemon = await spawnTestDaemon(t)
  const second = await run(['serve', '--bind', '127.0.0.1:0', '--state-root', daemon.root])
  t.is(second.code, 1)
  t.regex(second.err, new RegExp(`in use by process ${daemon.pid} .*\\(state_root_locked\\)`, 'u'))
  await daemon.stop()
})

test.serial('a second daemon on the same port is told so, with the flag that chooses another', async (t) => {
  const daemon = await startTestDaemon(t)
  const { host } = new URL(daemon.url)
  const folder = await freshRoot()
  const second = await run(['serve', '--bind', host, '--state-root', path.join(folder, 'deep', 'state')])
  t.is(second.code, 1)
  t.deepEqual(await readdir(folder), [], 'a start that cannot listen leaves nothing behind')
  t.is(
    second.err,
    `holdfast: The daemon cannot listen on ${host}: another process listens there already (EADDRINUSE). ` +
      '(listen_failed)\nChoose another address with --bind, such as --bind 127.0.0.1:4001, or stop what uses this one.\n',
  )
})

test.serial('runtime-14: SIGTERM, SIGINT and SIGHUP drain and exit with 0, and the root is free again', async (t) => {
  const first = await spawnTestDaemon(t)
  t.deepEqual(await first.kill('SIGTERM'), { code: 0, signal: null })
  const second = await spawnTestDaemon(t, { root: first.root })
  t.deepEqual(await second.kill('SIGINT'), { code: 0, signal: null })
  const third = await spawnTestDaemon(t, { root: first.root })
  t.deepEqual(await third.kill('SIGHUP'), { code: 0, signal: null })
})

test.serial('runtime-17: a daemon that was killed starts again at once', async (t) => {
  const first = await spawnTestDaemon(t)
  t.deepEqual(await first.kill('SIGKILL'), { code: null, signal: 'SIGKILL' })
  const second = await spawnTestDaemon(t, { root: first.root })
  t.is((await second.request('GET', '/readyz')).text, 'ready')
  await second.stop()
})

/** A daemon with a request whose body never ends: that keeps the drain waiting. */
const startDraining = async (t: ExecutionContext, signal: NodeJS.Signals) => {
  const daemon = await spawnTestDaemon(t)
  const { hostname, port } = new URL(daemon.url)
  const socket = connect(Number(port), hostname)
  await new Promise<void>((resolve) => {
    socket.once('connect', () => resolve())
  })
  socket.on('error', () => {})
  socket.write(
    `POST /v1/sessions HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: ` +
      `application/json\r\nContent-Length: 100\r\n\r\n{`,
  )
  await daemon.request('GET', '/healthz')
  process.kill(daemon.pid, signal)
  for (let look = 0; look < 300 && !daemon.logText().includes('asked to stop'); look += 1)
    await new Promise((resolve) => {
      setTimeout(resolve, 10)
    })
  t.teardown(() => socket.destroy())
  return daemon
}

test.serial('runtime-14: a second SIGTERM does not wait for the drain', async (t) => {
  const daemon = await startDraining(t, 'SIGTERM')
  t.deepEqual(await daemon.kill('SIGTERM'), { code: 143, signal: null })
})

test.serial(
  'runtime-14: a second SIGINT does not wait for the drain, but for that which npm passes on at once',
  async (t) => {
    const daemon = await startDraining(t, 'SIGINT')
    process.kill(daemon.pid, 'SIGINT')
    await new Promise((resolve) => {
      setTimeout(resolve, 600)
    })
    t.deepEqual(await daemon.kill('SIGINT'), { code: 130, signal: null })
    const idle = await spawnTestDaemon(t)
    process.kill(idle.pid, 'SIGINT')
    t.deepEqual(await idle.kill('SIGINT'), { code: 0, signal: null })
    t.true(idle.logText().includes('"clean":true'), idle.logText())
  },
)

test.serial('the daemon gives the running version of package.json', async (t) => {
  const manifest = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8'))
  t.is(manifest.version, version)
})

test.serial('flags beat variables, and a value that is wrong is named with its source', async (t) => {
  const root = await freshRoot()
  const byVariable = await run(['serve', '--state-root', root], { SERVICE_BIND: 'nowhere' })
  t.is(byVariable.code, 2)
  t.is(byVariable.err, 'holdfast: SERVICE_BIND must be <host>:<port>, with a port up to 65535 (config_invalid)\n')
  const daemon = await spawnTestDaemon(t, { root, env: { SERVICE_BIND: 'nowhere' } })
  await daemon.stop()
})

test.serial('runtime-2: a file of a plugin that is wrong is one sentence, and no fault of its code', async (t) => {
  const root = await freshRoot()
  await mkdir(path.join(root, 'config'), { recursive: true })
  await writeFile(path.join(root, 'config', 'mcp.toml'), '[mcp_servers.x\n')
  t.like(await run(['serve', '--state-root', root]), {
    code: 2,
    err: 'holdfast: config/mcp.toml is not TOML: line 1, column 15 (config_invalid)\n',
  })
})

const refused = [
  { args: ['serve', '--bnd', 'x'], code: 2, says: 'there is no flag --bnd; did you mean --bind? (flag_unknown)' },
  {
    args: ['serve', '--provider-base-ur', 'x'],
    code: 2,
    says: 'there is no flag --provider-base-ur; did you mean --provider-base-url? (flag_unknown)',
  },
  {
    args: ['serve', '--workspace', 'x'],
    code: 2,
    says: 'there is no flag --workspace; did you mean --workspace-root? (flag_unknown)',
  },
  {
    args: ['serve', '--nosuch', 'x'],
    code: 2,
    says: 'there is no flag --nosuch; see holdfast serve --help (flag_unknown)',
  },
  { args: ['serve', 'now'], code: 2, says: 'serve does not take "now" (argument_surplus)' },
  {
    args: ['--bind', 'nowhere'],
    code: 2,
    says: '--bind must be <host>:<port>, with a port up to 65535 (config_invalid)',
  },
  {
    args: ['serve', '--workspace-root', '/no/such/folder'],
    code: 2,
    says: '--workspace-root must be a folder that exists: /no/such/folder (config_invalid)',
  },
  {
    args: ['serve', '--log-level', 'loud'],
    code: 2,
    says: '--log-level must be one of "debug", "info", "warn", "error" (config_invalid)',
  },
  {
    args: ['serve', '--bind', '127.0.0.1:0', '--bind', '127.0.0.1:1'],
    code: 2,
    says: '--bind is given twice (flag_twice)',
  },
  { args: ['--safe', '--safe'], code: 2, says: '--safe is given twice (flag_twice)' },
  {
    args: ['--bind', 'nowhere', 'serve', '--hold'],
    code: 2,
    says: '--bind must be <host>:<port>, with a port up to 65535 (config_invalid)',
  },
  {
    args: ['--json', 'status'],
    code: 2,
    says: 'there is no flag --json; did you mean --output json? (flag_unknown)',
  },
  {
    args: ['plugin', 'list'],
    code: 2,
    says: 'there is no command "plugin list"; did you mean holdfast plugins list? (command_unknown)',
  },
  { args: ['openapi', 'now'], code: 2, says: 'openapi does not take "now" (argument_surplus)' },
  { args: ['openapi', '--output', 'xml'], code: 2, says: '--output must be pretty or json (output_unknown)' },
  { args: ['openapi', '--token'], code: 2, says: '--token needs a value (flag_value_missing)' },
  {
    args: ['openapi', '--base-url', 'localhost'],
    code: 2,
    says: '--base-url must be an http or https URL (config_invalid)',
  },
  {
    args: ['openapi', '--base-url', 'http://127.0.0.1:9'],
    code: 1,
    says:
      'no daemon answers at http://127.0.0.1:9 (daemon_unreachable)\nStart one with holdfast serve, or name ' +
      'another with --base-url.',
  },
  {
    args: ['serve', '--bind', '0.0.0.0:0'],
    code: 1,
    says:
      'Listening on 0.0.0.0 without an admin token would let anyone in. (admin_token_required)\nGive one with ' +
      '--http-admin-token-file FILE, or bind a loopback address with --bind.',
  },
]

for (const { args, code, says } of refused) {
  test.serial(`holdfast ${args.join(' ')} is refused in one sentence with exit code ${code}`, async (t) => {
    const root = await freshRoot()
    const ran = await run(args, { SERVICE_STATE_ROOT: root })
    t.is(ran.err, `holdfast: ${says}\n`)
    t.is(ran.code, code)
    t.is(ran.out, '')
  })
}

test.serial('help names every command and every flag of serve', async (t) => {
  const overview = await run(['--help'])
  t.is(overview.code, 0)
  for (const command of ['serve', 'events stream', 'plugins list', 'openapi'])
    t.true(overview.out.includes(`  ${command}`))
  const serve = await run(['serve', '--help'])
  t.is(serve.code, 0)
  for (const text of ['--bind', 'SERVICE_DAEMON_ADMIN_TOKEN_FILE', '--provider-base-url', 'SERVICE_PROVIDER_BASE_URL'])
    t.true(serve.out.includes(text))
  for (const line of [
    /--workspace-root <text> +Folder .*\. \[Default: \.; SERVICE_WORKSPACE_ROOT\] --/u,
    /--log-format auto\|json\|pretty Form/u,
    /--event-history-capacity <number> Events kept for replay; at least 1, at most 262144\./u,
    /--hold Read and answer/u,
    /--provider <text> +.* \[Default: \w+; SERVICE_PROVIDER\] --/u,
  ])
    t.regex(serve.out.replaceAll(/\s+/gu, ' '), line)
  const command = await run(['events', 'stream', '--help'])
  t.regex(command.out, /holdfast events stream[^]*--session-id <text>/u)
})

test.serial('a problem of the daemon is one sentence with its code, and a token opens what needs one', async (t) => {
  const root = await freshRoot()
  const secret = 'a-very-secret-admin-token'
  await mkdir(path.join(root, 'config'))
  await writeFile(path.join(root, 'config', 'token'), `${secret}\n`)
  const daemon = await spawnTestDaemon(t, {
    root,
    flags: ['--http-admin-token', secret, '--log-level', 'debug'],
    headers: { authorization: `Bearer ${secret}` },
  })
  const without = await run(['openapi', '--base-url', daemon.url])
  t.is(without.code, 1)
  t.regex(without.err, /^holdfast: .+ \(missing_token\)\nGive one with --token-file FILE, --token TOKEN or /u)
  const told = JSON.parse((await run(['openapi', '--base-url', daemon.url, '--output', 'json'])).err)
  t.deepEqual([told.status, told.code, told.action], [401, 'missing_token', 'Send `Authorization: Bearer <token>`.'])
  t.is((await run(['openapi', '--base-url', daemon.url, '--token', secret])).code, 0)
  t.is((await run(['openapi', '--base-url', daemon.url], { SERVICE_DAEMON_TOKEN: secret })).code, 0)
  t.is((await run(['openapi', '--base-url', daemon.url, '--token-file', path.join(root, 'config', 'token')])).code, 0)
  await daemon.stop()
  t.false(daemon.logText().includes(secret), 'a token is never logged')
})

test.serial('events stream follows the daemon and ends with 0 when it is interrupted', async (t) => {
  const daemon = await startTestDaemon(t)
  const { child, text, exited } = spawnMain(['events', 'stream', '--output', 'json', '--base-url', daemon.url])
  t.teardown(() => child.kill('SIGKILL'))
  await daemon.request('POST', '/v1/sessions', { session_id: 's1' })
  for (let look = 0; look < 300 && !text.out.includes('\n'); look += 1) {
    await daemon.request('POST', '/v1/sessions/s1/input', { content: 'x' })
    await new Promise((resolve) => {
      setTimeout(resolve, 50)
    })
  }
  const [line = ''] = text.out.split('\n')
  t.truthy(JSON.parse(line).event)
  child.kill('SIGINT')
  t.deepEqual(await exited, { code: 0, signal: null })
  await daemon.stop()
})

test.serial('state verify exits with 0 for a sound root and with 1 for one of which a byte was changed', async (t) => {
  const daemon = await startTestDaemon(t)
  await daemon.stop()
  const sound = await run(['state', 'verify', '--state-root', daemon.root])
  t.is(sound.code, 0, sound.out)
  const file = path.join(daemon.root, 'manifest.json')
  const text = await readFile(file, 'utf8')
  await writeFile(
    file,
    text.replace(/\d/u, (digit) => String((Number(digit) + 1) % 10)),
  )
  const damaged = await run(['state', 'verify'], { SERVICE_STATE_ROOT: daemon.root })
  t.is(damaged.code, 1, damaged.out)
  t.regex(damaged.out, /manifest\.json/u)
  await writeFile(file, text)
})

test('runtime-2: a wrong flag or variable exits with 2 before the root is touched', async (t) => {
  const folder = await freshRoot()
  const root = path.join(folder, 'state')
  const serve = ['serve', '--bind', '127.0.0.1:0', '--state-root', root]
  for (const [more, says] of [
    [['--scheduler-enabled=no'], /--scheduler-enabled must be/u],
    [['--max-concurrent-runs', 'many'], /--max-concurrent-runs must be/u],
    [['--no-such-flag'], /there is no flag --no-such-flag/u],
    [['--version'], /there is no flag --version/u],
    [['--drain-ms', '-1'], /--drain-ms must be/u],
  ] as const) {
    const { code, err } = await run([...serve, ...more])
    t.is(code, 2, err)
    t.regex(err, says)
  }
  t.is((await run(serve, { SERVICE_SCHEDULER_ENABLED: 'no' })).code, 2)
  await t.throwsAsync(readFile(path.join(root, 'root.json')), { code: 'ENOENT' })
  t.deepEqual(await readdir(folder), [])
})

test('runtime-2: a wrong file in config/ exits with 2 before the root is touched, and no word of it is told', async (t) => {
  const root = path.join(await freshRoot(), 'state')
  const file = path.join(root, 'config', 'models.toml')
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  for (const [text, says] of [
    ['api_key = "sk-not-to-be-told', /config\/models\.toml is not TOML: line 1, column \d+/u],
    ['api_key = "sk-not-to-be-told\\q"\nmodel = "x"', /config\/models\.toml is not TOML: line 1/u],
    ['# sk-not-to-be-told\napi_key = sk-not-to-be-told', /config\/models\.toml is not TOML: line 2/u],
    ['api_key = "sk-not-to-be-told"\nmodel = \n', /config\/models\.toml is not TOML: line 2/u],
    ['api_key = 5', /config\/models\.toml:1 api_key must be a string/u],
  ] as const) {
    await writeFile(file, text, { mode: 0o600 })
    const { code, out, err } = await run(['serve', '--bind', '127.0.0.1:0', '--state-root', root])
    t.is(code, 2, err)
    t.regex(err, says)
    t.false(`${out}${err}`.includes('not-to-be-told'), err)
  }
  t.deepEqual(await readdir(root), ['config'])
})

test('runtime-2: a wrong file of any shipped plugin ends the start with its line; a safe start leaves the plugin out and says so', async (t) => {
  const root = path.join(await freshRoot(), 'state')
  const folder = path.join(root, 'config')
  const serve = ['serve', '--bind', '127.0.0.1:0', '--state-root', root]
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const hook = '\n[hooks.x]\nevent = "stop"\n[hooks.x.executor]\ntype = "command"\n'
  for (const [name, text, says] of [
    ['usage', '# budgets\nmax_run_output_tokens = "20"\n', /usage\.toml:2 max_run_output_tokens must be/u],
    ['hooks', 'pass_enviroment = ["X"]\n', /hooks\.toml:1 pass_enviroment .*mean pass_environment/u],
    ['hooks', `${hook}comand = "true"\n`, /hooks\.toml:[46] hooks\.x\.executor\.\w+ /u],
    [
      'hooks',
      `${hook.replaceAll('stop', 'stopp')}command = "true"\n`,
      /hooks\.toml:3 hooks\.x\.event: the moment stopp /u,
    ],
    ['secrets', 'colour = "red"\n', /secrets\.toml:1 colour is not a known field/u],
  ] as const) {
    const file = path.join(folder, `${name}.toml`)
    await writeFile(file, text, { mode: 0o600 })
    const { code, err } = await run(serve)
    t.is(code, 2, err)
    t.regex(err, says)
    await rm(file)
  }
  const vital = path.join(folder, 'models.toml')
  await writeFile(vital, 'api_key = 5\n', { mode: 0o600 })
  t.is((await run([...serve, '--safe'])).code, 2, 'without models there is no daemon')
  await rm(vital)
  t.deepEqual(await readdir(root), ['config'])
  await writeFile(path.join(folder, 'hooks.toml'), 'pass_enviroment = ["X"]\n', { mode: 0o600 })
  const { child, text, exited } = spawnMain([...serve, '--safe'])
  await new Promise((resolve) => child.stdout.once('data', resolve))
  const url = /http:\/\/\S+?(?=,)/u.exec(text.out)?.[0] ?? ''
  const told = await (await fetch(`${url}/v1/status`)).text()
  t.regex(told, /"code":"plugin_not_loaded","message":"The plugin hooks is not loaded: [^"]*pass_enviroment/u)
  child.kill('SIGTERM')
  await exited
})

test('runtime-2: a start names every wrong file of a shipped plugin', async (t) => {
  const root = path.join(await freshRoot(), 'state')
  const folder = path.join(root, 'config')
  const serve = ['serve', '--bind', '127.0.0.1:0', '--state-root', root]
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const name of ['tools', 'goals', 'usage'])
    await writeFile(path.join(folder, `${name}.toml`), 'nope = 1\n', { mode: 0o600 })
  const { code, err } = await run(serve)
  t.is(code, 2)
  t.is(err.split('nope is not a known field').length, 2, err)
  for (const name of ['tools', 'goals', 'usage']) t.true(err.includes(`config/${name}.toml:1`), err)
  t.notRegex((await run([...serve, '--safe'])).err, /wrong too/u, 'the daemon can do without the others')
})

test('runtime-2: a start names every wrong file with its line, also of no plugin, of a list, and that is no TOML', async (t) => {
  const root = path.join(await freshRoot(), 'state')
  const folder = path.join(root, 'config')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const [name, text] of [
    ['retention', '\nmax_bytes = 5\n'],
    ['hooks', '\n\n[oops\n'],
    ['mcp', '[mcp_servers.x]\nrequired = true\ncomand = "x"\n'],
  ] as const)
    await writeFile(path.join(folder, `${name}.toml`), text, { mode: 0o600 })
  const { code, err } = await run(['serve', '--bind', '127.0.0.1:0', '--state-root', root])
  t.is(code, 2)
  t.regex(err, /config\/retention\.toml:2 max_bytes must be .*; wrong too: /u)
  const others = /wrong too: (.*?)(?: \(|\n)/u.exec(err)?.[1]?.split(', ').toSorted()
  t.deepEqual(others, ['config/hooks.toml:3', 'config/mcp.toml:3'], err)
  t.deepEqual(await readdir(root), ['config'])
  await writeFile(path.join(folder, 'mcp.toml'), '[oops\n', { mode: 0o600 })
  t.regex((await run(['serve', '--bind', '127.0.0.1:0', '--state-root', root])).err, /config\/mcp\.toml:1\b/u)
})

test('runtime-2, mcp-16: a safe start leaves a broken list out, what is required of it too, and says so', async (t) => {
  const root = path.join(await freshRoot(), 'state')
  const [serve, file] = [
    ['serve', '--bind', '127.0.0.1:0', '--state-root', root],
    path.join(root, 'config', 'mcp.toml'),
  ]
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  const server = '[mcp_servers.x]\ncommand = "true"\nrequired = true\n'
  for (const [text, says] of [
    [`${server}[oops\n`, /config\/mcp\.toml is not TOML: line 4/u],
    [`${server}#${'x'.repeat(8 * 1024 * 1024)}\n`, /config\/mcp\.toml .*MiB/u],
    [`${server}comand = "x"\n`, /config\/mcp\.toml:4.*comand/u],
  ] as const) {
    await writeFile(file, text, { mode: 0o600 })
    t.is((await run(serve)).code, 2)
    const { child, text: told, exited } = spawnMain([...serve, '--safe'])
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const url = /http:\/\/\S+?(?=,)/u.exec(told.out)?.[0] ?? ''
    t.is((await fetch(`${url}/readyz`)).status, 200)
    const { health, mcp_servers } = JSON.parse(await (await fetch(`${url}/v1/status`)).text())
    t.regex(health.warnings.find(({ code }: any) => code === 'config_entry_invalid').message, says)
    t.deepEqual(mcp_servers ?? [], [])
    child.kill('SIGTERM')
    await exited
  }
})

test('state-14: a file that reaches the limit of its size refuses changes and does not end the daemon', async (t) => {
  const root = path.join(await freshRoot(), 'state')
  const { child, text, exited } = spawnMain(['serve', '--bind', '127.0.0.1:0', '--state-root', root], {}, '-f 400')
  await new Promise((resolve) => child.stdout.once('data', resolve))
  t.regex(text.err, /a file reached the limit of its size/u)
  child.kill('SIGTERM')
  t.is((await exited).signal, null)
})

test('a daemon goes on when nobody reads its log any more, and still stops in order', async (t) => {
  const root = path.join(await freshRoot(), 'state')
  const flags = ['--bind', '127.0.0.1:0', '--state-root', root, '--log-level', 'debug']
  const { child, text, exited } = spawnMain(['serve', ...flags])
  await new Promise((resolve) => child.stdout.once('data', resolve))
  const url = /http:\/\/\S+?(?=,)/u.exec(text.out)?.[0] ?? ''
  child.stderr.destroy()
  child.stdout.destroy()
  for (let asked = 0; asked < 5; asked += 1) t.is((await fetch(`${url}/healthz`)).status, 200)
  child.kill('SIGTERM')
  t.deepEqual(await exited, { code: 0, signal: null })
})

test('--version and -v print the version and make nothing', async (t) => {
  for (const word of ['--version', '-v']) {
    const { code, out } = await run([word])
    t.deepEqual([code, out], [0, `${version}\n`])
  }
})

test('a token file that is missing is said at the start', async (t) => {
  const root = await freshRoot()
  const admin = ['--http-admin-token-file', path.join(root, 'nowhere')]
  const started = spawnMain(['serve', '--bind', '127.0.0.1:0', '--state-root', path.join(root, 'a'), ...admin])
  await new Promise((resolve) => started.child.stdout.once('data', resolve))
  started.child.kill('SIGTERM')
  await started.exited
  t.regex(started.text.err, /The admin token file \S+nowhere cannot be read, so nobody can call as admin\./u)
})
