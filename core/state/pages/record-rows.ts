/** The rows of a table that tell of changed records: where each stands, and its places in the indexes. */
import type { CollectionSpec } from '../contract.js'
import type { Place } from '../memory/record-index.js'
import { compareKeys, type Row, type SectionShape } from '../tables/rows.js'
import type { Location } from './page-file.js'
import type { RowSet } from './page-store.js'
import { idSection, indexSection, openSection, recordRow } from './record-codec.js'

/** What tables know of a record beside where it is. One that can still change is in no index of theirs. */
export type RecordState = { readonly settled: false } | { readonly settled: true; readonly places: readonly Place[] }

/** What it was in the tables, undefined if it was in none, and what it is to be. */
export interface RecordChange {
  readonly before: RecordState | undefined
  readonly after: RecordState
}

export interface RecordRows extends RowSet {
  put(id: string, location: Location, change: RecordChange): void
  /** Its line was copied to another place. */
  move(id: string, location: Location, settled: boolean): void
  remove(id: string, before: RecordState): void
}

const noPlaces: readonly Place[] = []
const placesOf = (state: RecordState | undefined): readonly Place[] =>
  state?.settled === true ? state.places : noPlaces

export const createRecordRows = <T extends object>(spec: CollectionSpec<T>): RecordRows => {
  const ids: Row[] = []
  const open: Row[] = []
  const indexes = Object.keys(spec.indexes).map((name) => ({ shape: indexSection(name), rows: new Array<Row>() }))
  const shift = (id: string, before: readonly Place[], after: readonly Place[]): void =>
    indexes.forEach(({ rows }, at) => {
      const [from, to] = [before[at], after[at]]
      if (from?.group === to?.group && from?.sort === to?.sort) return
      if (from?.group !== undefined) rows.push([from.group, from.sort, id])
      if (to?.group !== undefined) rows.push([to.group, to.sort, id, 1])
    })
  return {
    put(id, location, { before, after }) {
      ids.push(recordRow(id, location, after.settled))
      if (!after.settled && before?.settled !== false) open.push([id, 1])
      if (after.settled && before?.settled === false) open.push([id])
      shift(id, placesOf(before), placesOf(after))
    },
    move: (id, location, settled) => void ids.push(recordRow(id, location, settled)),
    remove(id, before) {
      ids.push([id])
      if (!before.settled) open.push([id])
      shift(id, placesOf(before), noPlaces)
    },
    *ids() {
      for (const [id] of ids) yield String(id)
    },
    sections: () => [
      sorted(idSection, ids),
      sorted(openSection, open),
      ...indexes.map(({ shape, rows }) => sorted(shape, rows)),
    ],
  }
}

const sorted = (shape: SectionShape, rows: Row[]): { shape: SectionShape; rows: readonly Row[] } => ({
  shape,
  rows: rows.sort((a, b) => compareKeys(a, b, shape.keyCells)),
})
