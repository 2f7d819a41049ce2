import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { isWhole } from '../../../../../core/base/text/known/borders.js'
import { createKnownValues, type KnownValues } from '../../../../../core/base/text/known/known-values.js'
import { allOf, replaced } from '../../../../../core/base/text/known/spans.js'
import { atOnce } from '../../../../../core/base/turns.js'

const replacing = (known: KnownValues, text: string): string => replaced(text, atOnce(allOf(known.spans(text))), '[x]')

const holding = (values: readonly string[]) => {
  const known = createKnownValues()
  values.forEach(known.add)
  return (text: string): string => replacing(known, text)
}

test('every value is replaced wherever it stands, the longest where several begin', (t) => {
  const replace = holding(['secret', 'secret-long', 'otherwise', 'short'])
  t.is(replace('secret, secret-long secret-lon otherwise'), '[x], [x] [x]-lon [x]')
  t.is(replace('secretsecret'), '[x][x]')
  t.is(replace('short is too short'), 'short is too short', 'values below six characters are ignored')
  t.is(replace(''), '')
})

test('values that overlap go as one, so that no part of any is left', (t) => {
  t.is(holding(['abcdefgh', 'fghijklm', 'ghijkl'])('x abcdefghijklm y'), 'x [x] y')
})

test('nothing of any value is left, and nothing else is gone', (t) => {
  const word = fc.stringMatching(/^[ab]{6,9}$/u)
  fc.assert(
    fc.property(fc.array(word, { maxLength: 5 }), fc.stringMatching(/^[abc]{0,60}$/u), (values, text) => {
      const left = holding(values)(text)
      t.false(values.some((value) => left.includes(value)))
      const kept = left.split('[x]')
      let at = 0
      for (const piece of kept) {
        t.true(text.indexOf(piece, at) >= at)
        at = text.indexOf(piece, at) + piece.length
      }
    }),
  )
})

/** The same, each place asked for each value. */
const plainly = (values: readonly string[], text: string): string => {
  const ends = Array.from(text, (_, at) =>
    Math.max(0, ...values.filter((value) => text.startsWith(value, at)).map(({ length }) => at + length)),
  )
  let [made, end] = ['', 0]
  for (let at = 0; at < text.length; at += 1) {
    if (at >= end) made += (ends[at] ?? 0) > at ? '[x]' : text[at]
    end = Math.max(end, ends[at] ?? 0)
  }
  return made
}

/** Milliseconds that it takes to add this many values and to look for them in a long text. */
const costOf = (t: ExecutionContext, count: number): number => {
  const values = Array.from({ length: count }, (_, n) => `secret-${n}-${'x'.repeat(n % 40)}`)
  const text = 'nothing of it, and secret-1 too\n'.repeat(60_000)
  const from = performance.now()
  const replace = holding(values)
  t.is(replace(text), text)
  t.true(replace(`${text}${values.join(' ')}`).endsWith('[x] [x]'))
  return performance.now() - from
}

test('ten thousand values cost no more than a few, also when they are added', (t) => {
  const few = Math.min(costOf(t, 10), costOf(t, 10))
  // A pass for each value would be a thousand times as much.
  t.true(Math.min(costOf(t, 10_000), costOf(t, 10_000)) < 100 * (few + 10))
})

/** Milliseconds that a long hostile text takes beside values that all begin as it does, each of a length of its own. */
const costOfAlike = (t: ExecutionContext, count: number): number => {
  const values = Array.from({ length: count }, (_, n) => `eyJhbG${String(n).padStart(6, '0')}${'x'.repeat(500 + n)}`)
  const replace = holding(values)
  const text = 'eyJhbG'.repeat(30_000)
  const from = performance.now()
  t.is(replace(text), text)
  return performance.now() - from
}

test('values that begin alike cost a hostile text no more than a few of them', (t) => {
  const few = Math.min(costOfAlike(t, 4), costOfAlike(t, 4))
  // A look for each length would be 250 times as much.
  t.true(Math.min(costOfAlike(t, 1_000), costOfAlike(t, 1_000)) < 25 * (few + 10))
})

test('a long text with a place for a value everywhere is looked through in many portions', (t) => {
  const known = createKnownValues()
  known.add('eyJhbG-secret')
  t.true([...known.spans('eyJhbG'.repeat(30_000))].length > 50)
})

test('of values that begin with one another the longest that is whole goes, also after some were let go', (t) => {
  const word = fc.stringMatching(/^[ab]{6,11}$/u)
  const some = fc.array(fc.tuple(word, fc.boolean()), { maxLength: 9 })
  fc.assert(
    fc.property(some, fc.stringMatching(/^[abc]{0,40}$/u), (values, text) => {
      const known = createKnownValues()
      for (const { undo } of values
        .map(([value, stays]) => ({ undo: known.add(value), stays }))
        .filter((one) => !one.stays))
        undo()
      const left = values.filter(([, stays]) => stays).map(([value]) => value)
      t.is(replacing(known, text), plainly(left, text))
    }),
  )
})

test('a value that was let go is looked for no more, one that was added twice not before both let it go', (t) => {
  const known = createKnownValues()
  const replace = (text: string): string => replacing(known, text)
  const undo = [known.add('secret-one'), known.add('secret-one'), known.add('secret-two'), known.add('secrets')]
  undo[0]?.()
  undo[0]?.()
  t.is(replace('secret-one secret-two'), '[x] [x]', 'one undo lets go once')
  undo[1]?.()
  t.is(replace('secret-one secret-two secrets'), 'secret-one [x] [x]')
  undo[2]?.()
  undo[3]?.()
  t.is(replace('secret-one secret-two secrets'), 'secret-one secret-two secrets')
  known.add('secret-two')
  t.is(replace('secret-one secret-two'), 'secret-one [x]', 'and comes again')
})

test('a long value that is nearly there at every place holds nobody up, and is found to its last sign', (t) => {
  const [value, other] = ['x'.repeat(50_000), `${'x'.repeat(4160)}y`]
  const replace = holding([value, other])
  t.is(replace(`${'x'.repeat(49_999)} ${value} ${'x'.repeat(4159)}y`), `${'x'.repeat(49_999)} [x] ${'x'.repeat(4159)}y`)
  t.is(replace(`x${other}`), 'x[x]')
  const portions = createKnownValues()
  portions.add(value)
  const from = performance.now()
  t.is(replacing(portions, 'x'.repeat(60_000)), '[x]')
  t.true(performance.now() - from < 5_000, 'not the half minute of one sign after the other')
})

test('long values that repeat themselves take linear time, whatever text begins like them at each of its places', (t) => {
  for (const part of ['a', 'ab', 'aab'])
    for (const values of [
      [`${part.repeat(20_000)}b-`, `${part.repeat(20_000)}c-`],
      [part.repeat(20_000)],
      [`${part.repeat(9_000)}-${part.repeat(9_000)}`],
    ]) {
      const replace = holding(values)
      const text = part.repeat(100_000)
      const from = performance.now()
      replace(text)
      // Comparing each place anew took half a minute.
      t.true(performance.now() - from < 5_000, `${part} ${values.length}`)
    }
})

test('of long values that repeat themselves none is missed, and nothing else is gone', (t) => {
  const run = fc.stringMatching(/^(?:a{20,70}|(?:ab){20,40}|b|c){1,5}$/u)
  fc.assert(
    fc.property(fc.array(run, { maxLength: 4 }), fc.array(run, { maxLength: 4 }), (some, parts) => {
      const values = some.filter(({ length }) => length > 5)
      const text = [...parts, ...values].join('').slice(0, 600)
      t.is(holding(values)(text), plainly(values, text))
    }),
    { numRuns: 500 },
  )
})

test('a long value that was let go is looked for no more, those that begin like it are', (t) => {
  const known = createKnownValues()
  const begin = 'x'.repeat(100)
  const undo = [`${begin}1`, `${begin}1`, `${begin}2`, begin].map(known.add)
  const replace = (end: string): string => replacing(known, `${begin}${end}`)
  undo[0]?.()
  t.deepEqual(['1', '2', '3'].map(replace), ['[x]', '[x]', '[x]3'])
  undo[1]?.()
  t.deepEqual(['1', '2', '3'].map(replace), ['[x]1', '[x]', '[x]3'])
  undo[3]?.()
  t.deepEqual(['1', '2', '3'].map(replace), [`${begin}1`, '[x]', `${begin}3`])
})

test('where only whole words are meant, a shorter one is found behind a longer one that goes on', (t) => {
  const known = createKnownValues(isWhole)
  for (const value of ['secret', 'secret-one', `secret ${'x'.repeat(100)}`]) known.add(value)
  t.is(replacing(known, 'secrets secret-ones my_secret'), 'secrets [x]-ones my_[x]')
  t.is(replacing(known, `secret ${'x'.repeat(101)}`), `[x] ${'x'.repeat(101)}`)
})
