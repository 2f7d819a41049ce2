/** The values that were used last, by key; the oldest goes first. */
export interface Cache<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
  delete(key: string): void
  /** Forgets all values and returns them, the oldest first. */
  clear(): readonly V[]
}

/** Keeps at most `most` values; `onEvict` is told of each that goes because there are more. */
export const createCache = <V>(most: number, onEvict?: (value: V) => void): Cache<V> => {
  const values = new Map<string, V>()
  /** The key that is the last one already: it need not be moved. */
  let newest: string | undefined
  const get = (key: string): V | undefined => {
    const value = values.get(key)
    if (value === undefined || key === newest) return value
    values.delete(key)
    values.set(key, value)
    newest = key
    return value
  }
  const evict = (key: string): void => {
    const value = values.get(key)
    values.delete(key)
    if (value !== undefined) onEvict?.(value)
  }
  const set = (key: string, value: V): void => {
    if (!values.has(key)) newest = key
    values.set(key, value)
    const oldest = values.keys().next().value
    if (values.size > most && oldest !== undefined) evict(oldest)
  }
  const clear = (): readonly V[] => {
    const all = [...values.values()]
    values.clear()
    return all
  }
  return { get, set, delete: (key) => void values.delete(key), clear }
}
