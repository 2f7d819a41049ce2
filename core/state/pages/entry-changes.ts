/** What one checkpoint adds to a stream, and what keeps the number of entries of owners whose last ones fall. */
import { createPause } from '../../base/turns.js'
import type { DirtyEntries } from '../memory/stream.js'
import { compareKeys, type Row } from '../tables/rows.js'
import type { Tables } from '../tables/tables.js'
import { cutLines, entryRow, entryText, extentOf, extentSection, lastIn } from './entry-codec.js'
import type { PageDraft } from './page-draft.js'
import type { PageChanges } from './page-store.js'
import type { PartRows, RowSet } from './row-set.js'
import { stays, type Target } from './target.js'

/** Rows of extents, in any order. */
export const extentRows = (rows: Row[]): RowSet => ({
  ids: [],
  facts: {},
  sections: [{ shape: extentSection, rows: rows.sort((a, b) => compareKeys(a, b, 2)) }],
})

interface Parts {
  readonly dirty: DirtyEntries
  readonly target: Target
  /** Called when readers get the new entries. */
  readonly forget: () => void
}

/** Owners that are looked at in one go. */
const atOnce = 64

export class EntryChanges implements PageChanges {
  readonly isEmpty: boolean
  readonly apply: () => void
  readonly #tables: Tables
  readonly #parts: Parts
  readonly #rows: Row[] = []

  constructor(tables: Tables, parts: Parts) {
    this.#tables = tables
    this.#parts = parts
    this.isEmpty = parts.dirty.owners.size === 0
    this.apply = parts.forget
  }

  async write(page: PageDraft): Promise<readonly PartRows[]> {
    const { dirty, target } = this.#parts
    if (target.fall > 0) await this.#keepLengths(page)
    for (const [owner, { first, texts }] of dirty.owners) {
      if (texts.length === 0) await this.#keepLength(page, owner, first - 1)
      for (const { start, end } of cutLines(texts)) {
        const count = end - start
        const text = entryText(owner, first + start, texts.slice(start, end))
        const location = await page.add(text, { records: count, open: 0 })
        this.#rows.push(entryRow(owner, { first: first + start, count, ...location }))
      }
    }
    return [{ part: target.part, rows: extentRows(this.#rows) }]
  }

  /** An owner may outlive its entries. */
  async #keepLengths(page: PageDraft): Promise<void> {
    const { dirty, target } = this.#parts
    const isLeft = ({ ref }: { readonly ref: { readonly part?: number } }): boolean => stays(target, ref)
    const left = this.#tables.of(this.#tables.files.filter(isLeft))
    const falling = this.#tables.of(this.#tables.files.filter((file) => !isLeft(file)))
    const pause = createPause(atOnce)
    for (const owner of falling.groups(extentSection)) {
      await pause()
      const last = falling.findLast(extentSection, [owner])
      const goesOn = dirty.owners.has(owner) || left.findLast(extentSection, [owner]) !== undefined
      if (last !== undefined && !goesOn) await this.#keepLength(page, owner, lastIn(extentOf(last)))
    }
  }

  async #keepLength(page: PageDraft, owner: string, last: number): Promise<void> {
    const location = await page.add(entryText(owner, last + 1, []), { records: 0, open: 0 })
    this.#rows.push(entryRow(owner, { ...location, first: last, count: 0 }))
  }
}
