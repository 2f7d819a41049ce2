/** Values by key that were used last, within bytes that several caches share. */
export interface SizedCache<V> {
  get(key: string): V | undefined
  /** Keeps a value, in place of the one that has the key. One that is larger than the whole room is not kept. */
  set(key: string, value: V, bytes: number): void
  delete(key: string): void
  clear(): void
}

/** Room for values of several caches: of all of them that one goes first that was used longest ago. */
export interface CacheRoom {
  cache<V>(): SizedCache<V>
}

/** One value in the ring of all of a room. The head of the ring holds none: before it stands what was used last. */
class Kept<V> {
  readonly value: V
  readonly bytes: number
  readonly forget: () => void
  before: Kept<unknown> = this
  behind: Kept<unknown> = this

  constructor(value: V, bytes: number, forget: () => void) {
    this.value = value
    this.bytes = bytes
    this.forget = forget
  }

  leave(): void {
    this.before.behind = this.behind
    this.behind.before = this.before
  }

  enter(head: Kept<unknown>): void {
    this.before = head.before
    this.behind = head
    this.before.behind = this
    head.before = this
  }
}

export const createCacheRoom = (mostBytes: number): CacheRoom => {
  const head = new Kept<unknown>(undefined, 0, () => {})
  let held = 0
  const drop = (kept: Kept<unknown>): void => {
    kept.leave()
    kept.forget()
    held -= kept.bytes
  }
  const cache = <V>(): SizedCache<V> => {
    const values = new Map<string, Kept<V>>()
    const remove = (key: string): void => {
      const kept = values.get(key)
      if (kept !== undefined) drop(kept)
    }
    return {
      get(key) {
        const kept = values.get(key)
        if (kept === undefined) return undefined
        kept.leave()
        kept.enter(head)
        return kept.value
      },
      set(key, value, bytes) {
        remove(key)
        if (bytes > mostBytes) return
        const kept = new Kept(value, bytes, () => void values.delete(key))
        values.set(key, kept)
        kept.enter(head)
        held += bytes
        while (held > mostBytes) drop(head.behind)
      },
      delete: remove,
      clear: () => values.forEach(drop),
    }
  }
  return { cache }
}
