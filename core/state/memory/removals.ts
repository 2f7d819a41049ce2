/**
 * Ids of removed records. A buried one is never used again. A forgotten one is known until the tables do not have it
 * any more: then nothing tells of it.
 */
import type { CollectionSpec } from '../contract.js'

/** What a checkpoint has to write of them. */
export interface DirtyRemovals {
  /** Buried ids with the reasons of their tombstones. */
  readonly tombstones: ReadonlyMap<string, string>
  /** Forgotten ids, which pages and tables may still have, each with the number of its removal. */
  readonly forgotten: ReadonlyMap<string, number>
}

/** Whether ids of removed records may be used again. */
export const forgets = <T extends object>({ removed }: CollectionSpec<T>): boolean => removed === 'forgotten'

export class Removals {
  /** Whether ids are forgotten. */
  readonly forgets: boolean
  readonly #buried = new Set<string>()
  /** Forgotten ids that are not in memory, and maybe still in the tables. */
  readonly #gone = new Map<string, number>()
  #made = 0
  #tombstones = new Map<string, string>()
  #forgotten = new Map<string, number>()

  constructor(isForgetting: boolean) {
    this.forgets = isForgetting
  }

  /** True of an id that is never used again. */
  isBuried(id: string): boolean {
    return this.#buried.has(id)
  }

  /** True of a removed id: what tables have of it does not count. */
  hides(id: string): boolean {
    return this.#buried.has(id) || (this.#gone.size > 0 && this.#gone.has(id))
  }

  bury(id: string): void {
    this.#buried.add(id)
  }

  /** A record is removed; returns the number of its removal. */
  add(id: string): number {
    this.#made += 1
    if (this.forgets) this.#gone.set(id, this.#made)
    else this.#buried.add(id)
    return this.#made
  }

  /** The removal is undone. */
  takeBack(id: string): void {
    if (this.forgets) this.#gone.delete(id)
    else this.#buried.delete(id)
  }

  /** The removal is durable. */
  settle(id: string, { reason, number }: { readonly reason: string; readonly number: number }): void {
    if (this.forgets) this.#forgotten.set(id, number)
    else this.#tombstones.set(id, reason)
  }

  /** The log says that a record is gone, and leaves nothing. */
  forget(id: string): void {
    this.#made += 1
    this.#gone.set(id, this.#made)
    this.#forgotten.set(id, this.#made)
  }

  /** A record with this id is written; returns the number of its removal, for `leave` where that is undone. */
  comeBack(id: string): number | undefined {
    if (this.#gone.size === 0) return undefined
    const number = this.#gone.get(id)
    this.#gone.delete(id)
    return number
  }

  leave(id: string, number: number): void {
    this.#gone.set(id, number)
  }

  /** A record with this id is durable. */
  isBack(id: string): void {
    if (this.#forgotten.size > 0) this.#forgotten.delete(id)
  }

  /** True if the next checkpoint writes that it is gone. */
  isDirty(id: string): boolean {
    return this.#tombstones.has(id) || this.#forgotten.has(id)
  }

  take(): DirtyRemovals {
    const taken = { tombstones: this.#tombstones, forgotten: this.#forgotten }
    this.#tombstones = new Map()
    this.#forgotten = new Map()
    return taken
  }

  /** They could not be written. Of those that are there again, or were removed again, nothing is to be written. */
  restore({ tombstones, forgotten }: DirtyRemovals, isThere: (id: string) => boolean): void {
    for (const [id, reason] of tombstones) this.#tombstones.set(id, reason)
    for (const [id, number] of forgotten) if (!isThere(id) && !this.#forgotten.has(id)) this.#forgotten.set(id, number)
  }

  /** The tables do not have them any more. What was removed since may come into them yet. */
  evict({ forgotten }: DirtyRemovals): void {
    for (const [id, number] of forgotten) if (this.#gone.get(id) === number) this.#gone.delete(id)
  }
}
