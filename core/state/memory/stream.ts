/** Append-only entries by owner: what no checkpoint has written is in memory, the rest on pages. */
import { type Json, unsafeCast } from '../../base/schema.js'
import { serialise, type Change } from './change.js'
import type { Stream, StreamEntry, StreamSpec } from '../contract.js'

/** Entries that a checkpoint wrote. */
export interface CheckpointedEntries<E> {
  /** Number of entries of an owner on pages. */
  length(owner: string): number
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

export const createStream = <E extends Json>(spec: StreamSpec<E>, pages: CheckpointedEntries<E>): StoredStream<E> => {
  const tails = new Map<string, Tail<E>>()
  let dirty = new Set<string>()
  const name = JSON.stringify(spec.name)

  const length = (owner: string): number => {
    const tail = tails.get(owner)
    return tail === undefined ? pages.length(owner) : tail.first + tail.entries.length - 1
  }
  const tailOf = (owner: string): Tail<E> => {
    const found = tails.get(owner)
    if (found !== undefined) return found
    const onPages = pages.length(owner)
    const made: Tail<E> = { first: onPages + 1, entries: [], texts: [], durable: onPages }
    tails.set(owner, made)
    return made
  }
  const undo = (owner: string): void => {
    const tail = tailOf(owner)
    tail.entries.pop()
    tail.texts.pop()
    if (tail.entries.length === 0) tails.delete(owner)
  }
  const markDurable = (owner: string, seq: number): void => {
    tailOf(owner).durable = seq
    dirty.add(owner)
  }
  const append = (owner: string, entry: E): { seq: number; change: Change } => {
    const text = serialise(entry)
    const tail = tailOf(owner)
    const seq = tail.first + tail.entries.push(entry) - 1
    tail.texts.push(text)
    return {
      seq,
      change: {
        op: `["app",${name},${JSON.stringify(owner)},${seq},${text}]`,
        undo: () => undo(owner),
        onDurable: () => markDurable(owner, seq),
      },
    }
  }
  const replay = (owner: string, seq: number, entry: E): boolean => {
    if (seq !== length(owner) + 1) return false
    append(owner, entry).change.onDurable()
    return true
  }
  const read = (owner: string, { after, limit }: { after: number; limit: number }): StreamEntry<E>[] => {
    const tail = tails.get(owner)
    const onPages = tail === undefined ? pages.length(owner) : tail.first - 1
    const start = Math.max(0, after)
    const found = start < onPages && limit > 0 ? pages.read(owner, start, Math.min(onPages, start + limit)) : []
    if (tail === undefined) return found
    const from = Math.max(start + 1, tail.first)
    for (let seq = from; found.length < limit && seq < tail.first + tail.entries.length; seq += 1) {
      found.push({ seq, entry: unsafeCast<E>(tail.entries[seq - tail.first]) })
    }
    return found
  }
  function* owners(): Iterable<string> {
    yield* pages.owners()
    for (const owner of tails.keys()) if (pages.length(owner) === 0) yield owner
  }
  const takeDirty = (): DirtyEntries => {
    const taken = new Map<string, { first: number; texts: readonly string[] }>()
    for (const owner of dirty) {
      const tail = tailOf(owner)
      taken.set(owner, { first: tail.first, texts: tail.texts.slice(0, tail.durable - tail.first + 1) })
    }
    dirty = new Set()
    return { owners: taken }
  }
  const evict = ({ owners: taken }: DirtyEntries): void => {
    for (const [owner, { texts }] of taken) {
      const tail = tailOf(owner)
      tail.entries.splice(0, texts.length)
      tail.texts.splice(0, texts.length)
      tail.first += texts.length
      if (tail.entries.length === 0) tails.delete(owner)
    }
  }
  return {
    spec,
    length,
    read,
    append,
    replay,
    owners,
    takeDirty,
    evict,
    restoreDirty: ({ owners: taken }) => {
      for (const owner of taken.keys()) dirty.add(owner)
    },
  }
}
