import test from 'ava'
import { add, digestOf, isSame, noDigest } from '../../../../../core/state/inspect/survey/row-digest.js'
import type { Row } from '../../../../../core/state/tables/rows.js'

const rows = Array.from({ length: 20_000 }, (_, n): Row => [`run_${n}`, n % 7, n * 1000, n * 2 ** 33])
const sumOf = (all: readonly Row[]) => {
  const sum = noDigest()
  for (const row of all) add(sum, row)
  return sum
}

test('the sum of digests is the same in any order, and without what was taken away', (t) => {
  const sum = sumOf(rows)
  t.true(isSame(sum, sumOf(rows.toReversed())))
  for (const row of rows) add(sum, row, -1)
  t.deepEqual(sum, noDigest())
})

test('a row that differs in one place changes both halves of the sum', (t) => {
  const [row, sum] = [['run_1', 1, 'ab', 100], sumOf(rows)] as const
  const others: Row[] = [
    ['run_2', 1, 'ab', 100],
    ['run_1', 2, 'ab', 100],
    ['run_1', 1, 'a', 'b', 100],
    ['run_1', 1, 'ba', 100],
    ['run_1', 1, 'ab', 101],
    ['run_1', 1, 'ab', 100 + 2 ** 32],
    ['run_1', '1', 'ab', 100],
    ['run_1', 1, 'ab'],
  ]
  for (const other of others) {
    const [a, b] = [digestOf(row), digestOf(other)]
    t.true(a.a !== b.a && a.b !== b.b, JSON.stringify(other))
    t.false(isSame(sumOf([...rows, row]), sumOf([...rows, other])))
  }
  t.false(isSame(sum, sumOf([...rows, row])))
})

test('digests of ordinary rows are all different, and spread over both halves', (t) => {
  const digests = rows.map((row) => digestOf(row))
  t.is(new Set(digests.map(({ a, b }) => `${a}:${b}`)).size, rows.length)
  for (const half of ['a', 'b'] as const)
    for (let bit = 0; bit < 32; bit += 1) {
      const ones = digests.filter((digest) => ((digest[half] >>> bit) & 1) === 1).length
      t.true(Math.abs(ones / rows.length - 0.5) < 0.03, `bit ${bit} of ${half}: ${ones}`)
    }
})
