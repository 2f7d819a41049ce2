/** The pages of a root that are open: so few that reads leave descriptors for everything else, however large it is. */
import type { DiskFile } from '../disk/disk.js'

export interface OpenPage {
  readonly file: DiskFile
  readonly seed: number
  /** Makes its reader forget it. */
  readonly forget: () => void
  /** Counts reads of the root: the page with the smallest was not read for the longest time. */
  readAt: number
}

export class OpenPages {
  readonly #most: number
  readonly #open = new Set<OpenPage>()
  #reads = 0

  constructor(most: number) {
    this.#most = most
  }

  add(page: OpenPage): void {
    this.#open.add(page)
  }

  touch(page: OpenPage): void {
    this.#reads += 1
    page.readAt = this.#reads
  }

  shut(page: OpenPage): void {
    this.#open.delete(page)
    page.forget()
    void page.file.close()
  }

  /** All of them, for whoever reads no more. */
  shutAll(): void {
    for (const page of this.#open) this.shut(page)
  }

  /** Before one more is opened. */
  makeRoom(): void {
    if (this.#open.size < this.#most) return
    let oldest: OpenPage | undefined
    for (const page of this.#open) if (oldest === undefined || page.readAt < oldest.readAt) oldest = page
    if (oldest !== undefined) this.shut(oldest)
  }
}
