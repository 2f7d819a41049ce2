import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { createKnownValues } from '../../../../core/base/text/known-values.js'
import { atOnce } from '../../../../core/base/turns.js'

const holding = (values: readonly string[]) => {
  const known = createKnownValues()
  values.forEach(known.add)
  return (text: string): string => atOnce(known.replacing(text, '[x]'))
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

test('a value that was let go is looked for no more, one that was added twice not before both let it go', (t) => {
  const known = createKnownValues()
  const replace = (text: string): string => atOnce(known.replacing(text, '[x]'))
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
