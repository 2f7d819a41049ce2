/** The pages of one collection or stream: read by location, written by checkpoints. */
import { dirname, join } from 'node:path'
import type { Ids } from '../../base/ids.js'
import type { Disk, DiskFile } from '../disk/disk.js'
import { numberOf, pageName } from '../format/layout.js'
import { checkLine, lineValue, saltSeed, type Fault } from '../format/line.js'
import { createLineFile, damaged, openLineFile, readHeader, type LineFile } from '../format/line-file.js'
import type { PageRef } from '../format/manifest.js'

/** Where a line stands. */
export interface Location {
  readonly page: number
  readonly offset: number
  readonly length: number
}

export interface PageSetOptions {
  readonly disk: Disk
  readonly folder: string
  readonly ids: Ids
  readonly root: string
  readonly of: string
  readonly version: number
  readonly pageBytes: number
  /** Told of a line that is not as it was written, before the reader gets `storage_damaged`. */
  readonly onDamage: (fault: Fault) => void
}

/** Pages being written by one checkpoint. Nothing of it counts before the manifest names it. */
export interface PageDraft {
  add(text: string): Promise<Location>
  /** A line of this many bytes is no longer used. */
  release(location: Location): void
  /** Pages of which less than half is used and that are not written to, fullest waste first. */
  wasteful(): readonly number[]
  drop(page: number): void
  /** Writes and syncs everything; returns the pages as they are then. */
  finish(): Promise<readonly PageRef[]>
  abandon(): Promise<void>
}

export interface PageSet {
  readonly pages: readonly PageRef[]
  load(pages: readonly PageRef[]): void
  /** The value of a line. Throws `storage_damaged` if it is not as it was written. */
  read(location: Location): unknown
  draft(): PageDraft
  /** Pages as the manifest names them now; those that went are closed. */
  apply(pages: readonly PageRef[]): void
  path(page: number): string
  /** The first page that has fewer bytes than count. */
  missing(): Fault | undefined
  close(): Promise<void>
}

/** Makes the folder of the pages, durably. */
export const makePagesFolder = async (disk: Disk, folder: string): Promise<void> => {
  if (disk.stat(folder) !== undefined) return
  await disk.makeFolder(folder)
  await disk.syncFolder(dirname(folder))
}

/** Bytes around the last line that was read: neighbours are often read together. */
interface Window {
  readonly page: number
  readonly start: number
  readonly bytes: Uint8Array
}
const windowBytes = 32 * 1024

interface OpenPage {
  readonly file: DiskFile
  readonly seed: number
}
const mostOpen = 24
const noWindow: Window = { page: 0, start: 0, bytes: new Uint8Array() }

/** Reads lines of pages, with the newest files open and the bytes around the last line in memory. */
class PageReader {
  readonly #options: PageSetOptions
  readonly #open = new Map<number, OpenPage>()
  #window = noWindow

  constructor(options: PageSetOptions) {
    this.#options = options
  }

  read(location: Location): unknown {
    const { page, offset, length } = location
    const { file, seed } = this.#openPage(page)
    const bytes = this.#bytesAt(file, location)
    const check = checkLine(bytes, 0, seed)
    if (check.ok && check.end === length) return lineValue(bytes, 0, length)
    throw this.#damage({
      file: file.path,
      offset,
      rule: check.ok ? 'the line is shorter than its row says' : check.rule,
    })
  }

  /** Forgets what was read, and closes the pages that are not to be kept. */
  keep(isKept: (page: number) => boolean): void {
    this.#window = noWindow
    for (const page of this.#open.keys()) if (!isKept(page)) this.#shut(page)
  }

  #shut(page: number): void {
    void this.#open.get(page)?.file.close()
    this.#open.delete(page)
  }

  /** Damage is told before the reader learns of it, so that nothing is written on top of it. */
  #damage(fault: Fault): Error {
    this.#options.onDamage(fault)
    return damaged(fault)
  }

  #openPage(page: number): OpenPage {
    const known = this.#open.get(page)
    if (known !== undefined) return known
    const oldest = this.#open.keys().next().value
    if (this.#open.size >= mostOpen && oldest !== undefined) this.#shut(oldest)
    const file = this.#options.disk.openSync(pathOf(this.#options, page))
    const header = readHeader(file.path, file.read(0, 4096))
    if (!header.ok) {
      void file.close()
      throw this.#damage(header.fault)
    }
    const opened = { file, seed: saltSeed(header.header.salt) }
    this.#open.set(page, opened)
    return opened
  }

  /** A first read takes the line alone; one close to the last read takes what lies in its direction too. */
  #bytesAt(file: DiskFile, { page, offset, length }: Location): Uint8Array {
    const { start, bytes } = this.#window
    const isNear = this.#window.page === page
    if (isNear && offset >= start && offset + length <= start + bytes.length)
      return bytes.subarray(offset - start, offset - start + length)
    const distance = isNear ? offset - start : Infinity
    if (length >= windowBytes || Math.abs(distance) > 2 * windowBytes) {
      this.#window = { page, start: offset, bytes: file.read(offset, length) }
      return this.#window.bytes
    }
    const from = distance < 0 ? Math.max(0, offset + length - windowBytes) : offset
    this.#window = { page, start: from, bytes: file.read(from, windowBytes) }
    return this.#window.bytes.subarray(offset - from, offset - from + length)
  }
}

interface DraftParts {
  readonly options: PageSetOptions
  /** The pages that count now. */
  readonly refs: readonly PageRef[]
  readonly takeNo: () => number
}
interface DraftPage {
  readonly file: LineFile
  readonly no: number
}

class Draft implements PageDraft {
  readonly #parts: DraftParts
  readonly #live: Map<number, number>
  readonly #lengths: Map<number, number>
  readonly #written: LineFile[] = []
  #current: DraftPage | undefined

  constructor(parts: DraftParts) {
    this.#parts = parts
    this.#live = new Map(parts.refs.map((ref) => [ref.no, ref.live]))
    this.#lengths = new Map(parts.refs.map((ref) => [ref.no, ref.length]))
  }

  async add(text: string): Promise<Location> {
    const current = this.#current
    const isFull = current === undefined || current.file.length >= this.#parts.options.pageBytes
    const { file, no } = isFull ? await this.#begin() : current
    const { offset, length } = file.add(text)
    this.#live.set(no, (this.#live.get(no) ?? 0) + length)
    this.#lengths.set(no, file.length)
    if (file.full) await file.flush()
    return { page: no, offset, length }
  }

  release({ page, length }: Location): void {
    this.#live.set(page, (this.#live.get(page) ?? 0) - length)
  }

  wasteful(): readonly number[] {
    const { refs } = this.#parts
    return refs
      .map((ref) => ref.no)
      .filter((no) => no !== refs.at(-1)?.no && no !== this.#current?.no && this.#waste(no) > 0)
      .toSorted((a, b) => this.#waste(b) - this.#waste(a))
  }

  drop(page: number): void {
    this.#live.delete(page)
    this.#lengths.delete(page)
  }

  async finish(): Promise<readonly PageRef[]> {
    for (const file of this.#written) await file.sync()
    for (const file of this.#written) await file.close()
    return [...this.#lengths]
      .map(([no, length]) => ({ no, length, live: this.#live.get(no) ?? 0 }))
      .toSorted((a, b) => a.no - b.no)
  }

  async abandon(): Promise<void> {
    for (const file of this.#written) await file.close().catch(() => undefined)
  }

  /** Goes on with the last page while it has room, else begins a new one. */
  async #begin(): Promise<DraftPage> {
    const { options, refs, takeNo } = this.#parts
    const last = refs.at(-1)
    const goesOn =
      this.#written.length === 0 && last !== undefined && last.length < options.pageBytes && this.#live.has(last.no)
    const no = goesOn ? last.no : takeNo()
    const file = goesOn
      ? await openLineFile(options.disk, pathOf(options, no), last.length)
      : await createPage(options, no)
    this.#written.push(file)
    this.#current = { file, no }
    return this.#current
  }

  #waste(no: number): number {
    return (this.#lengths.get(no) ?? 0) - 2 * (this.#live.get(no) ?? 0)
  }
}

const pathOf = ({ folder }: PageSetOptions, page: number): string => join(folder, pageName(page))

const createPage = (options: PageSetOptions, no: number): Promise<LineFile> => {
  const { disk, ids, root, of, version } = options
  return createLineFile(disk, pathOf(options, no), { v: 1, k: 'page', of, salt: ids.random(4), no, root, version })
}

class StoredPages implements PageSet {
  readonly #options: PageSetOptions
  readonly #reader: PageReader
  #refs: readonly PageRef[] = []
  #nextNo = 1

  constructor(options: PageSetOptions) {
    this.#options = options
    this.#reader = new PageReader(options)
  }

  get pages(): readonly PageRef[] {
    return this.#refs
  }

  load(pages: readonly PageRef[]): void {
    const { disk, folder } = this.#options
    this.#refs = pages
    const there = disk.list(folder).map((name) => numberOf(name) ?? 0)
    this.#nextNo = 1 + Math.max(0, ...there, ...pages.map((page) => page.no))
  }

  read(location: Location): unknown {
    return this.#reader.read(location)
  }

  draft(): PageDraft {
    const takeNo = (): number => {
      this.#nextNo += 1
      return this.#nextNo - 1
    }
    return new Draft({ options: this.#options, refs: this.#refs, takeNo })
  }

  apply(pages: readonly PageRef[]): void {
    this.#refs = pages
    this.#reader.keep((page) => pages.some((ref) => ref.no === page))
  }

  path(page: number): string {
    return pathOf(this.#options, page)
  }

  missing(): Fault | undefined {
    for (const { no, length } of this.#refs) {
      const size = this.#options.disk.stat(this.path(no))?.size ?? 0
      if (size < length) return { file: this.path(no), offset: size, rule: `the file ends before its ${length} bytes` }
    }
    return undefined
  }

  async close(): Promise<void> {
    this.#reader.keep(() => false)
  }
}

export const createPageSet = (options: PageSetOptions): PageSet => new StoredPages(options)
