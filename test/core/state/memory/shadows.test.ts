/** Records that are in tables and in memory too are counted once. */
import test from 'ava'
import fc from 'fast-check'
import type { CollectionSpec } from '../../../../core/state/contract.js'
import { createCollection } from '../../../../core/state/memory/collection.js'
import { shelf } from '../../../support/shelf.js'

interface Note {
  readonly id: string
  readonly owner: string
  readonly at: string
}
const spec: CollectionSpec<Note> = {
  name: 'notes',
  version: 1,
  id: ({ id }) => id,
  indexes: { all: { group: () => 'all' }, owner: { group: ({ owner }) => owner, sort: ({ at, id }) => `${at} ${id}` } },
  settled: () => true,
}
const note = fc.record({
  id: fc.constantFrom(...'abcdefghij'),
  owner: fc.constantFrom('ann', 'bob'),
  at: fc.constantFrom('1', '2', '3', '4'),
})

test('a part of a group is counted as it is listed, whatever of it was changed or removed since a checkpoint', (t) => {
  fc.assert(
    fc.property(fc.array(note), fc.array(note), fc.subarray([...'abcdefghij']), (settled, changed, removed) => {
      const placed = new Map(settled.map((one) => [one.id, one]))
      const notes = createCollection(spec, shelf(spec, placed))
      for (const one of changed) notes.put(one)
      for (const id of removed) notes.remove(id, 'gone')
      for (const group of ['ann', 'bob'])
        for (const beyond of ['0', '1', '2', '3~', '9'])
          t.is(
            notes.count('owner', group, beyond),
            notes.page({ index: 'owner', group, limit: Infinity, beyond }).length,
            `${group} ${beyond}`,
          )
    }),
    { numRuns: 200 },
  )
})
