/** Secrets that stand in a text otherwise than they are known, and what stands beside them. */
import test, { type ExecutionContext } from 'ava'
import { redactedAsRead, redactingAsRead } from '../../../../core/base/words/as-read.js'
import { isLinear } from '../../../support/linear.js'

const secret = 'Vq-9m_Plum+77/Kettle='
const redact = (text: string): string => text.replaceAll(secret, '[redacted]')
/** Each sign of it that is no letter or digit, written as a program writes it. */
const signsAs = (write: (code: number) => string): string =>
  secret.replaceAll(/[^A-Za-z0-9]/gu, (sign) => write(sign.charCodeAt(0)))
const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')
const amid = (signs: string): string => `${secret.slice(0, 6)}${signs}${secret.slice(6)}`
/** What of it would be read otherwise, too. */
const rest = '"x\\ny" \\\\d &amp; &lt;b&gt; %20 \u001b[1m'

const isFound = (t: ExecutionContext, forms: readonly string[]): void => {
  for (const form of forms)
    t.is(redactedAsRead(`${rest} ${form} ${rest}`, redact), `${rest} [redacted] ${rest}`, JSON.stringify(form))
}

test('secrets-25: a secret is found in escapes of programs, of mail and of HTML', (t) => {
  isFound(t, [
    signsAs((code) => `\\u{${hex(code, 1)}}`),
    signsAs((code) => `\\U${hex(code, 8)}`),
    signsAs((code) => `%u${hex(code, 4)}`),
    signsAs((code) => `\\${code.toString(8).padStart(3, '0')}`),
    signsAs((code) => `\\0${code.toString(8).padStart(3, '0')}`),
    signsAs((code) => `=${hex(code, 2).toUpperCase()}`),
    signsAs((code) => `&#${String(code).padStart(8, '0')};`),
    secret.replace('_', '&#95').replace('/', '&#x2f'),
    secret.replace('-', '&hyphen;').replace('_', '&lowbar;').replace('+', '&plus;').replace('/', '&sol;'),
    secret.replace('=', '&equals;').replace('-', '&AMP;#45;'),
    ...['&shy;', '&ZeroWidthSpace;', '\\\n', '\\\r\n', '=\n', '=\r\n'].map(amid),
  ])
  const umlauts = 'Kännchen-Öl-7'
  const inBytes = (before: string): string => encodeURIComponent(umlauts).replaceAll('%', before)
  const octal = umlauts.replaceAll(/[äÖ]/gu, (sign) =>
    Array.from(Buffer.from(sign), (byte) => `\\${byte.toString(8)}`).join(''),
  )
  for (const form of [inBytes('%'), inBytes('\\x'), inBytes('='), octal])
    t.is(
      redactedAsRead(`ü ${form} %C3%A4`, (text) => text.replaceAll(umlauts, '[redacted]')),
      'ü [redacted] %C3%A4',
    )
})

test('secrets-25: a secret is found with whatever steers a terminal amid it, also as it is written', (t) => {
  isFound(t, [
    ...['\u001b(B\u001b[m', '\u001b7', '\u001b8', '\u009b31m', '\u001bc', '\u001b'].map(amid),
    ...['\u001bPq\u001b\\', '\u001b_x\u001b\\', '\u001b^x\u001b\\', '\u001bXx\u001b\\', '\u0090q\u009c'].map(amid),
    ...['\u001b]8;;http://x\u001b\\', '\u001b]0;title\u0007'].map(amid),
    ...['\\u001b(B\\u001b[m', '\\033[31m', '\\x1b[31m', '\\e[31m', '\\e(B', '%1B%5B31m'].map(amid),
  ])
})

test('secrets-25: a secret is found where backspaces take signs away, also as they are written or behind a colour', (t) => {
  const each = (write: (sign: string) => string): string => Array.from(secret, write).join('')
  isFound(t, [
    ...['z\b', 'zz\b\b', 'z\b \b', '\u{1f600}\b', 'z\\b', 'z\\u0008', 'z\u001b[1m\b', 'z\u200b\b', 'z\u001b[D'].map(
      amid,
    ),
    each((sign) => `${sign}\b${sign}`),
    each((sign) => `_\b${sign}`),
  ])
})

test('secrets-25: nothing but the secret is changed, however many stand in one line', (t) => {
  const phrase = 'two words "and" Zq-7 more'
  const redactBoth = (text: string): string => redact(text).replaceAll(phrase, '[redacted]')
  const html = phrase.replaceAll('"', '&quot;')
  const json = (value: string): string =>
    JSON.stringify({ a: 'l\nb', in: JSON.stringify({ in: JSON.stringify({ value, re: '\\d' }) }), z: '\\x' })
  const texts: readonly (readonly [text: string, safe: string])[] = [
    [
      `{"a":"x\\ny","pw":"${phrase.replaceAll('"', '\\u0022')}","re":"\\\\d"}`,
      '{"a":"x\\ny","pw":"[redacted]","re":"\\\\d"}',
    ],
    [
      `<p>Tom &amp; &lt;b&gt; ${html} &lt;i&gt; ${html}</p>`,
      '<p>Tom &amp; &lt;b&gt; [redacted] &lt;i&gt; [redacted]</p>',
    ],
    [json(phrase), json('[redacted]')],
    [`${phrase}, ${html} [redacted] &lt;redacted&gt;`, '[redacted], [redacted] [redacted] &lt;redacted&gt;'],
    [`?p=${encodeURIComponent(phrase)}%26q=${encodeURIComponent(secret)}`, '?p=[redacted]%26q=[redacted]'],
  ]
  for (const [text, safe] of texts) t.is(redactedAsRead(text, redactBoth), safe)
  t.is(
    redactedAsRead('a%2Dbcd-efg', (text) => text.replaceAll(/a-bc(?:d-efg)?/gu, '[redacted]')),
    '[redacted]',
    'all of the longer of two that begin alike',
  )
})

test('secrets-25: of signs that may stand amid a secret none is taken for harmless', (t) => {
  const secrets = ['[red]-zz]', 'aa"aa"aa', 'x]y[redz"']
  const redactAll = (text: string): string => secrets.reduce((left, one) => left.replaceAll(one, '[redacted]'), text)
  for (const one of secrets)
    for (const other of secrets)
      for (const amidst of ['', '"', 'aa', ']', '[redacted]', 'a]'])
        for (const write of [encodeURIComponent, (text: string) => text.replaceAll(/\W/gu, '\\$&')]) {
          const safe = redactedAsRead(`"${write(one)}${amidst}${write(other)}"`, redactAll)
          t.regex(safe, /^"\[redacted\](?:"|aa|\]|a\]|(?:\[redacted\])*)?(?:\[redacted\])?"$/u)
        }
})

test('secrets-25: a text without a secret stays as it is', (t) => {
  for (const text of [
    rest,
    'C:\\bin\\041 =2D =\n a\bb \u001b(B',
    '&lt;redacted&gt; [redacted] %3Credacted%3E',
    'ä\u0308',
  ])
    t.is(redactedAsRead(text, redact), text)
})

test('secrets-25: signs that begin what does not end are read in linear time, and so are many secrets', (t) => {
  const steering = ['\u001b', '\u001bP', '\u009d', '\u009b', '\u001b(', '\u001b[D', '\\e[', '\\033[']
  const escapes = ['=\n', '=2D', '\\b', '&#', '&#0', '%c3', '%c3%a4', '\\303', '&lt;redacted&gt;']
  const secrets = ['[redacted]', `${encodeURIComponent(secret)} `, `${secret}\\"`]
  for (const piece of [...steering, ...escapes, ...secrets])
    t.true(
      isLinear((size) => void redactedAsRead(piece.repeat(size), redact), 30_000),
      JSON.stringify(piece),
    )
})

test('secrets-25: a secret is found in letters of full width, and with the blank of braille amid it', (t) => {
  const wide = (text: string): string =>
    text.replaceAll(/[!-~]/gu, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0))
  isFound(t, [
    wide(secret),
    wide(secret.slice(0, 6)) + secret.slice(6),
    amid('\u2800'),
    Array.from(secret).join('\u2800'),
  ])
  const text = `密码：${wide('Ab 1')}，⠓⠊\u2800⠽ ${rest}`
  t.is(redactedAsRead(text, redact), text)
})

test('secrets-25: a long text is read in portions', (t) => {
  const text = `${'\\-'.repeat(100_000)} ${secret.replace('-', '\\-')}`
  const work = redactingAsRead(text, redact)
  let [portions, step] = [0, work.next()]
  for (; step.done !== true; step = work.next()) portions += 1
  t.true(portions > 3)
  t.is(step.value, `${'\\-'.repeat(100_000)} [redacted]`)
})
