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

export const createPageSet = ({
  disk,
  folder,
  ids,
  root,
  of,
  version,
  pageBytes,
  onDamage,
}: PageSetOptions): PageSet => {
  const open = new Map<number, OpenPage>()
  let refs: readonly PageRef[] = []
  let nextNo = 1
  const noWindow: Window = { page: 0, start: 0, bytes: new Uint8Array() }
  let window = noWindow
  const path = (page: number): string => join(folder, pageName(page))
  const shut = (page: number): void => {
    void open.get(page)?.file.close()
    open.delete(page)
  }
  /** Damage is told before the reader learns of it, so that nothing is written on top of it. */
  const found = (fault: Fault): Error => {
    onDamage(fault)
    return damaged(fault)
  }
  const openPage = (page: number): OpenPage => {
    const known = open.get(page)
    if (known !== undefined) return known
    const oldest = open.keys().next().value
    if (open.size >= mostOpen && oldest !== undefined) shut(oldest)
    const file = disk.openSync(path(page))
    const header = readHeader(file.path, file.read(0, 4096))
    if (!header.ok) {
      void file.close()
      throw found(header.fault)
    }
    const made = { file, seed: saltSeed(header.header.salt) }
    open.set(page, made)
    return made
  }
  /** A first read takes the line alone; one close to the last read takes what lies in its direction too. */
  const bytesAt = (file: DiskFile, { page, offset, length }: Location): Uint8Array => {
    const { start, bytes } = window
    if (window.page === page && offset >= start && offset + length <= start + bytes.length)
      return bytes.subarray(offset - start, offset - start + length)
    const distance = window.page === page ? offset - start : Infinity
    if (length >= windowBytes || Math.abs(distance) > 2 * windowBytes) {
      window = { page, start: offset, bytes: file.read(offset, length) }
      return window.bytes
    }
    const from = distance < 0 ? Math.max(0, offset + length - windowBytes) : offset
    window = { page, start: from, bytes: file.read(from, windowBytes) }
    return window.bytes.subarray(offset - from, offset - from + length)
  }
  const read = (location: Location): unknown => {
    const { page, offset, length } = location
    const { file, seed } = openPage(page)
    const bytes = bytesAt(file, location)
    const check = checkLine(bytes, 0, seed)
    if (check.ok && check.end === length) return lineValue(bytes, 0, length)
    throw found({ file: file.path, offset, rule: check.ok ? 'the line is shorter than its row says' : check.rule })
  }
  const createPage = async (no: number): Promise<LineFile> =>
    createLineFile(disk, path(no), { v: 1, k: 'page', of, salt: ids.random(4), no, root, version })

  const draft = (): PageDraft => {
    const live = new Map(refs.map((ref) => [ref.no, ref.live]))
    const lengths = new Map(refs.map((ref) => [ref.no, ref.length]))
    const written: LineFile[] = []
    let current: { file: LineFile; no: number } | undefined
    const begin = async (): Promise<{ file: LineFile; no: number }> => {
      const last = refs.at(-1)
      const reuse = written.length === 0 && last !== undefined && last.length < pageBytes && live.has(last.no)
      const no = reuse ? last.no : nextNo
      if (!reuse) nextNo += 1
      const file = reuse ? await openLineFile(disk, path(no), last.length) : await createPage(no)
      written.push(file)
      current = { file, no }
      return current
    }
    const add = async (text: string): Promise<Location> => {
      const { file, no } = current === undefined || current.file.length >= pageBytes ? await begin() : current
      const { offset, length } = file.add(text)
      live.set(no, (live.get(no) ?? 0) + length)
      lengths.set(no, file.length)
      if (file.full) await file.flush()
      return { page: no, offset, length }
    }
    const finish = async (): Promise<readonly PageRef[]> => {
      for (const file of written) await file.sync()
      for (const file of written) await file.close()
      return [...lengths]
        .map(([no, length]) => ({ no, length, live: live.get(no) ?? 0 }))
        .toSorted((a, b) => a.no - b.no)
    }
    const waste = (no: number): number => (lengths.get(no) ?? 0) - 2 * (live.get(no) ?? 0)
    return {
      add,
      finish,
      release: ({ page, length }) => void live.set(page, (live.get(page) ?? 0) - length),
      wasteful: () =>
        refs
          .map((ref) => ref.no)
          .filter((no) => no !== refs.at(-1)?.no && no !== current?.no && waste(no) > 0)
          .toSorted((a, b) => waste(b) - waste(a)),
      drop: (page) => {
        live.delete(page)
        lengths.delete(page)
      },
      abandon: async () => {
        for (const file of written) await file.close().catch(() => undefined)
      },
    }
  }
  const missing = (): Fault | undefined => {
    for (const { no, length } of refs) {
      const size = disk.stat(path(no))?.size ?? 0
      if (size < length) return { file: path(no), offset: size, rule: `the file ends before its ${length} bytes` }
    }
    return undefined
  }
  return {
    missing,
    get pages() {
      return refs
    },
    load: (pages) => {
      refs = pages
      nextNo = 1 + Math.max(0, ...disk.list(folder).map((name) => numberOf(name) ?? 0), ...pages.map((page) => page.no))
    },
    read,
    draft,
    path,
    apply: (pages) => {
      refs = pages
      window = noWindow
      for (const page of open.keys()) if (!pages.some((ref) => ref.no === page)) shut(page)
    },
    close: async () => {
      for (const page of open.keys()) shut(page)
    },
  }
}
