/** The rows of a table that tell of changed records: where each stands, and its places in the indexes. */
import type { CollectionSpec } from '../contract.js'
import type { Oldest } from '../format/manifest.js'
import type { Place } from '../memory/record-index.js'
import { compareKeys, there, thereAgain, type Row, type SectionShape } from '../tables/rows.js'
import type { Location } from './page-file.js'
import { idSection, indexSection, openSection, recordRow, type LineState } from './record-codec.js'
import type { RowSet } from './row-set.js'

/** What tables know of a record beside where it is. One that can still change is in no index of theirs. */
export type RecordState = { readonly since?: number } & (
  | { readonly settled: false }
  | { readonly settled: true; readonly places: readonly Place[] }
)
/** What it was in tables that stay: `part` is its partition, if that is older than the one that is written to. */
export type KnownState = RecordState & { readonly part?: number | undefined }

/** What it was in the tables, undefined if it was in none, and what it is to be. */
export interface RecordChange {
  readonly before: KnownState | undefined
  readonly after: RecordState
  /** Older lines with a record of this id, where they are counted. */
  readonly dead: number
}

export interface RecordRows {
  /** Ids that have a row. */
  readonly size: number
  /** The row that was made last of an id; nothing but the id where it is gone. */
  find(id: string): Row | undefined
  put(id: string, location: Location, change: RecordChange): void
  /** It leaves no line that counts. */
  remove(id: string, before: KnownState): void
  /** Its removal stands there. */
  forget(id: string, location: Location, change: Omit<RecordChange, 'after'>): void
  /** Its line stands there, or older ones of it went. */
  locate(id: string, location: Location, state: LineState): void
  /** Nothing of it stands on pages any more. */
  drop(id: string): void
  rows(): RowSet
}

const noPlaces: readonly Place[] = []
const placesOf = (state: RecordState | undefined): readonly Place[] =>
  state?.settled === true ? state.places : noPlaces

export const createRecordRows = <T extends object>(spec: CollectionSpec<T>): RecordRows => {
  const ids = new Map<string, Row>()
  const open: Row[] = []
  const indexes = Object.keys(spec.indexes).map((name) => ({ shape: indexSection(name), rows: new Array<Row>() }))
  let oldest: Oldest | undefined
  let reach = Infinity
  /** A place that stays the same needs no row, unless the one that has it may fall before the record. */
  const shift = (id: string, before: KnownState | undefined, after: RecordState | undefined): void => {
    const [was, is] = [placesOf(before), placesOf(after)]
    indexes.forEach(({ rows }, at) => {
      const [from, to] = [was[at], is[at]]
      if (from?.group === to?.group && from?.sort === to?.sort) {
        if (before?.part !== undefined && to?.group !== undefined) rows.push([to.group, to.sort, id, thereAgain])
        return
      }
      if (from?.group !== undefined) rows.push([from.group, from.sort, id])
      if (to?.group !== undefined) rows.push([to.group, to.sort, id, there])
    })
  }
  const shiftOpen = (id: string, before: KnownState | undefined, isOpen: boolean): void => {
    const wasOpen = before?.settled === false
    if (isOpen && !wasOpen) open.push([id, there])
    if (isOpen && wasOpen && before.part !== undefined) open.push([id, thereAgain])
    if (!isOpen && wasOpen) open.push([id])
  }
  const note = (before: KnownState | undefined): void => {
    reach = Math.min(reach, before?.part ?? Infinity)
  }
  const takeOut = (id: string, before: KnownState | undefined): void => {
    shiftOpen(id, before, false)
    shift(id, before, undefined)
    note(before)
  }
  return {
    get size() {
      return ids.size
    },
    find: (id) => ids.get(id),
    put(id, location, { before, after, dead }) {
      ids.set(id, recordRow(id, location, { is: after.settled ? 'settled' : 'open', dead }))
      shiftOpen(id, before, !after.settled)
      shift(id, before, after)
      note(before)
      if (after.since !== undefined && after.since < (oldest?.since ?? Infinity)) oldest = { id, since: after.since }
    },
    remove(id, before) {
      ids.set(id, [id])
      takeOut(id, before)
    },
    forget(id, location, { before, dead }) {
      ids.set(id, recordRow(id, location, { is: 'removed', dead }))
      takeOut(id, before)
    },
    locate: (id, location, state) => void ids.set(id, recordRow(id, location, state)),
    drop: (id) => void ids.set(id, [id]),
    rows: () => ({
      ids: [...ids.keys()],
      facts: { ...(oldest !== undefined && { oldest }), ...(reach !== Infinity && { reach }) },
      sections: [
        sorted(idSection, [...ids.values()]),
        sorted(openSection, open),
        ...indexes.map(({ shape, rows }) => sorted(shape, rows)),
      ],
    }),
  }
}

const sorted = (shape: SectionShape, rows: Row[]): { shape: SectionShape; rows: readonly Row[] } => ({
  shape,
  rows: rows.sort((a, b) => compareKeys(a, b, shape.keyCells)),
})
