/** How entries stand on a page, and in the index file of their stream. */
import { shapeOf, type Row } from '../tables/rows.js'
import type { Location } from './page-file.js'

export interface EntryLine<E> {
  readonly owner: string
  readonly from: number
  readonly entries: readonly E[]
}
/** One line of entries: `count` of them from sequence `first` on. */
export interface Extent extends Location {
  readonly first: number
  readonly count: number
}
/** Which lines hold whose entries. */
export const extentSection = shapeOf('extents')
/**
 * `[owner, first, count, page, offset, length]`; a count of 0 keeps the number of entries of an owner of whom nothing
 * else is left, `first` being the last that fell.
 */
export type EntryRow = readonly [string, number, number, number, number, number]

/** The line of an owner's entries from `first` on, without its closing brace. */
export const entryText = (owner: string, first: number, texts: readonly string[]): string =>
  `{"owner":${JSON.stringify(owner)},"from":${first},"entries":[${texts.join(',')}]`

/** The extent of a line. */
export const extentOfLine = ({ from, entries }: EntryLine<unknown>, at: Location): Extent => ({
  ...at,
  first: entries.length === 0 ? from - 1 : from,
  count: entries.length,
})

/** The last entry of an extent, or the one that it is kept for. */
export const lastIn = ({ first, count }: Extent): number => first + Math.max(0, count - 1)

export const entryRow = (owner: string, at: Extent): EntryRow => [
  owner,
  at.first,
  at.count,
  at.page,
  at.offset,
  at.length,
]

export const extentOf = (row: Row): Extent => ({
  first: Number(row[1]),
  count: Number(row[2]),
  page: Number(row[3]),
  offset: Number(row[4]),
  length: Number(row[5]),
})

/** A line is closed behind this many characters: to show a run one or two entries are read, and their lines parsed. */
const lineCharacters = 4 * 1024

/** Where the lines of an owner's entries begin and end. */
export const cutLines = (texts: readonly string[]): { readonly start: number; readonly end: number }[] => {
  const pieces: { start: number; end: number }[] = []
  let start = 0
  let size = 0
  texts.forEach((text, at) => {
    size += text.length
    if (size < lineCharacters && at + 1 < texts.length) return
    pieces.push({ start, end: at + 1 })
    start = at + 1
    size = 0
  })
  return pieces
}
