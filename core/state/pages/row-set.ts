/** Rows that become a table. */
import type { Oldest } from '../format/manifest.js'
import type { Row, SectionShape } from '../tables/rows.js'

/** Rows of a section, in order of their keys. */
export interface SectionRows {
  readonly shape: SectionShape
  readonly rows: readonly Row[]
}

/** What the manifest tells of a table beside its rows. */
export interface TableFacts {
  readonly oldest?: Oldest
  /** Rows take away what older partitions have, or stand again for it: the oldest of them. */
  readonly reach?: number
}

/** Rows of a table that is to be written. */
export interface RowSet {
  /** All sections of the store, each in order of its keys. */
  readonly sections: readonly SectionRows[]
  /** Ids in it that may be the latest. */
  readonly ids: Iterable<string>
  readonly facts: TableFacts
}

/** Rows of one partition; of none where what they tell of is not kept in partitions. */
export interface PartRows {
  readonly part: number | undefined
  readonly rows: RowSet
}
