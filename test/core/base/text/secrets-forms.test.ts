/** The forms in which a known value may stand in a text. */
import test from 'ava'
import { redactedAsRead } from '../../../../core/base/words/as-read.js'
import { guarding } from '../../../support/guarding.js'
import { isLinear } from '../../../support/linear.js'

const redacting = (value: string): ((text: string) => string) => guarding(value).redact
const base64 = (text: string): string => Buffer.from(text).toString('base64')

test('secrets-21: a value is known in hex of either case and in base64 as a part of more, whatever stands before it', (t) => {
  const value = 'cänary-key?one>~'
  const redact = redacting(value)
  const hex = Buffer.from(value).toString('hex')
  for (const form of [value, hex, hex.toUpperCase()]) t.is(redact(`x ${form} y`), 'x [redacted] y')
  for (const before of ['', 'u', 'us', 'use', 'user:', 'Basic '])
    for (const after of ['', ':', ':x', ':xy']) {
      const whole = base64(before + value + after)
      for (const form of [whole, whole.replaceAll('+', '-').replaceAll('/', '_')]) {
        const left = redact(form)
        t.regex(left, /\[redacted\]/u, `${before}…${after}`)
        t.true(left.length < form.length - 8, left)
      }
    }
})

test('secrets-21: a value is known in JSON in JSON, with escapes, in URLs and forms, and with either end of line', (t) => {
  const value = 'a "cänary" key/\nof two lines & more!'
  const json = JSON.stringify(value).slice(1, -1)
  const escaped = json.replace('ä', '\\u00e4')
  const url = encodeURIComponent(value)
  const form = new URLSearchParams([['', value]]).toString().slice(1)
  const redact = redacting(value)
  const forms = [json, JSON.stringify(json).slice(1, -1), escaped, escaped.replace('00e4', '00E4'), url, form]
  const lower = (text: string): string => text.replaceAll(/%../gu, (sign) => sign.toLowerCase())
  const crlf = value.replace('\n', '\r\n')
  const more = [JSON.stringify(escaped).slice(1, -1), lower(url), lower(form), crlf, JSON.stringify(crlf).slice(1, -1)]
  for (const one of [...forms, ...more]) t.is(redact(`x ${one} y`), 'x [redacted] y', one)
  t.is(redacting(crlf)(`x ${value} y`), 'x [redacted] y')
})

test('secrets-21: a value of fewer than six characters is no value that is looked for', (t) => {
  t.is(redacting('short')('a short word'), 'a short word')
  t.is(redacting('shorts')('a shorts word'), 'a [redacted] word')
})

/** Made up, of as many bytes as a key has. */
const bytes = Array.from({ length: 200 }, (_, at) => String.fromCharCode(33 + ((at * 37) % 90))).join('')
const wrapped = (text: string, width: number): string[] => text.match(new RegExp(`.{1,${width}}`, 'gu')) ?? []

test('secrets-21: a value is known in base64 and hex with white space amid it, also where JSON tells of that', (t) => {
  const value = `key-${bytes}`
  const redact = redacting(value)
  const hex = Buffer.from(value).toString('hex')
  const dumps = [
    wrapped(base64(value), 76).join('\n'),
    wrapped(base64(value), 64).join('\r\n'),
    wrapped(hex, 60).join('\n'),
    wrapped(hex, 32)
      .map((line) => ` ${wrapped(line, 2).join(' ')}`)
      .join('\n')
      .trim(),
    wrapped(hex, 2).join(':'),
  ]
  for (const dump of dumps) {
    const json = JSON.stringify(dump).slice(1, -1)
    for (const form of [dump, json, JSON.stringify(json).slice(1, -1)])
      t.regex(redact(`it is\n${form}\nand \\ more of it`), /^it is\n\[redacted\]=*\nand \\ more of it$/u)
  }
  for (const line of wrapped(base64(value).replace(/=+$/u, ''), 76)) t.is(redact(line), '[redacted]')
  const zeros = 'A'.repeat(76)
  t.is(redacting(`key-${'\0'.repeat(200)}`)(zeros), zeros, 'what many bytes are is no secret')
  t.is(
    redact(`the value ${value.slice(0, 10)} ${value.slice(10)}`),
    `the value ${value.slice(0, 10)} ${value.slice(10)}`,
  )
})

test('secrets-21: what stands before an encoded value does not hide it, and values that overlap go as one', (t) => {
  const redact = redacting('nothing-else')
  const hex = Buffer.from('nothing-else').toString('hex')
  for (const before of ['\\', '\\n', '\n', 'x ', `${'\\'.repeat(70_000)}n`])
    t.is(redact(`${before}${hex}`), `${before}[redacted]`)
  t.is(redact(`${hex} ${wrapped(hex, 3).join(' ')}${hex}\t.`), '[redacted] [redacted][redacted]\t.')
  const begins = base64('nothing-else')
  t.is(redact(`C:\\${begins}`), 'C:\\[redacted]', 'its first letter is no line end of a JSON text')
})

test('secrets-21: long texts of gaps are read in portions and in linear time', (t) => {
  const secrets = guarding('nothing-else')
  const hex = wrapped(Buffer.from('nothing-else').toString('hex'), 2).join('\n')
  const text = 'a word, '.repeat(100_000)
  const work = secrets.redacting(`${text}${hex} ${text}${hex}`)
  let portions = 0
  let step = work.next()
  for (; step.done !== true; step = work.next()) portions += 1
  t.true(portions > 20)
  t.is(step.value, `${text}[redacted] ${text}[redacted]`)
  for (const part of ['\\', '\\\\n', ' ', '\n', '6', '6e ']) {
    const redact = (size: number): void => void secrets.redact(part.repeat(size))
    t.true(isLinear(redact, 300_000), part)
  }
})

test('secrets-21: a phrase is known with any blanks and line ends between its words, and a letter with its marks apart', (t) => {
  const phrase = 'correct horse "Bättery" staple'
  const [redact, parted] = [redacting(phrase), phrase.normalize('NFD')]
  const between = ['  ', '\u00a0', '\n', '\r\n   ', '\t', '\\n', '\\\\r\\\\n']
  const forms = [parted, ...between.flatMap((blank) => [phrase, parted].map((one) => one.replaceAll(' ', blank)))]
  for (const form of forms) {
    t.is(
      redact(`it is  (${form}).\n\n\u00a0e\u0301nd`),
      'it is  ([redacted]).\n\n\u00a0e\u0301nd',
      JSON.stringify(form),
    )
    t.is(redacting(parted)(`it is ${form}.`), 'it is [redacted].')
  }
  t.is(redacting(`[a]\npassword = ${phrase}\n`)(`x ${phrase.replaceAll(' ', '\n')}`), 'x [redacted]')
  t.is(redacting('한국어-열쇠-7')(`x ${'한국어-열쇠-7'.normalize('NFD')}`), 'x [redacted]')
  const cut = `${'x'.repeat(64 * 1024 - 3)} ${phrase.replace(' ', ' \n '.repeat(50))}`
  t.is(redact(cut), `${'x'.repeat(64 * 1024 - 3)} [redacted]`, 'also where one portion ends')
  for (const text of [
    'correct\nhorses "Bättery" staple',
    'correcthorse "Bättery" staple',
    `in${phrase.replace(' ', '\n')}`,
  ])
    t.is(redact(text), text)
  t.is(redactedAsRead(`&lt; ${phrase.replaceAll(' ', '&nbsp;')} &gt;`, redact), '&lt; [redacted] &gt;')
  const { redact: redactPlain } = guarding('solid-Key-77')
  t.is(redactPlain('solid-\nKey-77'), 'solid-\nKey-77')
})

test('secrets-21: the padding of base64 goes with the value, and nothing else that follows', (t) => {
  for (const value of ['a-key-of-12', 'a-key-of-12b', 'a-key-of-12bc']) {
    const redact = redacting(value)
    for (const before of ['', 'u', 'us']) {
      const left = redact(`it is "${base64(before + value)}" = 1`)
      t.regex(left, /^it is "[A-Za-z0-9]{0,3}\[redacted\]" = 1$/u, `${before}…${value}`)
    }
  }
  t.is(redacting('a-key-of-12b')(`${base64('a-key-of-12b')}=x`), '[redacted]=x', 'what has no padding')
})

test('secrets-21: a value is known in base64 of its base64, and as a list of its bytes', (t) => {
  const value = 'Rdy-9xPlüm_77Kettle'
  const redact = redacting(value)
  const bytes = Buffer.from(value)
  const hexes = Array.from(bytes, (byte) => `0x${byte.toString(16).padStart(2, '0')}`)
  const lists = [
    hexes.join(', '),
    hexes.join(' '),
    hexes.join(',\n  '),
    hexes.join(', ').toUpperCase().replaceAll('X', 'x'),
  ]
  for (const form of [...lists, JSON.stringify([...bytes]).slice(1, -1), [...bytes].join(', '), [...bytes].join(',\n')])
    t.is(redact(`[1, ${form}, 2]`), '[1, [redacted], 2]', form)
  for (const inner of [base64(value), base64(value).replace(/=+$/u, '')])
    t.is(redact(`data: ${base64(inner)};`), 'data: [redacted];')
  const numbers = JSON.stringify([...bytes].map((byte) => byte + 1))
  t.is(redact(numbers), numbers)
})

test('secrets-21: a random value is known wherever a line end parts it', (t) => {
  const value = 'zz9Q7hK2mN4pR8sT1vW3xY5'
  const redact = redacting(value)
  for (const end of ['\n', '\r\n', '\r', '\\n', '\n    ', ' '])
    t.is(redact(`it is ${value.slice(0, 9)}${end}${value.slice(9)}.\n`), 'it is [redacted].\n', JSON.stringify(end))
  t.is(redact(Array.from(value).join('\r')), '[redacted]')
})

test('secrets-21: texts of blanks and marks are read in linear time where phrases are known', (t) => {
  const redact = redacting('correct horse "Bättery" staple')
  for (const part of [' ', '\n ', '\\n', '\\', 'a\u0308', '\u0308\u0323', '\u1100', '\u1100\u1161\u11a8', 'correct\n'])
    t.true(
      isLinear((size) => void redact(part.repeat(size)), 200_000),
      JSON.stringify(part),
    )
})
