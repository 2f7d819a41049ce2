import test from 'ava'
import fc from 'fast-check'
import { cutDeep, isModest, isShallow } from '../../../../core/base/text/nesting.js'
import { isLinear } from '../../../support/linear.js'

const depthOf = (value: unknown): number =>
  typeof value !== 'object' || value === null ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf))
const countOf = (value: unknown): number =>
  typeof value !== 'object' || value === null
    ? 1
    : Object.values(value).reduce((sum: number, one) => sum + countOf(one), 1)

test('depth is counted wherever texts, escapes and brackets in texts stand', (t) => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.nat({ max: 7 }), (json, depth) =>
      t.is(isModest(json, { depth }), depthOf(JSON.parse(json)) <= depth),
    ),
  )
  for (const text of ['"[[[["', '"\\"[[[["', '"\\\\\\"[[[["', '["a\\\\",[]]'])
    t.true(isModest(text, { depth: 2 }), text)
})

test('the depth of a value is that of its text, and a look at a very deep one ends', (t) => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.nat({ max: 7 }), (json, depth) =>
      t.is(isShallow(JSON.parse(json), depth), isModest(json, { depth })),
    ),
  )
  t.false(isShallow(JSON.parse('['.repeat(6_000) + ']'.repeat(6_000))))
})

test('values are counted, nearly', (t) => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (json) => {
      const count = countOf(JSON.parse(json))
      t.true(isModest(json, { most: count + 1 }))
      t.is(isModest(json, { most: Math.floor(count / 2) - 1 }), false)
    }),
  )
})

for (const [name, unit] of Object.entries({
  quotes: '\\"',
  backslashes: '\\\\',
  texts: '"",',
  blanks: ' ',
  depth: '[',
}))
  test(`a look at very many ${name} costs in proportion to them`, (t) => {
    t.true(isLinear((size) => void isModest(`"${unit.repeat(size)}`, { depth: Infinity, most: Infinity }), 400_000))
  })

const cutValue = (value: unknown, depth: number): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return '[nested too deeply]'
  return Array.isArray(value)
    ? value.map((inner) => cutValue(inner, depth - 1))
    : Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cutValue(inner, depth - 1)]))
}

test('what is nested too deeply is cut out of a text, and nothing else', (t) => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.nat({ max: 7 }), (json, depth) =>
      t.deepEqual(JSON.parse(cutDeep(json, depth)), cutValue(JSON.parse(json), depth)),
    ),
  )
  const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
  t.is(cutDeep(`{"a":${deep(1_000_000)},"b":1}`, 2), '{"a":["[nested too deeply]"],"b":1}')
  for (const text of [']]]', '[[[', '[[[}', '"[[[']) t.notThrows(() => cutDeep(text, 1))
})
