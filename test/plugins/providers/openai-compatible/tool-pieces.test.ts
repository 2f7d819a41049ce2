import test from 'ava'
import fc from 'fast-check'
import { createToolPieces, type ToolPiece } from '../../../../plugins/providers/openai-compatible/tool-pieces.js'
import { isLinear } from '../../../support/linear.js'

const piece = (more: Partial<ToolPiece>): ToolPiece => ({
  index: undefined,
  id: undefined,
  name: undefined,
  input: '',
  signature: undefined,
  ...more,
})

/** `id name input` of each call, or that the pieces cannot be told apart. */
const join = (...pieces: readonly Partial<ToolPiece>[]): string[] | 'several' => {
  const calls = createToolPieces()
  for (const one of pieces) if (!calls.take(piece(one))) return 'several'
  return calls.list().map(({ id = '-', name = '-', input }) => `${id} ${name} ${input}`)
}

const habits: [string, Partial<ToolPiece>[], string[] | 'several'][] = [
  [
    'a head and pieces by index',
    [
      { index: 0, id: 'a', name: 'f' },
      { index: 1, id: 'b', name: 'g' },
      { index: 0, input: '{"x"' },
      { index: 1, input: '{}' },
      { index: 0, input: ':1}' },
    ],
    ['a f {"x":1}', 'b g {}'],
  ],
  [
    'indexes out of order',
    [
      { index: 1, id: 'b', name: 'g', input: '{}' },
      { index: 0, id: 'a', name: 'f', input: '{}' },
    ],
    ['a f {}', 'b g {}'],
  ],
  [
    'whole calls without index and id',
    [
      { name: 'f', input: '{}' },
      { name: 'f', input: '{"n":2}' },
    ],
    ['- f {}', '- f {"n":2}'],
  ],
  [
    'pieces by id alone',
    [
      { id: 'a', name: 'f' },
      { id: 'b', name: 'g' },
      { id: 'a', input: '1' },
      { id: 'b', input: '2' },
    ],
    ['a f 1', 'b g 2'],
  ],
  ['pieces with nothing, where there is one call', [{ name: 'f', input: '{"a":' }, { input: '1}' }], ['- f {"a":1}']],
  [
    'the name behind the head',
    [
      { index: 0, id: 'a', input: '{' },
      { index: 0, name: 'f', input: '}' },
    ],
    ['a f {}'],
  ],
  [
    'id and name repeated with every piece',
    [
      { index: 0, id: 'a', name: 'f', input: '' },
      { index: 0, id: 'a', name: 'f', input: '{"x":' },
      { index: 0, id: 'a', name: 'f', input: '{}' },
      { index: 0, id: 'a', name: 'f', input: '}' },
    ],
    ['a f {"x":{}}'],
  ],
  [
    'another id with every piece',
    [
      { index: 0, id: 'a', name: 'f', input: '{"x"' },
      { index: 0, id: 'b', input: ':' },
      { index: 0, id: 'c', name: 'f', input: '1}' },
    ],
    ['a f {"x":1}'],
  ],
  [
    'one index for all calls, whole inputs',
    [
      { index: 0, id: 'a', name: 'f', input: '{}' },
      { index: 0, id: 'b', name: 'f', input: '{}' },
      { index: 0, id: 'c', name: 'g', input: '{}' },
    ],
    ['a f {}', 'b f {}', 'c g {}'],
  ],
  [
    'one index for all calls, no ids',
    [
      { index: 0, name: 'f', input: '{"n":1}' },
      { index: 0, name: 'f', input: '{"n":2}' },
    ],
    ['- f {"n":1}', '- f {"n":2}'],
  ],
  [
    'one index for all calls, one after the other in pieces',
    [
      { index: 0, id: 'a', name: 'f' },
      { index: 0, input: '{"n":' },
      { index: 0, input: '1}' },
      { index: 0, id: 'b', name: 'f' },
      { index: 0, input: '{"n":2}' },
    ],
    ['a f {"n":1}', 'b f {"n":2}'],
  ],
  [
    'one index for all calls, none of which has an input',
    [
      { index: 0, id: 'a', name: 'f' },
      { index: 0, id: 'b', name: 'f' },
      { index: 0, id: 'c', name: 'f' },
    ],
    ['a f ', 'b f ', 'c f '],
  ],
  [
    'an id that is given twice is that of the first',
    [
      { index: 0, id: 'a', name: 'f', input: '{' },
      { index: 1, id: 'a', name: 'g', input: '{' },
      { index: 0, id: 'a', name: 'f', input: '}' },
      { index: 1, id: 'a', name: 'g', input: '}' },
    ],
    ['a f {}', '- g {}'],
  ],
  [
    'an id that is given twice without indexes',
    [
      { id: 'a', name: 'f', input: '{}' },
      { id: 'a', name: 'g', input: '{}' },
    ],
    ['a f {}', '- g {}'],
  ],
  ['pieces that say nothing', [{}, { index: 0 }, { index: 0, id: 'a', name: 'f' }, {}], ['a f ']],
  ['a piece for one of two calls', [{ id: 'a', name: 'f' }, { id: 'b', name: 'g' }, { input: '{}' }], 'several'],
  [
    'a piece whose id and index disagree',
    [
      { index: 0, id: 'a', name: 'f' },
      { index: 1, id: 'b', name: 'g' },
      { index: 1, id: 'a', input: '{}' },
    ],
    'several',
  ],
  [
    'a piece for one of two open calls of one index',
    [
      { index: 0, id: 'a', name: 'f' },
      { index: 0, id: 'b', name: 'g' },
      { index: 0, input: '{}' },
    ],
    'several',
  ],
]
for (const [name, pieces, expected] of habits) {
  test(`models-23: pieces of tool calls come together: ${name}`, (t) => {
    t.deepEqual(join(...pieces), expected)
  })
}

test('inputs that are cut anywhere are whole again', (t) => {
  const call = fc.record({ input: fc.json(), cuts: fc.array(fc.nat(40), { maxLength: 5 }) })
  fc.assert(
    fc.property(fc.array(call, { minLength: 1, maxLength: 4 }), (calls) => {
      const pieces = calls.flatMap(({ input, cuts }, index) => {
        const places = [...cuts.map((cut) => cut % (input.length + 1)), 0, input.length].toSorted((a, b) => a - b)
        const cut = places.slice(1).map((place, n) => ({ index, input: input.slice(places[n], place) }))
        return [{ index, id: `id${index}`, name: 'f' }, ...cut]
      })
      t.deepEqual(
        join(...pieces),
        calls.map(({ input }, index) => `id${index} f ${input}`),
      )
    }),
  )
})

test('very many calls, and very many pieces of one, cost no more for each', (t) => {
  const many = (size: number, one: (n: number) => Partial<ToolPiece>) => {
    const calls = createToolPieces()
    for (let n = 0; n < size; n += 1) calls.take(piece(one(n)))
    return calls.list()
  }
  const size = 40_000
  t.true(isLinear((count) => void many(count, (n) => ({ index: n, id: `c${n}`, name: 'f', input: '{}' })), size))
  t.true(isLinear((count) => void many(count, (n) => ({ index: 0, id: `c${n}`, name: 'f' })), size))
  t.true(isLinear((count) => void many(count, () => ({ index: 0, id: 'a', name: 'f', input: '[{},' })), size))
  t.true(isLinear((count) => void many(count, () => ({ name: 'f', input: '{}' })), size))
})
