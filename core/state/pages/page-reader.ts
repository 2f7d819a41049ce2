/** Reads lines of pages, with the newest files open and the bytes around the last line in memory. */
import type { DiskFile } from '../disk/disk.js'
import { checkLine, lineValue, saltSeed, type Fault } from '../format/line.js'
import { damaged, readHeader } from '../format/line-file.js'
import { pagePath, type Location, type PageOptions } from './page-file.js'

/** Bytes around the last line that was read: neighbours are often read together. */
interface Window {
  readonly page: number
  readonly start: number
  readonly bytes: Uint8Array
}
const windowBytes = 32 * 1024
const noWindow: Window = { page: 0, start: 0, bytes: new Uint8Array() }

interface OpenPage {
  readonly file: DiskFile
  readonly seed: number
}
const mostOpen = 24

export class PageReader {
  readonly #options: PageOptions
  readonly #open = new Map<number, OpenPage>()
  #window = noWindow

  constructor(options: PageOptions) {
    this.#options = options
  }

  /** The value of a line. Throws `storage_damaged` if it is not as it was written. */
  read(location: Location): unknown {
    const { page, offset, length } = location
    const { file, seed } = this.#openPage(page)
    const bytes = this.#bytesAt(file, location)
    const check = checkLine(bytes, 0, seed)
    if (check.ok && check.end === length) return lineValue(bytes, 0, length)
    throw this.damage({
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

  /** Damage is told before the reader learns of it, so that nothing is written on top of it. */
  damage(fault: Fault): Error {
    this.#options.onDamage(fault)
    return damaged(fault)
  }

  #shut(page: number): void {
    void this.#open.get(page)?.file.close()
    this.#open.delete(page)
  }

  #openPage(page: number): OpenPage {
    const known = this.#open.get(page)
    if (known !== undefined) return known
    const oldest = this.#open.keys().next().value
    if (this.#open.size >= mostOpen && oldest !== undefined) this.#shut(oldest)
    const file = this.#options.disk.openSync(pagePath(this.#options, page))
    const header = readHeader(file.path, file.read(0, 4096))
    if (!header.ok) {
      void file.close()
      throw this.damage(header.fault)
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
