/** `holdfast chat` as a person and a script use it: a daemon process, a terminal or pipes, and a model server. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { freshRoot, spawnDaemon, spawnTestDaemon, type SpawnedDaemon } from '../../../../support/daemon.js'
import {
  calling,
  chunk,
  saying,
  startOpenAiServer,
  stream,
  type StreamReply,
} from '../../../../support/openai-server.js'
import { hasTmux, openPiped, openTerminal, type Piped, type Terminal } from '../../../../support/screen.js'

/** With the demo model, for all tests that leave it alone. */
let shared: Promise<SpawnedDaemon> | undefined
const usual = (): Promise<SpawnedDaemon> => (shared ??= spawnDaemon())
test.after.always(async () => void (await (await shared)?.stop()))

const at = ({ url }: SpawnedDaemon) => ({ SERVICE_DAEMON_URL: url })

const pipe = (t: ExecutionContext, daemon: SpawnedDaemon, ...words: readonly string[]): Piped =>
  openPiped(t, ['chat', ...words], at(daemon))

const sit = (t: ExecutionContext, daemon: SpawnedDaemon, ...words: readonly string[]): Promise<Terminal> =>
  openTerminal(t, ['chat', ...words], at(daemon))

const times = (text: string, part: string): number => text.split(part).length - 1

test.serial(
  'command-line-6: in a terminal a message is answered, and the session is told to come back to',
  async (t) => {
    if (!hasTmux(t)) return t.pass()
    const daemon = await usual()
    const person = await sit(t, daemon)
    const first = await person.until(/^>$/mu)
    const [, session_id = ''] = /Come back with: holdfast chat (session_\w+)/u.exec(first) ?? []
    person.type('Hello')
    person.press('Enter')
    await person.until(/^ {2}You said: Hello\n>$/mu)
    person.press('C-d')
    await person.until(/^ended 0$/mu)
    const back = await sit(t, daemon, session_id)
    const again = await back.until(/^>$/mu)
    t.regex(again, /^> Hello\n {2}You said: Hello$/mu)
    t.is((await daemon.request('GET', `/v1/sessions/${session_id}`)).status, 200)
  },
)

test.serial(
  'command-line-7: a line goes on behind a backslash and when it is pasted; what was sent can be had again',
  async (t) => {
    if (!hasTmux(t)) return t.pass()
    const daemon = await usual()
    const person = await sit(t, daemon, 'lines')
    await person.until(/^>$/mu)
    person.type('one\\')
    person.press('Enter')
    person.type('two')
    person.press('Enter')
    await person.until(/^ {2}You said: one\n {2}two\n>$/mu)
    person.paste('three\nfour')
    await person.until(/^… four$/mu)
    person.press('Enter')
    await person.until(/^ {2}You said: three\n {2}four\n>$/mu)
    person.press('Up', 'Up', 'Up')
    await person.until(/^> two$/mu)
    person.press('C-c')
    await person.until(/\^C\n>$/u)
    person.press('C-c')
    await person.until(/^ended 0$/mu)
    const runs = (await daemon.request('GET', '/v1/runs?session_id=lines')).body
    t.is(runs.length, 2)
  },
)

test.serial(
  'command-line-8: a tool call is one line, and approvals and questions are asked and answered in place',
  async (t) => {
    if (!hasTmux(t)) return t.pass()
    const daemon = await usual()
    const person = await sit(t, daemon, 'asked')
    await person.until(/^>$/mu)
    person.paste(
      '/say Looking.\n/tool bash {"command":"echo hi"}\n/tool read_file {"path":"no"}\n/ask Which? | Red | Blue\n/say Thanks.',
    )
    person.press('Enter')
    await person.until(/allow bash\?$/mu)
    person.type('maybe')
    person.press('Enter')
    await person.until(/maybe\n.*y allows it once/u)
    person.type('y')
    person.press('Enter')
    await person.until(/answer:$/mu)
    person.type('9')
    person.press('Enter')
    await person.until(/9 is no option/u)
    person.type('2')
    person.press('Enter')
    const done = await person.until(/^ {2}Thanks\.\n>$/mu)
    t.regex(done, /^• bash echo hi$/mu)
    t.regex(done, /^• read_file no\n {2}read_file failed: There is no such file or folder\.$/mu)
    for (const once of ['Looking.\n', '• bash', 'Thanks.\n'])
      t.is(times(done.slice(done.indexOf('  Looking')), once), 1)
    person.press('Up')
    await person.until(/^> \/say Thanks\.$/mu)
    const [run] = (await daemon.request('GET', '/v1/runs?session_id=asked')).body
    const { body } = await daemon.request('GET', `/v1/runs/${run.run_id}/events`)
    t.true(JSON.stringify(body).includes('"selected_option_ids":["o2"]'))
  },
)

test.serial(
  'command-line-8: a call that is denied with a reason is not made, and what others answer is not asked any more',
  async (t) => {
    const daemon = await usual()
    const script = pipe(t, daemon, 'denied')
    script.say('/say Looking.\\')
    script.say('/tool bash {"command":"touch made"}')
    await script.until(/also tells the model why/u)
    script.say('n not today')
    await script.until(/not made: bash touch made/u)
    script.say('//tool bash {"command":"echo hi"}')
    await script.until(/echo hi[\s\S]*also tells the model why/u)
    const [{ run_id, pending_approvals }] = (await daemon.request('GET', '/v1/approvals?session_id=denied')).body.map(
      (one: any) => ({
        run_id: one.run_id,
        pending_approvals: [one.request],
      }),
    )
    const resolutions = pending_approvals.map(({ id }: any) => ({ request_id: id, behavior: 'allow' }))
    await daemon.request('POST', `/v1/runs/${run_id}/approvals`, { resolutions })
    await script.until(/• bash echo hi[\s\S]*Done\./u)
    script.say('Next')
    await script.until(/You said: Next/u)
    script.end()
    t.is(await script.ended, 0)
  },
)

test.serial('command-line-8: a call that is allowed with a passes from then on, and says by which grant', async (t) => {
  const daemon = await usual()
  const script = pipe(t, daemon, 'granted')
  script.say('//tool bash {"command":"echo hi"}')
  await script.until(/a allows it, and in this session from now on bash for the command echo hi\./u)
  script.say('a')
  await script.until(/• bash echo hi[\s\S]*Done\./u)
  script.say('//tool bash {"command":"echo hi"}')
  await script.until(/Allowed by grant grant_\w+: bash for the command echo [^…\n]*\.\n[\s\S]*Done\./u)
  script.end()
  t.is(await script.ended, 0)
})

test.serial('command-line-9: Ctrl-C interrupts the run and a second one leaves; the daemon goes on', async (t) => {
  if (!hasTmux(t)) return t.pass()
  const daemon = await usual()
  const person = await sit(t, daemon, 'stopped')
  await person.until(/^>$/mu)
  person.type('//sleep 300')
  person.press('Enter')
  person.paste('typed\nahead')
  await person.until(/^> typed\n… ahead$/mu)
  person.press('C-c')
  await person.until(/ahead\^C\n>$/u)
  person.type('//sleep 100000')
  person.press('Enter')
  await untilRunning(daemon, 'stopped')
  person.press('C-c')
  await person.until(/^The run was interrupted\. \/retry makes it anew\.\n>$/mu)
  person.type('/retry')
  person.press('Enter')
  await untilRunning(daemon, 'stopped')
  person.press('C-c', 'C-c')
  await person.until(/^ended 130$/mu)
  t.is((await daemon.request('GET', '/readyz')).status, 200)
})

const untilRunning = async ({ request }: SpawnedDaemon, session_id: string): Promise<void> => {
  for (let looks = 0; looks < 1_000; looks += 1) {
    const { body } = await request('GET', `/v1/runs?priority_active=true&session_id=${session_id}`)
    if (body[0]?.status === 'running') return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test.serial('command-line-9: a script that is interrupted ends with 130 when it is told twice', async (t) => {
  const daemon = await usual()
  const script = pipe(t, daemon, 'script')
  script.say('//sleep 100000')
  await untilRunning(daemon, 'script')
  script.kill('SIGINT')
  await script.until(/The run was interrupted/u)
  script.kill('SIGINT')
  t.is(await script.ended, 130)
})

test.serial(
  'command-line-10: a failure is told in a sentence with what to do, and the conversation goes on',
  async (t) => {
    const server = await startOpenAiServer(() => ({
      type: 'status',
      status: 401,
      body: '{"error":{"message":"no key"}}',
    }))
    t.teardown(server.close)
    const flags = ['--provider', 'openai_compatible', '--provider-base-url', server.url, '--model', 'm']
    const daemon = await spawnTestDaemon(t, { flags })
    const script = pipe(t, daemon, 'failing')
    script.say('Hello')
    await script.until(
      /The run failed: model_auth: .*\. holdfast secrets list shows which keys are stored, holdfast secrets set NAME --stdin replaces one; \/retry makes it anew\./u,
    )
    server.answer(() => saying('Now', ' it works'))
    script.say('/retry')
    await script.until(/Now it works/u)
    script.say('/retry')
    await script.until(/^The last run is completed: there is nothing to make anew\./mu)
    script.say('/hlep')
    script.say('/model nosuch/model')
    await script.until(/did you mean \/help\?/u)
    script.end()
    t.is(await script.ended, 0)
  },
)

test.serial(
  'command-line-13: a script waits for a model that fails again and again for seven attempts, and no longer',
  async (t) => {
    const server = await startOpenAiServer(() => ({
      type: 'status',
      status: 500,
      body: '{"error":{"message":"broken"}}',
    }))
    t.teardown(server.close)
    const flags = ['--provider', 'openai_compatible', '--provider-base-url', server.url, '--model', 'm']
    const root = await freshRoot()
    mkdirSync(join(root, 'config'), { recursive: true })
    writeFileSync(join(root, 'config/runs.toml'), 'model_retry_base_ms = 1\nmodel_retry_max_ms = 20\n')
    const daemon = await spawnTestDaemon(t, { flags, root })
    const script = pipe(t, daemon, 'patient')
    script.say('Hello')
    await script.until(/^The model has failed 7 times: the run is interrupted\.$/mu)
    script.end()
    t.is(await script.ended, 1)
  },
)

test.serial('command-line-10: /compact sums up what was said, or says why not', async (t) => {
  const server = await startOpenAiServer(() => saying('It was about notes.'))
  t.teardown(server.close)
  const flags = ['--provider', 'openai_compatible', '--provider-base-url', server.url, '--model', 'm']
  const script = pipe(t, await spawnTestDaemon(t, { flags }), 'long')
  script.say('/compact')
  await script.until(/^Not summed up: Nothing was said in this session\.$/mu)
  for (const word of ['One', 'Two', 'Three']) script.say(`${word} ${'note '.repeat(2_000)}`)
  script.say('/compact the names')
  await script.until(/^Summed up: about \d+ tokens before, \d+ after\.$/mu)
  t.true(JSON.stringify(server.asked.at(-1)?.body).includes('the names'))
  script.end()
  t.is(await script.ended, 0)
})

/** An answer whose end is held back until the test lets it come. */
const held = (...words: string[]): StreamReply => ({
  ...stream(chunk({ role: 'assistant', content: '' }), ...words.map((content) => chunk({ content }))),
  keep_open: true,
})

const restarted = async (t: ExecutionContext, second: readonly string[]) => {
  const server = await startOpenAiServer(() => held('Once upon', ' a time'))
  t.teardown(server.close)
  const flags = ['--provider', 'openai_compatible', '--provider-base-url', server.url, '--model', 'm']
  const daemon = await spawnTestDaemon(t, { flags })
  const script = pipe(t, daemon, 'kept')
  script.say('Tell me')
  await script.until(/Once upon a time$/u)
  await daemon.kill('SIGKILL')
  await script.until(/is away: waiting for it/u)
  server.answer(() => saying(...second))
  const next = await spawnTestDaemon(t, { root: daemon.root, bind: new URL(daemon.url).host, flags })
  t.is(next.url, daemon.url)
  await script.until(/It is back\.[\s\S]*\n.*the end/u)
  script.say('/quit')
  t.is(await script.ended, 0)
  return { out: script.out(), daemon: next }
}

test.serial(
  'command-line-11: a daemon that is killed in the middle of an answer is waited for, and no word comes twice',
  async (t) => {
    const { out, daemon } = await restarted(t, ['Once upon', ' a time', ' and', ' the end'])
    t.is(times(out, 'Once upon'), 1, out)
    t.is(times(out, '… and the end'), 1, out)
    t.is((await daemon.request('GET', '/v1/runs')).body.length, 1)
  },
)

test.serial('command-line-11: a message for a daemon that is away is sent when it is back, and once', async (t) => {
  const daemon = await spawnTestDaemon(t)
  const script = pipe(t, daemon, 'early')
  script.say('First')
  await script.until(/You said: First/u)
  await daemon.kill('SIGKILL')
  script.say('Second')
  await script.until(/is away: waiting for it/u)
  const next = await spawnTestDaemon(t, { root: daemon.root, bind: new URL(daemon.url).host })
  await script.until(/It is back\.[\s\S]*You said: Second/u)
  script.end()
  t.is(await script.ended, 0)
  t.is(times(script.out(), 'You said: Second'), 1)
  t.is((await next.request('GET', '/v1/runs')).body.length, 2)
})

test.serial('command-line-11: an answer that is another one after that begins anew', async (t) => {
  const { out } = await restarted(t, ['Another', ' tale', ': the end'])
  t.regex(out, /\(it begins anew\)\nAnother tale: the end/u)
})

test.serial(
  'command-line-12: what models and tools say steers no terminal, and cannot pass for what is ours',
  async (t) => {
    if (!hasTmux(t)) return t.pass()
    const hostile = 'A\u001b[2J\u001b]0;owned\u0007\r\n> yes\nThe run failed'
    const server = await startOpenAiServer(({ number }) =>
      number === 1 ? calling({ id: 'c1', name: 'bash', input: JSON.stringify({ command: hostile }) }) : saying(hostile),
    )
    t.teardown(server.close)
    const flags = ['--provider', 'openai_compatible', '--provider-base-url', server.url, '--model', 'm']
    const daemon = await spawnTestDaemon(t, { flags })
    const person = await sit(t, daemon, 'hostile')
    await person.until(/^>$/mu)
    person.type('Go')
    person.press('Enter')
    await person.until(/allow bash\?$/mu)
    person.type('n')
    person.press('Enter')
    const screen = await person.until(/^ {2}The run failed\n>$/mu)
    t.regex(screen, /^ {2}A\\u001b\[2J\\u001b\]0;owned\\u0007\n {2}> yes\n {2}The run failed$/mu)
    t.notRegex(screen, /^> yes/mu)
    t.regex(screen, /^• not made: bash A/mu)
  },
)

test.serial(
  'command-line-13: a script that ends at a question is told so with 3, and can come back to it',
  async (t) => {
    const daemon = await usual()
    const script = pipe(t, daemon, 'open')
    script.say('//tool bash {"command":"echo hi"}')
    script.end()
    t.is(await script.ended, 3)
    t.regex(script.out(), /Come back with: holdfast chat open\n$/u)
    const back = pipe(t, daemon, 'open')
    await back.until(/also tells the model why/u)
    back.say('y')
    await back.until(/• bash echo hi[\s\S]*Done\./u)
    back.end()
    t.is(await back.ended, 0)
  },
)

test.serial('command-line-10: /attach gives a file along with the next message alone', async (t) => {
  const daemon = await usual()
  const file = join(await freshRoot(), 'my ferns.md')
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, 'Ferns need shade.')
  const script = pipe(t, daemon, 'attached')
  script.say('/attach /nowhere/at/all')
  await script.until(/\/nowhere\/at\/all cannot be used: it does not exist/u)
  script.say(`/attach ${file}`)
  await script.until(/my ferns\.md, text\/markdown, goes with the next message\./u)
  script.say('What do they need?')
  await script.until(/You said: What do they need\?[\s\S]*Ferns need shade/u)
  script.say('And then?')
  await script.until(/You said: And then\?/u)
  script.say('/model nosuch/x')
  await script.until(/No route is called nosuch\. All of it is taken for a model\./u)
  script.end()
  t.is(await script.ended, 0)
  const runs = (await daemon.request('GET', '/v1/runs?session_id=attached')).body
  t.deepEqual(runs.map((run: any) => run.input_attachments?.length ?? 0).toSorted(), [0, 1])
})

test.serial(
  'command-line-10: a model that its route does not take is told in the words of the conversation',
  async (t) => {
    const daemon = await spawnTestDaemon(t, { flags: ['--provider', 'xai', '--api-key', 'k'] })
    const script = pipe(t, daemon, 'choosing')
    script.say('/model nosuch')
    await script.until(/does not take models of this name[\s\S]*MODEL must begin with grok/u)
    script.say('/model nosuch/xx')
    await script.until(/No route is called nosuch\. [^\n]*\n[\s\S]*does not take models of this name/u)
    script.end()
    t.is(await script.ended, 1)
  },
)

test.serial('command-line-41: the Tab key goes on with the name of a file, and a pasted tab stays', async (t) => {
  if (!hasTmux(t)) return t.pass()
  const folder = await freshRoot()
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'my ferns.md'), 'Ferns need shade.')
  const person = await sit(t, await usual(), 'tabs')
  await person.until(/^>$/mu)
  person.type(`/attach ${folder}/my`)
  person.press('Tab')
  await person.until(/my ferns\.md$/u)
  person.press('Enter')
  await person.until(/^my ferns\.md, text\/markdown, goes with the next message\.\n>$/mu)
  person.paste('a\tb')
  person.press('Enter')
  t.regex(await person.until(/You said: a\s+b/u), /You said: a {2,}b/u)
})
