/** Append-only entries by owner: what no checkpoint has written is in memory, the rest on pages. */
import type { Json } from '../../base/schema.js'
import { serialise, type Change } from './change.js'
import type { Stream, StreamEntry, StreamSpec } from '../contract.js'
import { createHands, type Hands } from './hands.js'

/** Entries that a checkpoint wrote. */
export interface CheckpointedEntries<E> {
  /** The last sequence of an owner on pages, also where its entries fell. */
  length(owner: string): number
  /** The oldest entry of an owner on pages, or where the next one belongs; 1 unless something fell. */
  first(owner: string): number
  /** Entries with `after < seq <= upto`, oldest first. */
  read(owner: string, after: number, upto: number): StreamEntry<E>[]
  owners(): Iterable<string>
}

/** Entries in memory; the first one has the sequence `first`. */
interface Tail<E> {
  first: number
  readonly entries: E[]
  readonly texts: string[]
  durable: number
}

/** For each owner, the texts of the entries that a checkpoint has to write, from sequence `first` on. */
export interface DirtyEntries {
  readonly owners: ReadonlyMap<string, { readonly first: number; readonly texts: readonly string[] }>
}

export interface StoredStream<E extends Json> extends Stream<E> {
  append(owner: string, entry: E): { readonly seq: number; readonly change: Change }
  /** Applies an operation of the log at start; false if its sequence does not fit. */
  replay(owner: string, seq: number, entry: E): boolean
  takeDirty(): DirtyEntries
  restoreDirty(dirty: DirtyEntries): void
  /** Forgets entries that are on their pages now. */
  evict(dirty: DirtyEntries): void
}

class MemoryStream<E extends Json> implements StoredStream<E> {
  readonly spec: StreamSpec<E>
  readonly #pages: CheckpointedEntries<E>
  readonly #tails = new Map<string, Tail<E>>()
  readonly #name: string
  readonly #hands: Hands
  #dirty = new Set<string>()

  constructor(spec: StreamSpec<E>, pages: CheckpointedEntries<E>, hands: Hands) {
    this.#hands = hands
    this.spec = spec
    this.#pages = pages
    this.#name = JSON.stringify(spec.name)
  }

  length(owner: string): number {
    const tail = this.#tails.get(owner)
    return tail === undefined ? this.#pages.length(owner) : tail.first + tail.entries.length - 1
  }

  first(owner: string): number {
    return this.#pages.first(owner)
  }

  read(owner: string, { after, limit }: { after: number; limit: number }): StreamEntry<E>[] {
    const tail = this.#tails.get(owner)
    const onPages = tail === undefined ? this.#pages.length(owner) : tail.first - 1
    const start = Math.max(0, after)
    const found = start < onPages && limit > 0 ? this.#pages.read(owner, start, Math.min(onPages, start + limit)) : []
    if (tail === undefined) return this.#out(found)
    const from = Math.max(start + 1, tail.first)
    for (let seq = from; seq <= start + limit && seq < tail.first + tail.entries.length; seq += 1) {
      const entry = tail.entries[seq - tail.first]
      if (entry !== undefined) found.push({ seq, entry })
    }
    return this.#out(found)
  }

  *owners(): Iterable<string> {
    yield* this.#pages.owners()
    for (const owner of this.#tails.keys()) if (this.#pages.length(owner) === 0) yield owner
  }

  append(owner: string, entry: E): { seq: number; change: Change } {
    const text = serialise(entry)
    this.#hands.in(entry)
    const tail = this.#tailOf(owner)
    const seq = tail.first + tail.entries.push(entry) - 1
    tail.texts.push(text)
    return {
      seq,
      change: {
        op: `["app",${this.#name},${JSON.stringify(owner)},${seq},${text}]`,
        undo: () => this.#undo(owner),
        onDurable: () => this.#markDurable(owner, seq),
      },
    }
  }

  replay(owner: string, seq: number, entry: E): boolean {
    if (seq !== this.length(owner) + 1) return false
    this.append(owner, entry).change.onDurable()
    return true
  }

  takeDirty(): DirtyEntries {
    const taken = new Map<string, { first: number; texts: readonly string[] }>()
    for (const owner of this.#dirty) {
      const tail = this.#tailOf(owner)
      taken.set(owner, { first: tail.first, texts: tail.texts.slice(0, tail.durable - tail.first + 1) })
    }
    this.#dirty = new Set()
    return { owners: taken }
  }

  restoreDirty({ owners }: DirtyEntries): void {
    for (const owner of owners.keys()) this.#dirty.add(owner)
  }

  evict({ owners }: DirtyEntries): void {
    for (const [owner, { texts }] of owners) {
      const tail = this.#tailOf(owner)
      tail.entries.splice(0, texts.length)
      tail.texts.splice(0, texts.length)
      tail.first += texts.length
      if (tail.entries.length === 0) this.#tails.delete(owner)
    }
  }

  #out(found: StreamEntry<E>[]): StreamEntry<E>[] {
    for (const { entry } of found) this.#hands.out(entry)
    return found
  }

  #tailOf(owner: string): Tail<E> {
    const known = this.#tails.get(owner)
    if (known !== undefined) return known
    const onPages = this.#pages.length(owner)
    const tail: Tail<E> = { first: onPages + 1, entries: [], texts: [], durable: onPages }
    this.#tails.set(owner, tail)
    return tail
  }

  #undo(owner: string): void {
    const tail = this.#tailOf(owner)
    tail.entries.pop()
    tail.texts.pop()
    if (tail.entries.length === 0) this.#tails.delete(owner)
  }

  #markDurable(owner: string, seq: number): void {
    this.#tailOf(owner).durable = seq
    this.#dirty.add(owner)
  }
}

export const createStream = <E extends Json>(
  spec: StreamSpec<E>,
  pages: CheckpointedEntries<E>,
  hands: Hands = createHands(),
): StoredStream<E> => new MemoryStream(spec, pages, hands)
