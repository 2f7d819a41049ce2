/** The forms in which a known value may stand in a text. */
import test from 'ava'
import { createSecrets } from '../../../../core/base/text/secrets.js'

const noFiles = {
  stat: () => undefined,
  readFile: () => undefined,
  makeFolder: () => Promise.resolve(),
  replace: () => Promise.resolve(),
  unlink: () => Promise.resolve(),
  syncFolder: () => Promise.resolve(),
  list: () => [],
}
const guarding = (value: string) => {
  const secrets = createSecrets({ disk: noFiles, root: '/nowhere', unwritten: () => new Error('no disk') })
  secrets.guard(value)
  return secrets.redact
}
const base64 = (text: string): string => Buffer.from(text).toString('base64')

test('secrets-21: a value is known in hex of either case and in base64 as a part of more, whatever stands before it', (t) => {
  const value = 'cänary-key?one>~'
  const redact = guarding(value)
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
  const redact = guarding(value)
  const forms = [json, JSON.stringify(json).slice(1, -1), escaped, escaped.replace('00e4', '00E4'), url, form]
  const lower = (text: string): string => text.replaceAll(/%../gu, (sign) => sign.toLowerCase())
  const crlf = value.replace('\n', '\r\n')
  const more = [JSON.stringify(escaped).slice(1, -1), lower(url), lower(form), crlf, JSON.stringify(crlf).slice(1, -1)]
  for (const one of [...forms, ...more]) t.is(redact(`x ${one} y`), 'x [redacted] y', one)
  t.is(guarding(crlf)(`x ${value} y`), 'x [redacted] y')
})

test('secrets-21: a value of fewer than six characters is no value that is looked for', (t) => {
  t.is(guarding('short')('a short word'), 'a short word')
  t.is(guarding('shorts')('a shorts word'), 'a [redacted] word')
})
