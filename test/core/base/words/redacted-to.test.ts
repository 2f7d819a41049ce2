import test from 'ava'
import { redactedTo, withoutCutWord } from '../../../../core/base/words/redacted-to.js'
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
