import test from 'ava'
import fc from 'fast-check'
import { createCollection } from '../../../../core/state/memory/collection.js'
import type { CheckpointedRecords } from '../../../../core/state/memory/stored-collection.js'
import type { CollectionSpec, PageQuery } from '../../../../core/state/contract.js'
import { shelf } from '../../../support/shelf.js'

interface Item {
  readonly id: string
  readonly group: string
  readonly rank: string
  readonly done: boolean
}

const spec: CollectionSpec<Item> = {
  name: 'items',
  version: 1,
  id: ({ id }) => id,
  indexes: { all: { group: () => 'all' }, ranked: { group: ({ group }) => group, sort: ({ rank }) => rank } },
  settled: ({ done }) => done,
}

/** A collection whose checkpoints put what is settled on a shelf; counts how often a shelf is read in order. */
const shelved = () => {
  const placed = new Map<string, Item>()
  let reads = 0
  const kept = shelf(spec, placed)
  const pages: CheckpointedRecords<Item> = {
    ...kept,
    range(index, range) {
      reads += 1
      return kept.range(index, range)
    },
  }
  const items = createCollection(spec, pages)
  return {
    items,
    reads: () => reads,
    put: (item: Item) => items.put(item).onDurable(),
    remove: (id: string) => items.remove(id, 'gone')?.onDurable(),
    checkpoint() {
      const dirty = items.takeDirty()
      for (const [id, { record }] of dirty.records) {
        if (record.done) placed.set(id, record)
        else placed.delete(id)
      }
      for (const id of dirty.tombstones.keys()) placed.delete(id)
      items.evict(dirty)
    },
  }
}

const item = (id: string, rank: string): Item => ({ id, group: 'a', rank, done: true })

test('the newest of a group is told out of memory where the tables have none behind it', (t) => {
  const { items, reads, put, checkpoint } = shelved()
  const newest = { index: 'ranked', group: 'a', limit: 1, order: 'desc' } as const
  put(item('item 1', '01'))
  checkpoint()
  t.deepEqual(items.page(newest), ['item 1'])
  const before = reads()
  for (let n = 2; n < 20; n += 1) {
    put(item(`item ${n}`, String(n).padStart(2, '0')))
    t.deepEqual(items.page(newest), [`item ${n}`])
    if (n % 5 === 0) checkpoint()
  }
  t.is(reads(), before)
})

test('pages are those of all records, whatever checkpoints have taken', (t) => {
  const id = fc.constantFrom('p', 'q', 'r', 's', 'u', 'v', 'w')
  const steps = fc.array(
    fc.oneof(
      fc.record({
        kind: fc.constant('put' as const),
        item: fc.record({
          id,
          group: fc.constantFrom('a', 'b'),
          rank: fc.constantFrom('1', '2', '3'),
          done: fc.boolean(),
        }),
      }),
      fc.record({ kind: fc.constant('remove' as const), id }),
      fc.record({ kind: fc.constant('checkpoint' as const) }),
    ),
    { maxLength: 40 },
  )
  const query = fc.record({
    group: fc.constantFrom('a', 'b'),
    limit: fc.constantFrom(1, 2, 5, Infinity),
    order: fc.constantFrom('asc' as const, 'desc' as const),
  })
  fc.assert(
    fc.property(steps, fc.array(query, { minLength: 1, maxLength: 4 }), (all, queries) => {
      const { items, put, remove, checkpoint } = shelved()
      const model = new Map<string, Item>()
      const gone = new Set<string>()
      for (const step of all) {
        if (step.kind === 'checkpoint') checkpoint()
        else if (step.kind === 'remove') {
          remove(step.id)
          if (model.delete(step.id)) gone.add(step.id)
        } else if (!gone.has(step.item.id)) {
          put(step.item)
          model.set(step.item.id, step.item)
        }
        for (const asked of queries) t.deepEqual(items.page({ index: 'ranked', ...asked }), expected(model, asked))
      }
    }),
  )
})

const expected = (
  model: ReadonlyMap<string, Item>,
  { group, limit, order }: Pick<PageQuery, 'group' | 'limit' | 'order'>,
): string[] => {
  const rising = [...model.values()]
    .filter((one) => one.group === group)
    .toSorted((a, b) => (a.rank === b.rank ? (a.id < b.id ? -1 : 1) : a.rank < b.rank ? -1 : 1))
    .map((one) => one.id)
  return (order === 'desc' ? rising.reverse() : rising).slice(0, limit)
}
