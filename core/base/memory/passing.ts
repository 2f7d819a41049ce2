/**
 * Collections of what comes and goes with requests, runs and calls.
 *
 * V8 replaces the table of a Map or a Set each time that enough has left it. A table that has reached the old heap goes
 * on holding what stood in it when it was replaced, and the table that came after it, until that heap is collected: all
 * that is under way is then copied as if it were to stay. So these hold slots, and what leaves empties its slot.
 */
interface Slot<V> {
  value: V | undefined
}

export interface Passing<V> {
  readonly size: number
  /** Returns what takes it out again. */
  add(value: V): () => void
  /** In the order in which they came. */
  values(): V[]
  clear(): void
}

export const createPassing = <V>(): Passing<V> => {
  const slots = new Set<Slot<V>>()
  const take = (slot: Slot<V>): void => {
    slot.value = undefined
    slots.delete(slot)
  }
  return {
    get size() {
      return slots.size
    },
    add(value) {
      const slot: Slot<V> = { value }
      slots.add(slot)
      return () => take(slot)
    },
    values: () => valuesOf(slots),
    clear: () => slots.forEach(take),
  }
}

export interface PassingByKey<V> {
  readonly size: number
  has(key: string): boolean
  get(key: string): V | undefined
  set(key: string, value: V): void
  delete(key: string): void
  keys(): string[]
  values(): V[]
}

export const createPassingByKey = <V>(): PassingByKey<V> => {
  const slots = new Map<string, Slot<V>>()
  return {
    get size() {
      return slots.size
    },
    has: (key) => slots.has(key),
    get: (key) => slots.get(key)?.value,
    set(key, value) {
      const slot = slots.get(key)
      if (slot === undefined) slots.set(key, { value })
      else slot.value = value
    },
    delete(key) {
      const slot = slots.get(key)
      if (slot === undefined) return
      slot.value = undefined
      slots.delete(key)
    },
    keys: () => Array.from(slots.keys()),
    values: () => valuesOf(slots.values()),
  }
}

const valuesOf = <V>(slots: Iterable<Slot<V>>): V[] =>
  Array.from(slots).flatMap(({ value }) => (value === undefined ? [] : [value]))
