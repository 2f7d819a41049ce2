/** Pages being written by one checkpoint. Nothing of them counts before the manifest names it. */
import { pageIdentity } from '../format/identity.js'
import { openLineFile, type LineFile } from '../format/line-file.js'
import type { PageRef } from '../format/manifest.js'
import { createPage, pagePath, type Location, type PageOptions } from './page-file.js'
import { stays, type Target } from './target.js'

export interface PageDraftParts {
  readonly options: PageOptions
  /** The pages that count now. */
  readonly refs: readonly PageRef[]
  readonly takeNo: () => number
  readonly target: Target
}
/** What stands on a line: records or entries, and how many of them can still change. */
export interface Weight {
  readonly records: number
  readonly open: number
}
type DraftRef = { -readonly [K in keyof PageRef]: PageRef[K] }
interface Current {
  readonly file: LineFile
  readonly ref: DraftRef
}

/** How many more bytes are unused than used. */
const wasteOf = ({ length, live }: PageRef): number => length - 2 * live

export class PageDraft {
  readonly #parts: PageDraftParts
  readonly #refs: Map<number, DraftRef>
  readonly #files: LineFile[] = []
  /** What is written to, by partition. */
  readonly #current = new Map<number | undefined, Current>()

  constructor(parts: PageDraftParts) {
    this.#parts = parts
    this.#refs = new Map(parts.refs.flatMap((ref) => (stays(parts.target, ref) ? [[ref.no, { ...ref }]] : [])))
  }

  /** In the partition that is written to, or in an older one. */
  async add(text: string, weight: Weight, part = this.#parts.target.part): Promise<Location> {
    const current = this.#current.get(part)
    const isFull = current === undefined || current.ref.length >= this.#parts.options.pageBytes
    const { file, ref } = isFull ? await this.#begin(part) : current
    const { offset, length } = file.add(text)
    ref.live += length
    ref.length = file.length
    count(ref, weight, 1)
    if (file.full) await file.flush()
    return { page: ref.no, offset, length }
  }

  /** A line of this many bytes is no longer used. */
  release({ page, length }: Location, weight: Weight): void {
    const ref = this.#refs.get(page)
    if (ref === undefined) return
    ref.live -= length
    count(ref, weight, -1)
  }

  /** The partition of a line, if it is older than the one that is written to. */
  olderPart({ page }: Location): number | undefined {
    const part = this.#refs.get(page)?.part
    return part === this.#parts.target.part ? undefined : part
  }

  /** Pages of which less than half is used and that are not written to, fullest waste first. */
  wasteful(): readonly PageRef[] {
    const last = this.#parts.refs.at(-1)?.no ?? 0
    return [...this.#refs.values()]
      .filter((ref) => ref.no < last && wasteOf(ref) > 0)
      .toSorted((a, b) => wasteOf(b) - wasteOf(a))
  }

  drop({ no }: PageRef): void {
    this.#refs.delete(no)
  }

  /** Writes and syncs everything; returns the pages as they are then. */
  async finish(): Promise<readonly PageRef[]> {
    for (const file of this.#files) await file.sync()
    for (const file of this.#files) await file.close()
    return [...this.#refs.values()].toSorted((a, b) => a.no - b.no)
  }

  async abandon(): Promise<void> {
    for (const file of this.#files) await file.close().catch(() => undefined)
  }

  /**
   * Goes on with the last page while it has room and is of the same partition, else begins a new one: of two lines of
   * an id the one on the later page is the newer.
   */
  async #begin(part: number | undefined): Promise<Current> {
    const { options, refs, takeNo } = this.#parts
    const last = this.#refs.get(refs.at(-1)?.no ?? 0)
    const hasRoom = last !== undefined && last.length < options.pageBytes && last.part === part
    const goesOn = this.#files.length === 0 && hasRoom
    const ref: DraftRef = goesOn ? last : newRef(takeNo(), part)
    const file = goesOn
      ? await openLineFile(options.disk, pagePath(options, ref.no), {
          length: ref.length,
          identity: pageIdentity(options, ref.no),
        })
      : await createPage(options, ref.no)
    this.#refs.set(ref.no, ref)
    this.#files.push(file)
    const current = { file, ref }
    this.#current.set(part, current)
    return current
  }
}

const newRef = (no: number, part: number | undefined): DraftRef =>
  part === undefined ? { no, length: 0, live: 0 } : { no, length: 0, live: 0, part, records: 0, open: 0 }

/** Pages of earlier versions were not counted. */
const count = (ref: DraftRef, { records, open }: Weight, sign: 1 | -1): void => {
  if (ref.records !== undefined) ref.records += sign * records
  if (ref.open !== undefined) ref.open += sign * open
}
