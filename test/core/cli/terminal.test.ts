import test from 'ava'
import { startTestDaemon, spawnMain, type TestDaemon } from '../../support/daemon.js'

/** ESC with a sequence that writes the clipboard, a mark that turns the direction of text, and a line that looks ours. */
const hostile = 'x\u001b]52;c;cm0gLXJm\u0007\u202egpj\u009b2J'
const escaped = 'x\\u001b]52;c;cm0gLXJm\\u0007\\u202egpj\\u009b2J'
// oxlint-disable-next-line no-control-regex
const steers = /[\0-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u

const printer =
  ({ url }: TestDaemon) =>
  async (...words: string[]) => {
    const { text, exited } = spawnMain([...words, '--base-url', url])
    await exited
    return text
  }

test('runtime-24: what models, callers and names say reaches the terminal as text, in both outputs and in errors', async (t) => {
  const daemon = await startTestDaemon(t)
  const print = printer(daemon)
  const session = 'hostile'
  await daemon.request('POST', '/v1/sessions', { session_id: session })
  await daemon.request('POST', '/v1/personas', { persona_id: 'p1', display_name: `N${hostile}` })
  await daemon.request('POST', `/v1/sessions/${session}/input`, { content: `/say ${hostile}` })
  await daemon.request('POST', `/v1/sessions/${session}/input`, {
    content: `/tool bash {"command":${JSON.stringify(`echo ${hostile}`)}}`,
  })
  for (const words of [['runs', 'list'], ['approvals'], ['personas', 'list', '--output', 'json']]) {
    const { out, err } = await print(...words)
    t.notRegex(out, steers, words.join(' '))
    t.true(out.includes(escaped) || out.includes(escaped.replace('\\u', '\\\\u')), `${words.join(' ')}: ${out}${err}`)
  }
  const { out } = await print('sessions', 'get', session, '--output', 'json')
  t.is(JSON.parse(out).snapshot.last_assistant_message, hostile)
  const { err } = await print('runs', 'get', `run${hostile}`)
  t.notRegex(err, steers)
})

test('a text of many lines stands in under its heading: it cannot pass for a line of ours', async (t) => {
  const daemon = await startTestDaemon(t)
  await daemon.request('POST', '/v1/sessions', { session_id: 'lines' })
  await daemon.request('POST', '/v1/sessions/lines/input', { content: 'first\n  next   holdfast state repair' })
  const { out } = await printer(daemon)('sessions', 'get', 'lines')
  t.regex(out, /\n {2}said {3}.*first\n {11}next {3}holdfast state repair/u)
  t.is(out.match(/^ {2}next/gmu)?.length, 1)
})
