/** Whom a text calls; docs/rules/channels.md. */
import test from 'ava'
import { addressedIn, aliasOf, mostAddressed } from '../../../../plugins/coordination/channels/record/addressing.js'

/** Members with their names. */
const members: Readonly<Record<string, string>> = {
  w1: 'Writer',
  'maria.k': 'Maria',
  m2: 'Maria Luz',
  'project:p:x': 'Builder!',
  d1: 'Double',
  d2: 'double',
  w2: 'w1.',
  ma: 'Mary Ann',
  z1: 'Zo\u00e9',
  i1: '\u0130stanbul',
}
const find = (alias: string): readonly string[] =>
  Object.entries(members).flatMap(([id, name]) => ([id, name].some((one) => aliasOf(one) === alias) ? [id] : []))

const table: readonly (readonly [string, readonly string[]])[] = [
  ['Writer, what is next?', ['w1']],
  ['  wRITER: x', ['w1']],
  ['Writer', ['w1']],
  ['Writer\nx', ['w1']],
  ['Writers are here', []],
  ['Writer-x', []],
  ['Dear Writer, x', []],
  ['Maria, x', ['maria.k']],
  ['maria luz: x', ['m2']],
  ['Maria Luz and Maria', ['m2']],
  ['Maria.K. x', ['maria.k']],
  ['builder! x', ['project:p:x']],
  ['project:p:x hello', ['project:p:x']],
  ['Double, x', []],
  ['W1, x', []],
  ['x @Writer y', ['w1']],
  ['x @writer, @MARIA! y @writer', ['w1', 'maria.k']],
  ['@Maria Luz', ['m2']],
  ['@Mary Ann x', ['ma']],
  ['hi @Mary Ann, x', ['ma']],
  ['hi @mary ann', ['ma']],
  ['hi @mary  ann', []],
  ['hi @Mary Anne', []],
  ['hi (@zo\u00e9), [@Mary Ann]', ['z1', 'ma']],
  ['hi "@zo\u00e9" and @maria\u2019s', ['z1', 'maria.k']],
  ["@zo\u00e9's x", ['z1']],
  ['Zoe\u0301: x', ['z1']],
  ['hi @ZOE\u0301', ['z1']],
  ['hi @istanbul', ['i1']],
  ['hi @Maria\nLuz', ['maria.k']],
  ['Maria, ask @writer', ['maria.k', 'w1']],
  ['x @double @nobody @ @@ y', []],
  ['x y@writer z@writer.org', []],
  ['x (@writer) z', ['w1']],
  ['x @@writer::', ['w1']],
  ['', []],
  ['   ', []],
  ['?!', []],
]

for (const [text, found] of table)
  test(`channels-18, channels-25: ${JSON.stringify(text)} calls ${found.length === 0 ? 'nobody' : found.join(', ')}`, (t) => {
    t.deepEqual([...addressedIn(text, find)], [...found])
  })

test('channels-18: a text of any length calls at most so many, and looks at no more than its beginning for a name', (t) => {
  let asked = 0
  const everybody = (alias: string): readonly string[] => {
    asked += 1
    return /^n\d+$/u.test(alias) ? [alias] : []
  }
  const text = Array.from({ length: 50_000 }, (_, n) => `@n${n}`).join(' ')
  t.is(addressedIn(text, everybody).length, mostAddressed)
  addressedIn(`${'a '.repeat(100_000)}`, everybody)
  t.true(asked < 2_000, String(asked))
  asked = 0
  addressedIn(`@${'a '.repeat(200)}`.repeat(500), everybody)
  t.true(asked < 5_000, String(asked))
})
