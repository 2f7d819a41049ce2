import test from 'ava'
import { redactedTo, withoutCutWord } from '../../../../core/base/words/redacted-to.js'
import { isLinear } from '../../../support/linear.js'
import { across, cutCanary, holdsPiece, redactCanary } from '../../../support/canaries.js'

test('secrets-25: a text is redacted before it is cut, wherever the secret stands across the cut', (t) => {
  for (const text of across(200)) {
    t.true(holdsPiece(text.slice(0, 200)))
    const shown = redactedTo(text, 200, redactCanary)
    t.false(holdsPiece(shown))
    t.is(shown.length, 200)
  }
})

test('secrets-25: what becomes short by being redacted shows nothing of what is behind it', (t) => {
  for (let at = 0; at < cutCanary.length; at += 1) {
    const text = `${'x'.repeat(at)}${cutCanary.repeat(80_000)}`
    t.false(holdsPiece(redactedTo(text, 256 * 1024, redactCanary)))
    t.false(holdsPiece(redactedTo(text, 10, redactCanary)))
  }
})

test('secrets-25: a secret is found in whatever form it is read: escapes, sequences of a terminal, signs without a shape', (t) => {
  const redact = (text: string): string => text.replaceAll('my-own-key', '[redacted]')
  for (const form of [
    'my%2Down-key',
    'my%2down%2Dkey',
    '%6Dy-own-key',
    'my\\u002down-key',
    'my\\x2down-key',
    'my\u200b-own-key',
    'my-o\u00adwn-key',
    'my-\u001b[31mown-key',
    'my-\u001b]0;title\u0007own-key',
    'my-own\u0000-key',
    'my-own\b-key',
    'my-xy\b\bown-key',
    'my%E2%80%8B-own-key',
    'my%\u200b2Down-key',
    'my%252Down-key',
    'my\\-own\\-key',
    'my&#45;own&#x2D;key',
    'my&amp;#45;own-key',
    '&#109;y-own-key',
  ]) {
    t.is(redactedTo(`a ${form}\nb`, 100, redact), 'a [redacted]\nb', form)
    t.is(redactedTo(`a ${form}\nb`, 4, redact), 'a [r', form)
  }
  for (const text of ['100%25 of my\u200b own', 'C:\\x41 \u001b[31mred', 'my%2Dkey'])
    t.is(redactedTo(text, 100, redact), text)
})

test('secrets-25: a secret is found with the escapes of JSON, shells, programs and HTML before its signs', (t) => {
  const secret = `wJ/K7&"it's'$b<x>`
  const redact = (text: string): string => text.replaceAll(secret, '[redacted]')
  const html = secret.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
  const forms = [
    JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/'),
    secret.replaceAll(/\W/gu, '\\$&'),
    secret.replaceAll("'", "\\'"),
    html.replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
    html.replaceAll('&#39;', '&apos;').replaceAll('&amp;', '&#38;'),
    encodeURIComponent(encodeURIComponent(secret)),
  ]
  for (const form of forms) t.is(redactedTo(`a ${form}\nb`, 100, redact), 'a [redacted]\nb', form)
  const both = `${forms[0]} ${forms[5]}`
  t.is(redactedTo(both, 100, redact), '[redacted] [redacted]', 'whatever else was found before')
  for (const text of ['a &amp; b\\/c &#1114112; &nosuch;', forms[0]?.slice(1) ?? ''])
    t.is(redactedTo(text, 100, redact), text)
})

test('secrets-25: of a text in which a secret stands in disguise the rest stays as it is', (t) => {
  const redact = (text: string): string =>
    text.replaceAll('my-own key', '[redacted]').replaceAll('own/one', '[redacted]')
  const rest = 'Tom &amp; &lt;img&gt; "\\\\d+" %20 <a href="/x?a=1%26b=2">'
  t.is(redactedTo(`${rest} own\\/one &gt;`, 200, redact), `${rest} [redacted] &gt;`)
  t.is(redactedTo(`${rest}\nmy\\-own\\ key\n${rest}`, 200, redact), `${rest}\n[redacted]\n${rest}`)
})

test('secrets-25: what is read otherwise takes no longer than it is long', (t) => {
  for (const piece of [
    '\u001b[',
    'a\b',
    '\u001b]',
    '%2',
    '%41',
    '\\u00',
    '\\/',
    '&amp;',
    '&#3',
    '%25',
    '\u001b]x\u001b[1;',
  ])
    t.true(
      isLinear((size) => void redactedTo(piece.repeat(size), 100 * size, String), 50_000),
      piece,
    )
})

test('secrets-25: however much of a long text is secret, it is looked at once, and what is shown is sure', (t) => {
  const [text, most] = [`a ${cutCanary} `.repeat(400_000), 256 * 1024]
  const reading = (redact: (part: string) => string): number => {
    let looked = 0
    const shown = redactedTo(text, most, (part) => ((looked += part.length), redact(part)))
    t.false(holdsPiece(shown))
    t.regex(shown, /^(?:a \[redacted\] )+(?:a ?)?(?:\[redacted\]?)?$/u)
    t.true(shown.length > most / 3)
    return looked
  }
  t.true(reading(redactCanary) < 1_500_000)
  const written = Array.from(cutCanary, (sign) => `%${sign.charCodeAt(0).toString(16)}`).join('')
  for (let at = 0; at < written.length; at += 7) {
    const long = `${'x'.repeat(at)}${`${written} `.repeat(20_000)}`
    const shown = redactedTo(long, most, redactCanary)
    t.regex(shown, /^x*(?:\[redacted\] )+(?:\[redacted\]?)?$/u)
    t.is(redactedTo(long, 300, redactCanary), shown.slice(0, 300))
  }
})

test('of a long text its beginning is looked at', (t) => {
  let looked = 0
  const redact = (text: string): string => {
    looked += text.length
    return text
  }
  t.is(redactedTo('x'.repeat(20_000_000), 100, redact).length, 100)
  t.true(looked < 1_000_000)
})

test('a word that may be cut in two is left out', (t) => {
  t.is(withoutCutWord('one two thr'), 'one two')
  t.is(withoutCutWord('one two '), 'one two')
  t.is(withoutCutWord('one'), '')
})
