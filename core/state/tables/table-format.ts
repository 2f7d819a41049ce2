/**
 * A table: an immutable file of sorted rows, so that a lookup among millions reads a few small blocks of it. Its
 * sections are trees: leaves of rows, and above them nodes that say where each child begins. See docs/state-format.md.
 */
import type { Row, Span } from './rows.js'

/** Sections with more groups than this do not list them. */
export const mostGroups = 8

/** What a group has in this table, and the keys of its first and last row; removals count as keys. */
export interface GroupInfo {
  readonly net: number
  readonly first: Row
  readonly last: Row
}

export interface SectionInfo {
  readonly rows: number
  /** Rows less removals, twice. */
  readonly net: number
  /** Levels of nodes above the leaves. */
  readonly height: number
  /** Offset and length of the topmost block. */
  readonly root: readonly [number, number]
  readonly first: Row
  readonly last: Row
  /** Every group, where they are few. */
  readonly groups: Readonly<Record<string, GroupInfo>> | null
  /** Where they are many, the least and the greatest sort key of all of them. Earlier versions did not tell. */
  readonly sorts?: Span
}

/** The last line of a table. */
export interface TableFooter {
  /** Made from the declaration that its rows were made by. */
  readonly mark: string
  readonly sections: Readonly<Record<string, SectionInfo>>
  /** Where the line with the Bloom filter is. */
  readonly bloom: readonly [number, number]
  /** Of the ids in it, the one that was made last. */
  readonly latest: string
}

/** A node's row is the key of its child's first row, then offset, length, and the net of the rows before it. */
export interface BlockLine {
  readonly rows: readonly Row[]
}

/** What the filter of a table knows a group by; ids and owners stand for themselves. */
export const groupMember = (section: string, group: string): string => `${section}\0${group}`
