/** Rings of fixed size in one collection: the oldest entry of a ring falls when its newest comes. */
import type { Collection, Tx } from '../state/contract.js'

/** An entry in its ring. Its id is made of these two alone, ends with the number behind a dash, and is in its order. */
export interface InRing {
  readonly ring: string
  /** The newest has the greatest number; 1 is the first. */
  readonly seq: number
}

/** Collections of rings have this index, in the order of ids. */
export const ringIndex = { ring: { group: ({ ring }: InRing): string => ring } }

export interface Rings<R extends string, E extends InRing> {
  /** Adds the entry that is made of its number, in a commit. */
  add(tx: Tx, ring: R, make: (seq: number) => E): void
}

/** `sizes` says how many entries each ring has at most. */
export const createRings = <R extends string, E extends InRing>(
  collection: Collection<E>,
  sizes: Readonly<Record<R, number>>,
): Rings<R, E> => ({
  add(tx, ring, make) {
    const [newest = '0'] = collection.page({ index: 'ring', group: ring, limit: 1, order: 'desc' })
    const entry = make(Number(newest.slice(newest.lastIndexOf('-') + 1)) + 1)
    tx.insert(collection, entry)
    const older = { ...entry, seq: entry.seq - sizes[ring] }
    if (older.seq > 0) tx.remove(collection, collection.spec.id(older), 'older')
  },
})
