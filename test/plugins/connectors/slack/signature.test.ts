import test from 'ava'
import { isSigned, readSignature } from '../../../../plugins/connectors/slack/incoming/signature.js'
import { signed } from '../../../support/slack-server.js'

const headOf = (headers: Readonly<Record<string, string | readonly string[]>>) => ({
  header: (name: string): readonly string[] => [headers[name] ?? []].flat(),
})

/** The example of Slack's own guide: its secret, its time, its body, its signature. */
const example = {
  secret: '8f742231b10e8888abcd99yyyzzz85a5',
  at: 1_531_420_618,
  signature: 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
  body: [
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar',
    '&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com',
    '%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN',
    '&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  ].join(''),
}
const exampleHead = headOf({
  'x-slack-request-timestamp': String(example.at),
  'x-slack-signature': example.signature,
})

test("slack-6: Slack's own example is signed, and with any byte changed it is not", (t) => {
  const signature = readSignature(exampleHead, example.at * 1000)
  t.truthy(signature)
  if (signature === undefined) return
  const body = Buffer.from(example.body)
  t.true(isSigned(example.secret, signature, body))
  t.false(isSigned(`${example.secret}x`, signature, body))
  for (let at = 0; at < body.length; at += 1) {
    const changed = Buffer.from(body)
    changed[at] = (changed[at] ?? 0) ^ 1
    t.false(isSigned(example.secret, signature, changed), `byte ${at}`)
  }
  t.false(isSigned(example.secret, signature, body.subarray(1)))
})

test('slack-6: the clock of the sender may be 300 seconds from ours, both ways', (t) => {
  const read = (seconds: number) => readSignature(exampleHead, (example.at + seconds) * 1000) !== undefined
  t.deepEqual([-301, -300, 0, 300, 301].map(read), [false, true, true, true, false])
})

test('slack-6: both headers must be there, once each, and have their form', (t) => {
  const good = signed('{}', { at: example.at })
  const of = (more: Record<string, string | readonly string[]>) =>
    readSignature(headOf({ ...good, ...more }), example.at * 1000)
  t.truthy(of({}))
  const [at, hex] = [String(example.at), good['x-slack-signature'] ?? '']
  for (const timestamp of ['', 'x', `${at}.0`, `+${at}`, ` ${at}`, '1e9', '9'.repeat(13), [at, at], []])
    t.is(of({ 'x-slack-request-timestamp': timestamp }), undefined, String(timestamp))
  for (const signature of ['', hex.slice(3), hex.replace('v0', 'v1'), hex.slice(0, -1), `${hex}0`, [hex, hex], []])
    t.is(of({ 'x-slack-signature': signature }), undefined, String(signature))
  // The timestamp is signed as it stands in its header.
  t.false(isSigned('local-signing-secret', { ...readOnly(of({})), timestamp: `0${at}` }, Buffer.from('{}')))
})

const readOnly = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('nothing was read')
  return value
}
