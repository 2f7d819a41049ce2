/** The pages of one collection or stream: lines are read by location, and written by drafts. */
import { unsafeCast } from '../../base/schema.js'
import { pageIdentity } from '../format/identity.js'
import { createFileLines } from '../format/file-lines.js'
import { numberOf } from '../format/layout.js'
import type { Fault } from '../format/line.js'
import { lengthAt, scanLineFile, valueAt } from '../format/line-file.js'
import type { Sieve } from '../contract.js'
import type { PageRef } from '../format/manifest.js'
import { PageDraft } from './page-draft.js'
import { pagePath, type Location, type PageOptions, type ReadOrder } from './page-file.js'
import { PageReader } from './page-reader.js'
import type { Target } from './target.js'

/** A page that was read whole: its sound lines, and what is wrong with the others. */
export interface PageScan<Line> {
  readonly lines: Iterable<readonly [Line, Location]>
  readonly faults: readonly Fault[]
}

export class PageSet<Line> {
  readonly #options: PageOptions
  readonly #reader: PageReader
  #refs: readonly PageRef[] = []
  #nextNo = 1

  constructor(options: PageOptions) {
    this.#options = options
    this.#reader = new PageReader({
      ...options,
      path: (no) => pagePath(options, no),
      identity: (no) => pageIdentity(options, no),
    })
  }

  get refs(): readonly PageRef[] {
    return this.#refs
  }

  load(refs: readonly PageRef[]): void {
    const { disk, folder, wasThere } = this.#options
    this.#refs = refs
    const there = (wasThere?.() === false ? [] : disk.list(folder)).map((name) => numberOf(name) ?? 0)
    this.#nextNo = 1 + Math.max(0, ...there, ...refs.map((ref) => ref.no))
  }

  /** A line. Throws `storage_damaged` if it is not as it was written; undefined where the sieve says no to it. */
  read(location: Location): Line
  read(location: Location, sieve: Sieve | undefined): Line | undefined
  read(location: Location, sieve?: Sieve): Line | undefined {
    return unsafeCast<Line | undefined>(this.#reader.read(location, sieve))
  }

  scan({ no, length: counted }: PageRef, order: ReadOrder): PageScan<Line> {
    const file = createFileLines(this.#options.disk, pagePath(this.#options, no))
    const { starts, faults } = scanLineFile(file, counted, pageIdentity(this.#options, no))
    const lines = function* (): Iterable<readonly [Line, Location]> {
      for (const offset of order === 'newest first' ? starts.toReversed() : starts)
        yield [valueAt<Line>(file, offset), { page: no, offset, length: lengthAt(file, offset) }]
    }
    return { lines: lines(), faults }
  }

  /** The lines of a page, oldest first. Throws `storage_damaged` unless all of them are sound. */
  scanSound(ref: PageRef): PageScan<Line>['lines'] {
    const { lines, faults } = this.scan(ref, 'oldest first')
    const [fault] = faults
    if (fault !== undefined) throw this.#reader.damage(fault)
    return lines
  }

  draft(target: Target): PageDraft {
    const takeNo = (): number => {
      this.#nextNo += 1
      return this.#nextNo - 1
    }
    return new PageDraft({ options: this.#options, refs: this.#refs, takeNo, target })
  }

  /** Pages as the manifest names them now; those that went are closed. */
  apply(refs: readonly PageRef[]): void {
    this.#refs = refs
    this.#reader.keep((page) => refs.some((ref) => ref.no === page))
  }

  /** Sets how many bytes of each page are of use. */
  recount(live: ReadonlyMap<number, number>): void {
    this.#refs = this.#refs.map((ref) => ({ ...ref, live: live.get(ref.no) ?? 0 }))
  }

  /** The first page that has fewer bytes than count. */
  missing(): Fault | undefined {
    for (const { no, length } of this.#refs) {
      const file = pagePath(this.#options, no)
      const size = this.#options.disk.stat(file)?.size ?? 0
      if (size < length) return { file, offset: size, rule: `the file ends before its ${length} bytes` }
    }
    return undefined
  }

  close(): void {
    this.#reader.keep(() => false)
  }
}
