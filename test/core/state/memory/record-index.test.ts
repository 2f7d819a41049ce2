import test from 'ava'
import fc from 'fast-check'
import type { IndexSpec } from '../../../../core/state/contract.js'
import { isLinear } from '../../../support/linear.js'
import { createRecordIndex, placeOf, type RecordIndex } from '../../../../core/state/memory/record-index.js'

interface Item {
  readonly id: string
  readonly group: string | undefined
  readonly sort: string
}

const item = fc.record({
  id: fc.constantFrom(...'abcdefghij'),
  group: fc.constantFrom('x', 'y', undefined),
  sort: fc.constantFrom('1', '2', '3', '10'),
})
const spec: IndexSpec<Item> = { group: (one) => one.group, sort: (one) => one.sort }
const compare = (a: Item, b: Item): number => (a.sort === b.sort ? (a.id < b.id ? -1 : 1) : a.sort < b.sort ? -1 : 1)

test('an index lists what a sorted array would, after any moves, in both directions and from any place', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ item, gone: fc.boolean() }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom('0', '1', '2', '3', '9'),
      fc.subarray([...'abcdefghij']),
      (steps, limit, beyond, leaving) => {
        const index = createRecordIndex(spec)
        const model = new Map<string, Item>()
        for (const { item: next, gone } of steps) {
          const before = model.get(next.id)
          index.move(next.id, before, gone ? undefined : next)
          if (gone) model.delete(next.id)
          else model.set(next.id, next)
        }
        index.dropAll((id) => leaving.includes(id))
        for (const id of leaving) model.delete(id)
        const loaded = createRecordIndex(spec)
        for (const [id, one] of model) loaded.load(id, placeOf(spec, id, one))
        loaded.settle()
        for (const group of ['x', 'y']) {
          const expected = [...model.values()].filter((one) => one.group === group).toSorted(compare)
          for (const one of [index, loaded]) {
            t.deepEqual(
              one.page({ index: '', group, limit: Infinity }),
              expected.map(({ id }) => id),
            )
            t.deepEqual(
              one.keys({ index: '', group, limit: Infinity }),
              expected.map(({ id, sort }) => ({ id, sort })),
            )
            t.is(one.count(group), expected.length)
            t.is(one.count(group, beyond), expected.filter(({ sort }) => sort > beyond).length)
            t.deepEqual(
              one.page({ index: '', group, limit }),
              expected.slice(0, limit).map(({ id }) => id),
            )
            t.deepEqual(
              one.page({ index: '', group, limit, beyond }),
              expected
                .filter(({ sort }) => sort > beyond)
                .slice(0, limit)
                .map(({ id }) => id),
            )
            t.deepEqual(
              one.page({ index: '', group, limit, order: 'desc', beyond }),
              expected
                .filter(({ sort }) => sort < beyond)
                .toReversed()
                .slice(0, limit)
                .map(({ id }) => id),
            )
          }
        }
        t.deepEqual(
          index.groups().toSorted(),
          [...new Set([...model.values()].map((one) => one.group))].filter((group) => group !== undefined).toSorted(),
        )
      },
    ),
    { numRuns: 150 },
  )
})

/** A number between 0 and 1 that looks like chance, the same in each run. */
const chanceOf = (n: number): number => Math.abs(Math.sin(n * 12.9898) * 43758.5453) % 1

const leavings: Readonly<Record<string, (index: RecordIndex<Item>, items: readonly Item[]) => void>> = {
  'one by one': (index, items) => items.forEach((one) => index.move(one.id, one, undefined)),
  'at once': (index, items) => {
    const ids = new Set(items.map(({ id }) => id))
    index.dropAll((id) => ids.has(id))
  },
}

for (const [how, leave] of Object.entries(leavings))
  test(`an index of very many lists what a sorted array would, while they come and go ${how}`, (t) => {
    const large: Item[] = Array.from({ length: 6000 }, (_, n) => ({
      id: `i${n}`,
      group: 'x',
      sort: String(Math.floor(chanceOf(n) * 500)).padStart(3, '0'),
    }))
    const index = createRecordIndex(spec)
    for (const one of large.slice(0, 3000)) index.load(one.id, placeOf(spec, one.id, one))
    index.settle()
    for (const one of large.slice(3000)) index.move(one.id, undefined, one)
    let left = large
    for (const share of [1, 0.6, 0.1, 0]) {
      const stays = (one: Item): boolean => chanceOf(Number(one.id.slice(1)) + 0.5) < share
      leave(
        index,
        left.filter((one) => !stays(one)),
      )
      left = left.filter(stays)
      const expected = left.toSorted(compare)
      t.deepEqual(
        index.page({ index: '', group: 'x', limit: Infinity }),
        expected.map(({ id }) => id),
      )
      t.is(index.count('x'), left.length)
      for (const beyond of [undefined, '000', '100', '250', '499', '500']) {
        const after = expected.filter(({ sort }) => beyond === undefined || sort > beyond)
        const before = expected.filter(({ sort }) => beyond === undefined || sort < beyond).toReversed()
        t.is(index.count('x', beyond), after.length)
        for (const limit of [1, 50, 2500]) {
          const page = (order: 'asc' | 'desc'): string[] =>
            index.page({ index: '', group: 'x', limit, order, ...(beyond !== undefined && { beyond }) })
          t.deepEqual(
            page('asc'),
            after.slice(0, limit).map(({ id }) => id),
          )
          t.deepEqual(
            page('desc'),
            before.slice(0, limit).map(({ id }) => id),
          )
        }
      }
    }
    t.deepEqual(index.groups(), [])
  })

test('what leaves a group of very many costs the same however many stay', (t) => {
  t.true(
    isLinear((size) => {
      const items = Array.from({ length: size }, (_, n) => ({ id: String(n), group: 'x', sort: String(n).padStart(8) }))
      const index = createRecordIndex(spec)
      for (const one of items) index.load(one.id, placeOf(spec, one.id, one))
      index.settle()
      for (let n = 0; n < size; n += 1) {
        const one = items[(n * 7919) % size]
        index.move(String((n * 7919) % size), one, undefined)
      }
    }, 160_000),
  )
})
