/** The values that were used last, by key; the oldest goes first. */
export interface Cache<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
  delete(key: string): void
}

export const createCache = <V>(most: number): Cache<V> => {
  const values = new Map<string, V>()
  const get = (key: string): V | undefined => {
    const value = values.get(key)
    if (value === undefined) return undefined
    values.delete(key)
    values.set(key, value)
    return value
  }
  const set = (key: string, value: V): void => {
    values.set(key, value)
    const oldest = values.keys().next().value
    if (values.size > most && oldest !== undefined) values.delete(oldest)
  }
  return { get, set, delete: (key) => void values.delete(key) }
}
