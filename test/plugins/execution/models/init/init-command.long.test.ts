/** `holdfast init` on a root with and without a daemon, in this process and as processes of its own. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { definePlugin } from '../../../../../core/plugin.js'
import { ModelProviders, textOnly } from '../../../../../plugins/execution/models/contract.js'
import { createCommandLine, createRootLine, type CommandLine } from '../../../../support/command-line.js'
import { freshRoot, spawnTestDaemon, startTestDaemon } from '../../../../support/daemon.js'
import { saying, startOpenAiServer, type OpenAiServer, type Reply } from '../../../../support/openai-server.js'
import { hasTmux, openPiped, openTerminal } from '../../../../support/screen.js'
import { done, fails, text } from '../../../../../plugins/providers/scripted/contract.js'

const key = 'sk-very-secret-0123456789'
const refused = (status: number, message: string, code?: string): Reply => ({
  type: 'status',
  status,
  body: JSON.stringify({ error: { message, code } }),
})

/** Takes one key, and none where it asks for none. */
const serve = async (t: ExecutionContext, models?: readonly string[]): Promise<OpenAiServer> => {
  const server = await startOpenAiServer(
    ({ headers: { authorization } }) =>
      authorization === undefined || authorization === `Bearer ${key}`
        ? saying('ready')
        : refused(401, 'Incorrect API key provided'),
    models,
  )
  t.teardown(server.close)
  return server
}

interface Init {
  readonly root: string
  /** `init` with these words. */
  readonly run: CommandLine
  file(): string
  write(text: string): void
}

const begin = async (environment: Readonly<Record<string, string>> = {}): Promise<Init> => {
  const root = await freshRoot()
  const file = join(root, 'config/routes.toml')
  return {
    root,
    run: (...words) => createRootLine(root, environment)('init', ...words),
    file: () => readFileSync(file, 'utf8'),
    write(text) {
      mkdirSync(join(root, 'config'), { recursive: true })
      writeFileSync(file, text)
    },
  }
}

const own = (server: OpenAiServer): string[] => ['--provider', 'openrouter', '--server', server.url, '--model', 'a/b']

test.serial(
  'command-line-14: keys are found where their providers say, and nothing is changed without a word',
  async (t) => {
    const names = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GOOGLE_API_KEY', 'OPENROUTER_API_KEY', 'XAI_API_KEY']
    const init = await begin(Object.fromEntries(names.map((name) => [name, key])))
    const { code, out, err } = await init.run()
    t.is(code, 0, err)
    for (const [at, provider] of ['anthropic', 'openai', 'google', 'openrouter', 'xai'].entries())
      t.true(out.includes(`  ${provider}: the key in ${names[at]}, model `), out)
    t.regex(out, /^Nothing was added\. holdfast init --state-root \S+ --yes does it\.$/mu)
    t.false(existsSync(join(init.root, 'config/routes.toml')))
    t.false((out + err).includes(key))
    const nothing = await (await begin()).run()
    t.regex(
      nothing.out,
      /^Found no key and no model server\.\n.*The default route answers meanwhile: demo\.\n.*ANTHROPIC_API_KEY|Would use/su,
    )
    const ready = await begin()
    ready.write('default_route = "mine"\n\n[routes.mine]\ndriver = "demo"\n')
    t.regex((await ready.run()).out, /The default route answers meanwhile: mine\.|Would use/u)
  },
)

test.serial('command-line-14: a server is found where its provider says that it usually is', async (t) => {
  const server = await serve(t, ['embed-small', 'qwen3:8b'])
  const local_servers = [
    { route_id: 'mine', name: 'Mine', base_url: server.url },
    { route_id: 'gone', name: 'Gone', base_url: 'http://127.0.0.1:9/v1' },
  ]
  const plugin = definePlugin({
    id: 'mine',
    version: '1.0.0',
    api: 1,
    summary: 'A provider with servers of its own.',
    register: (ctx) =>
      ctx.contribute(ModelProviders, {
        id: 'mine_provider',
        summary: 'Mine.',
        capabilities: textOnly,
        local_servers,
        connect: () => ({
          readiness: () => ({ state: 'ok', code: 'ready', message: 'Ready.' }),
          async *stream() {
            yield text('ready')
            yield done()
          },
        }),
      }),
  })
  const daemon = await startTestDaemon(t, { plugins: [plugin] })
  const { body } = await daemon.request('GET', '/v1/runtime/providers')
  const usual = body.flatMap(({ local_servers: all }: any) => all.map(({ base_url }: any) => new URL(base_url).port))
  t.deepEqual(usual.toSorted(), ['11434', '1234', '8000', '8080', '9', new URL(server.url).port].toSorted())
  const ask = createCommandLine(daemon)
  const plan = await ask('init', '--state-root', daemon.root)
  t.true(plan.out.includes(`  mine: Mine at ${server.url}, model qwen3:8b\n`), plan.out + plan.err)
  t.false(plan.out.includes('gone'))
  const ran = await ask('init', '--state-root', daemon.root, '--provider', 'mine')
  t.is(ran.code, 0, ran.err)
  t.regex(ran.out, /^mine: added to config\/routes\.toml\.\nmine \(qwen3:8b\) answers\.$/mu)
})

test.serial(
  'command-line-17: a default that does not answer beside a route that does is told, with what to do',
  async (t) => {
    const [bad, good] = [await serve(t, ['m1']), await serve(t, ['m2'])]
    const plugin = definePlugin({
      id: 'mine',
      version: '1.0.0',
      api: 1,
      summary: 'A provider with servers of its own.',
      register: (ctx) =>
        ctx.contribute(ModelProviders, {
          id: 'mine_provider',
          summary: 'Mine.',
          capabilities: textOnly,
          local_servers: [
            { route_id: 'bad', name: 'Bad', base_url: bad.url },
            { route_id: 'good', name: 'Good', base_url: good.url },
          ],
          connect: (asked) => ({
            readiness: () => ({ state: 'ok', code: 'ready', message: 'Ready.' }),
            async *stream() {
              if (JSON.stringify(asked).includes(bad.url)) return void (yield fails(false))
              yield text('ready')
              yield done()
            },
          }),
        }),
    })
    const daemon = await startTestDaemon(t, { plugins: [plugin] })
    const ran = await createCommandLine(daemon)('init', '--state-root', daemon.root, '--yes')
    t.is(ran.code, 1, ran.err)
    t.regex(ran.out, /^The default route is bad\. It does not answer and good does: put default_route = "good" into /mu)
  },
)

test.serial(
  'command-line-15: a route, its key and the default are set up without a daemon; a second time changes nothing',
  async (t) => {
    const server = await serve(t)
    const init = await begin({ MY_KEY: key })
    const first = await init.run(...own(server), '--from-env', 'MY_KEY')
    t.is(first.code, 0, first.out + first.err)
    t.regex(first.out, /^openrouter: added to config\/routes\.toml; its key is the secret models\.openrouter\.$/mu)
    t.regex(
      first.out,
      /^openrouter \(a\/b\) answers\.\nThe default route is openrouter\. Next: holdfast serve --state-root \S+, /mu,
    )
    const written = init.file()
    t.is(
      written,
      `default_route = "openrouter"\n\n[routes.openrouter]\ndriver = "openrouter"\nbase_url = "${server.url}"\n` +
        'default_model = "a/b"\nauth_ref = "models.openrouter"\n',
    )
    const again = await init.run(...own(server), '--from-env', 'MY_KEY')
    t.is(again.code, 0)
    t.regex(
      again.out,
      /^openrouter: is in config\/routes\.toml already and stays as it is\. .*\nopenrouter \(a\/b\) answers\.$/mu,
    )
    t.is(init.file(), written)
    const daemon = await spawnTestDaemon(t, { root: init.root })
    const { body } = await daemon.request('GET', '/v1/runtime/secrets/models.openrouter')
    t.true(JSON.stringify(body).includes(`"version":1`), JSON.stringify(body))
    t.is((await daemon.request('GET', '/v1/runtime')).body.route_id, 'openrouter')
    t.false((first.out + first.err + again.out).includes(key))
    t.throws(() => execFileSync('grep', ['-rqF', key, init.root]), undefined, 'it is nowhere in the root in the clear')
  },
)

test.serial('command-line-15: it speaks with the daemon that holds the root, and with no other', async (t) => {
  const server = await serve(t)
  const daemon = await spawnTestDaemon(t)
  const other = await begin()
  const ran = openPiped(t, ['init', '--state-root', daemon.root, '--server', server.url])
  t.is(await ran.ended, 0, ran.err())
  t.regex(ran.out(), /Next: holdfast chat\.$/mu)
  t.is((await daemon.request('GET', '/v1/runtime')).body.route_id, 'server')
  const strange = await other.run('--server', server.url, '--base-url', daemon.url)
  t.is(strange.code, 1)
  t.regex(strange.err, /root_elsewhere/u)
})

test.serial('command-line-31: a daemon that the environment names counts as one that the line names', async (t) => {
  const server = await serve(t)
  const daemon = await startTestDaemon(t)
  const init = await begin({ SERVICE_DAEMON_URL: daemon.url })
  const { code, err } = await init.run('--server', server.url)
  t.is(code, 1)
  t.regex(err, /works on \S+, not on \S+ \(root_elsewhere\)/u)
  t.throws(() => init.file(), { code: 'ENOENT' }, 'and nothing is written')
})

test.serial('command-line-16: what stands in config/routes.toml stays, and so does the default route', async (t) => {
  const server = await serve(t)
  const init = await begin()
  const before = '# mine\n[routes.mine]\ndriver = "demo" # as it was\n'
  init.write(before)
  const { code, out } = await init.run('--server', server.url)
  t.is(code, 0, out)
  t.true(init.file().includes(before))
  t.true(init.file().startsWith('default_route = "mine"\n'))
  t.regex(out, /The default route is mine\./u)
})

test.serial('command-line-16: a file that the daemon does not take is put back as it was', async (t) => {
  const server = await serve(t)
  const init = await begin()
  // No table can be added behind one that is written so.
  const whole = 'routes = { mine = { driver = "demo", default_model = "demo-1" } }\n'
  init.write(whole)
  const { code, err } = await init.run('--server', server.url)
  t.is(code, 1)
  t.regex(err, /routes_file_refused/u)
  t.is(init.file(), whole)
})

test.serial('command-line-33: a broken config/routes.toml is told with its line, and nothing is changed', async (t) => {
  const server = await serve(t)
  const init = await begin()
  const right = `default_route = "server"\n\n[routes.server]\ndriver = "openai_compatible"\nbase_url = "${server.url}"\n`
  const cases = [
    ['[routes.mine\n', /config\/routes\.toml is broken, so nothing was changed: .*line 1/u],
    [
      `${right}default_model = 5\n`,
      /is broken, so nothing was changed: line 6: \[routes\.server\] default_model must/u,
    ],
  ] as const
  init.write(`${right}default_model = "m"\n`)
  const daemon = await spawnTestDaemon(t, { root: init.root })
  for (const [text, told] of cases) {
    init.write(text)
    const { code, out, err } = await init.run('--yes', '--base-url', daemon.url)
    t.is(code, 1, out)
    t.regex(err, told)
    t.is(init.file(), text)
  }
  t.is(server.asked.length, 0)
  await daemon.stop()
})

test.serial('command-line-33: routes that are there are tried, and what is wrong is told of each', async (t) => {
  const server = await serve(t)
  const init = await begin()
  const entry = (name: string, url: string): string =>
    `[routes.${name}]\ndriver = "openai_compatible"\nbase_url = "${url}"\ndefault_model = "m"\n`
  const gone = 'http://127.0.0.1:9/v1'
  init.write(`default_route = "gone"\n\n${entry('gone', gone)}\n${entry('there', server.url)}`)
  const none = await init.run()
  t.is(none.code, 1, none.out)
  t.regex(none.out, /^gone \(m\) does not answer: .*Start the server, or see that base_url in /mu)
  t.regex(none.out, /^there \(m\) answers\.$/mu)
  t.regex(none.out, /^The default route is gone\. It does not answer and there does: put default_route = "there" /mu)
  t.notRegex(none.out, /Until then/u)
  const more = await serve(t)
  const beside = await init.run('--server', more.url)
  t.is(beside.code, 1, beside.out)
  t.regex(beside.out, /^gone \(m\) does not answer: /mu, 'the default is tried beside what is added')
  t.regex(beside.out, /It does not answer and server does: put default_route = "server" /u)
})

test.serial('command-line-32: a key takes the place of one that does not do where a person says so', async (t) => {
  if (!hasTmux(t)) return t.pass()
  const server = await serve(t)
  server.answer(({ headers: { authorization } }) =>
    authorization === `Bearer ${key}` ? saying('ready') : refused(401, 'No key'),
  )
  const init = await begin()
  init.write(`[routes.openrouter]\ndriver = "openrouter"\nbase_url = "${server.url}"\ndefault_model = "a/b"\n`)
  const before = init.file()
  const sit = async () => {
    const person = await openTerminal(t, ['init', '--state-root', init.root], { OPENROUTER_API_KEY: key })
    await person.until(
      /openrouter does not answer with the key that it has\. Store the key in OPENROUTER_API_KEY\? \[Y\/n\]$/u,
    )
    return person
  }
  const refusing = await sit()
  refusing.type('n')
  refusing.press('Enter')
  await refusing.until(/^openrouter \(a\/b\) does not answer: [\s\S]*^ended 1$/mu)
  t.is(init.file(), before)
  const taking = await sit()
  taking.press('Enter')
  await taking.until(/^openrouter \(a\/b\) answers\.$[\s\S]*^ended 0$/mu)
  t.regex(init.file(), /auth_ref = "models\.openrouter"/u)
})

test.serial('command-line-32: of a route that is there nothing is asked, and what may be typed is said', async (t) => {
  if (!hasTmux(t)) return t.pass()
  const server = await serve(t, ['llama3', 'tiny-llama', 'qwen3:8b'])
  const root = await freshRoot()
  const sit = () => openTerminal(t, ['init', '--state-root', root, '--server', server.url])
  const person = await sit()
  const answer = async (text: string, next: RegExp): Promise<void> => {
    person.type(text)
    person.press('Enter')
    await person.until(next)
  }
  await person.until(/Which one\? \[1\]$/u)
  await answer('9', /There is no 9: type a number from 1 to 3 or a model's name; Enter takes 1\.\nWhich one\? \[1\]$/u)
  await answer('llama9', /There is no llama9: .*\nWhich one\? \[1\]$/u)
  await answer('tiny', /add to config\/routes\.toml: server\? \[Y\/n\]$/u)
  await answer('', /^server \(tiny-llama\) answers\.$[\s\S]*^ended 0$/mu)
  const again = await sit()
  await again.until(/^server \(tiny-llama\) answers\.$[\s\S]*^ended 0$/mu)
  t.regex(again.screen(), /stays as it is\. To use another model, change\s+default_model of \[routes\.server\]/u)
  t.notRegex(again.screen(), /Which one|\[Y\/n\]/u)
})

test.serial('command-line-17: what is wrong is told in a sentence with what to do', async (t) => {
  const server = await serve(t)
  const init = await begin({ BAD: 'wrong', MY_KEY: key })
  const wrongKey = await init.run(...own(server), '--from-env', 'BAD')
  t.is(wrongKey.code, 1)
  t.regex(
    wrongKey.out,
    /openrouter \(a\/b\) does not answer: The provider refused the key.*holdfast init --state-root \S+ --provider openrouter --server \S+ --stdin/u,
  )
  const mended = await init.run(...own(server), '--from-env', 'MY_KEY')
  t.is(mended.code, 0, mended.out)
  t.regex(mended.out, /stored the given key in place of the one that was refused\.\nopenrouter \(a\/b\) answers\./u)
  const silent = await (await begin()).run('--server', 'http://127.0.0.1:9/v1')
  t.is(silent.code, 1)
  t.regex(
    silent.err,
    /no model server answers at http:\/\/127\.0\.0\.1:9\/v1.*server_silent\)\nStart it, or name a model/u,
  )
  const keyed = await begin()
  for (const end of ['?key=a-key', '#a-key']) {
    const { code, err } = await keyed.run('--server', `${server.url}${end}`)
    t.deepEqual([code, /--server must name no user/u.test(err), err.includes('a-key')], [2, true, false], end)
  }
  t.is((await keyed.run('--server', server.url.replace('//', '//me:a-key@'))).code, 2)
  t.throws(() => keyed.file(), { code: 'ENOENT' }, 'and nothing is written')
  const cases: readonly (readonly [Reply, RegExp])[] = [
    [
      refused(404, 'model "a/b" not found'),
      /does not answer: .*model.* not found.*See that the model and the address in \[routes\.openrouter\]/u,
    ],
    [refused(402, 'Insufficient credits'), /does not answer: .*Insufficient credits/u],
    [
      refused(429, 'You exceeded your current quota', 'insufficient_quota'),
      /does not answer: .*exceeded your current quota/u,
    ],
    [{ type: 'broken' }, /does not answer: .*Start the server, or see that base_url/u],
  ]
  for (const [reply, told] of cases) {
    server.answer(() => reply)
    const { code, out } = await init.run(...own(server), '--from-env', 'MY_KEY')
    t.is(code, 1)
    t.regex(out, told)
  }
})

test.serial('command-line-18: what the root has to do is not begun by it', async (t) => {
  const [working, asked] = [await serve(t), await serve(t)]
  working.answer(() => ({ type: 'silence', headers: true }))
  const flags = ['--provider', 'openai_compatible', '--provider-base-url', working.url, '--model', 'm']
  const daemon = await spawnTestDaemon(t, { flags })
  await daemon.request('POST', '/v1/sessions', { session_id: 's1' })
  await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'Hello' })
  while (working.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  await daemon.kill('SIGKILL')
  const env = { SERVICE_PROVIDER: 'openai_compatible', SERVICE_PROVIDER_BASE_URL: working.url, SERVICE_MODEL: 'm' }
  const init = openPiped(t, ['init', '--state-root', daemon.root, '--server', asked.url], env)
  t.is(await init.ended, 0, init.err())
  t.is(working.asked.length, 1)
  const next = await spawnTestDaemon(t, { root: daemon.root })
  const { body } = await next.request('GET', '/v1/status')
  t.false(JSON.stringify(body.health).includes('daemon_held'))
})

test.serial('command-line-14: a person is asked which model, and before anything is written', async (t) => {
  if (!hasTmux(t)) return t.pass()
  const server = await serve(t, ['llama3', 'qwen3:8b'])
  const root = await freshRoot()
  const sit = () => openTerminal(t, ['init', '--state-root', root, '--server', server.url])
  const first = await sit()
  await first.until(/^Models of server\n {2}1 {2}llama3\n {2}2 {2}qwen3:8b\nWhich one\? \[1\]$/mu)
  first.press('C-c')
  await first.until(/^Nothing was added to the state root \S+\.\nended 0$/mu)
  t.false(existsSync(join(root, 'config/routes.toml')))
  const person = await sit()
  await person.until(/Which one\? \[1\]$/u)
  person.type('2')
  person.press('Enter')
  await person.until(/add to config\/routes\.toml: server\? \[Y\/n\]$/u)
  t.is(server.asked.length, 0)
  person.press('Enter')
  await person.until(/^server \(qwen3:8b\) answers\.$[\s\S]*^ended 0$/mu)
  t.is(server.asked.length, 1)
})

test.serial('command-line-17: a key that comes after its route becomes the key of the route', async (t) => {
  const server = await serve(t)
  server.answer(({ headers: { authorization } }) =>
    authorization === `Bearer ${key}` ? saying('ready') : refused(401, 'No key'),
  )
  const init = await begin({ MY_KEY: key })
  const without = await init.run('--server', server.url)
  t.is(without.code, 1)
  t.regex(without.out, /wants a key.* Give the right key: holdfast init --state-root \S+ --server \S+ --stdin$/mu)
  const before = init.file()
  const { code, out } = await init.run('--server', server.url, '--from-env', 'MY_KEY')
  t.is(code, 0, out)
  t.regex(out, /^server: stored the given key as its key\.\nserver \(test-model\) answers\.$/mu)
  t.is(init.file(), before.replace('[routes.server]\n', '[routes.server]\nauth_ref = "models.server"\n'))
})

test.serial('command-line-16: a server at another address is another route', async (t) => {
  const [one, other] = [await serve(t), await serve(t)]
  const init = await begin()
  await init.run('--server', one.url)
  const { code, out } = await init.run('--server', other.url)
  t.is(code, 0, out)
  t.regex(out, /^server_2: added to config\/routes\.toml\.\nserver_2 \(test-model\) answers\.$/mu)
  t.is(other.asked.length, 1)
  const again = await init.run('--server', `${other.url}/`, '--model', 'another')
  t.regex(again.out, /^server_2: is in config\/routes\.toml already/mu)
  t.regex(again.out, /^server_2: to use another, change default_model of \[routes\.server_2\]/mu)
})

test.serial('command-line-17: an address that is not whole is told from a server that is away', async (t) => {
  const server = await serve(t, [])
  const { code, err } = await (await begin()).run('--server', server.url)
  t.is(code, 1)
  t.regex(err, /answers and lists no models for server \(models_unknown\)\nSee that the address is whole/u)
})

test.serial('models-69: init writes nothing for a daemon that reads its routes from another file', async (t) => {
  const root = await freshRoot()
  const file = join(await freshRoot(), 'mine.toml')
  writeFileSync(file, '')
  const served = await startTestDaemon(t, { root, flags: { 'routes-file': file } })
  const refusals = [await createCommandLine(served)('init', '--yes', '--state-root', root)]
  await served.daemon.stop()
  refusals.push(await createRootLine(root, { SERVICE_ROUTES_FILE: file })('init'))
  for (const { code, out, err } of refusals) {
    t.is(code, 1, out)
    t.true(err.includes(`the daemon reads its model routes from ${file}, which init does not write`), err)
  }
  t.false(existsSync(join(root, 'config/routes.toml')))
  t.is(readFileSync(file, 'utf8'), '')
})
