import { hash } from 'node:crypto'
import test from 'ava'
import fc from 'fast-check'
import { canonical, digest, fingerprint, longTexts } from '../../../../core/base/text/canonical-json.js'

test('the fingerprint of a value without long texts is its digest', (t) => {
  fc.assert(fc.property(fc.jsonValue(), (value) => fingerprint(value, new Map()) === digest(value)))
  t.is(fingerprint({ b: 1, a: undefined }, new Map()), digest({ b: 1 }))
})

test('long texts are found in their order, and a fingerprint is the same whoever has hashed them', (t) => {
  const [a, b] = ['a'.repeat(1_048_577), 'b'.repeat(1_048_577)]
  const value = { y: [b, 'short'], x: { a } }
  const texts = longTexts(value)
  t.true(texts.length === 2 && texts[0] === b && texts[1] === a)
  const hashes = new Map(texts.map((text) => [text, hash('sha256', text)]))
  t.is(fingerprint(value, hashes), fingerprint({ x: { a }, y: [b, 'short'] }, new Map()))
  t.not(fingerprint(value, hashes), fingerprint({ ...value, x: { a: `${a}a` } }, new Map()))
  t.not(fingerprint(a, new Map()), fingerprint(`sha256:${hash('sha256', a)}`, new Map()))
  t.is(canonical({ b: [1, null], a: 'x' }), '{"a":"x","b":[1,null]}')
})

/** The same value with its members the other way round. */
const turned = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(turned)
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, field]) => [key, turned(field)]),
  )
}

test('what is in order already has the text of what is not', (t) => {
  fc.assert(fc.property(fc.jsonValue(), (value) => canonical(value) === canonical(turned(value))))
  const ordered = { a: [{ b: 1, c: undefined }], d: { e: 'x' } }
  t.is(canonical(ordered), '{"a":[{"b":1}],"d":{"e":"x"}}')
  t.is(canonical(turned(ordered)), canonical(ordered))
  t.is(canonical(undefined), 'null')
})
