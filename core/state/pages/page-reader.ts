/** Reads lines of pages and tables, with the bytes around the last line in memory. */
import type { Sieve } from '../contract.js'
import type { DiskFile } from '../disk/disk.js'
import { checkLine, lineValue, saltSeed, type Fault } from '../format/line.js'
import { damaged, readHeader, type FileIdentity } from '../format/line-file.js'
import type { OpenPage } from './open-pages.js'
import type { Location, PageOptions } from './page-file.js'

/** Bytes around the last line that was read: neighbours are often read together. */
interface Window {
  readonly page: number
  readonly start: number
  readonly bytes: Uint8Array
}
const windowBytes = 32 * 1024
const noWindow: Window = { page: 0, start: 0, bytes: new Uint8Array() }

export interface PageReaderOptions extends Pick<PageOptions, 'disk' | 'files' | 'onDamage'> {
  /** The file of a number, and what tells it from others. */
  readonly path: (no: number) => string
  readonly identity: (no: number) => FileIdentity
}

export class PageReader {
  readonly #options: PageReaderOptions
  readonly #open = new Map<number, OpenPage>()
  #window = noWindow

  constructor(options: PageReaderOptions) {
    this.#options = options
  }

  /** The value of a line; undefined where `sieve` refuses it. Throws `storage_damaged` if it is not as it was. */
  read(location: Location, sieve?: Sieve): unknown {
    const { page, offset, length } = location
    const open = this.#open.get(page) ?? this.#openPage(page)
    const { file, seed } = open
    this.#options.files.touch(open)
    const bytes = this.#bytesAt(file, location)
    const check = checkLine(bytes, 0, seed)
    if (check.ok && check.end === length)
      return sieve === undefined || sieve(bytes) ? lineValue(bytes, 0, length) : undefined
    throw this.damage({
      file: file.path,
      offset,
      rule: check.ok ? 'the line is shorter than its row says' : check.rule,
    })
  }

  /** Forgets what was read, and closes the pages that are not to be kept. */
  keep(isKept: (page: number) => boolean): void {
    this.#window = noWindow
    for (const [page, open] of this.#open) if (!isKept(page)) this.#options.files.shut(open)
  }

  /** Damage is told before the reader learns of it, so that nothing is written on top of it. */
  damage(fault: Fault): Error {
    this.#options.onDamage(fault)
    return damaged(fault)
  }

  #openPage(page: number): OpenPage {
    const { disk, files, path, identity } = this.#options
    files.makeRoom()
    const file = disk.openSync(path(page))
    const header = readHeader(file.path, file.read(0, 4096), identity(page))
    if (!header.ok) {
      void file.close()
      throw this.damage(header.fault)
    }
    const forget = (): void => void this.#open.delete(page)
    const opened = { file, seed: saltSeed(header.header.salt), forget, readAt: 0 }
    this.#open.set(page, opened)
    files.add(opened)
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
