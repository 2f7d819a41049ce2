import test from 'ava'
import fc from 'fast-check'
import type { IndexSpec } from '../../../../core/state/contract.js'
import { createRecordIndex, placeOf } from '../../../../core/state/memory/record-index.js'

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
      (steps, limit, beyond) => {
        const index = createRecordIndex(spec)
        const model = new Map<string, Item>()
        for (const { item: next, gone } of steps) {
          const before = model.get(next.id)
          index.move(next.id, before, gone ? undefined : next)
          if (gone) model.delete(next.id)
          else model.set(next.id, next)
        }
        const loaded = createRecordIndex(spec)
        for (const [id, one] of model) loaded.load(id, placeOf(spec, id, one))
        loaded.settle()
        for (const group of ['x', 'y']) {
          const expected = [...model.values()].filter((one) => one.group === group).toSorted(compare)
          for (const one of [index, loaded]) {
            t.deepEqual(
              one.ids(group),
              expected.map(({ id }) => id),
            )
            t.is(one.count(group), expected.length)
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
