/** How entries stand on a page, and in the index file of their stream. */
import type { Extent } from './extent-table.js'

export interface EntryLine<E> {
  readonly owner: string
  readonly from: number
  readonly entries: readonly E[]
}
/** `[owner, first, count, page, offset, length]` */
export type EntryRow = readonly [string, number, number, number, number, number]

/** The line of an owner's entries from `first` on, without its closing brace. */
export const entryText = (owner: string, first: number, texts: readonly string[]): string =>
  `{"owner":${JSON.stringify(owner)},"from":${first},"entries":[${texts.join(',')}]`

export const entryRow = (owner: string, at: Extent): EntryRow => [
  owner,
  at.first,
  at.count,
  at.page,
  at.offset,
  at.length,
]

export const extentOf = ([, first, count, page, offset, length]: EntryRow): Extent => ({
  first,
  count,
  page,
  offset,
  length,
})

/** A line is closed behind this many characters, so that a range read stays small. */
const lineCharacters = 64 * 1024

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
