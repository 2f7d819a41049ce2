/** Records on pages, as the tables of a checkpoint would give them. */
import type { CollectionSpec } from '../../core/state/contract.js'
import type { CheckpointedRecords } from '../../core/state/memory/stored-collection.js'
import { placeOf } from '../../core/state/memory/record-index.js'
import { compareKeys, type Row } from '../../core/state/tables/rows.js'

/** `read` gives a record, or throws where its page is damaged; `placed` is what the indexes were made from. */
export const shelf = <T extends object>(
  spec: CollectionSpec<T>,
  placed: ReadonlyMap<string, T>,
  read: (id: string) => T = (id) => placed.get(id) ?? ({} as T),
): CheckpointedRecords<T> => {
  const rows = (index: string): Row[] =>
    Array.from(placed, ([id, record]): Row => {
      const indexSpec = spec.indexes[index]
      const { group, sort } = indexSpec === undefined ? { group: undefined, sort: '' } : placeOf(indexSpec, id, record)
      return [group ?? '', sort, id]
    })
      .filter(([group]) => group !== '')
      .toSorted((a, b) => compareKeys(a, b, 3))
  return {
    has: (id) => placed.has(id),
    knows: (id) => placed.has(id),
    find: (id) => (placed.has(id) ? read(id) : undefined),
    latest: () => placed.keys(),
    fell: '',
    hasFallen: false,
    count: (index, group, beyond = '') =>
      rows(index).filter((row) => row[0] === group && String(row[1]) > beyond).length,
    groups: (index) => new Set(rows(index).map((row) => String(row[0]))),
    range: (index, { group, order, beyond }) => {
      const found = rows(index).filter(
        (row) =>
          row[0] === group &&
          (beyond === undefined || (order === 'asc' ? String(row[1]) > beyond : String(row[1]) < beyond)),
      )
      return order === 'asc' ? found : found.reverse()
    },
  }
}
