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

export class Transients<V> {
  readonly #slots = new Set<Slot<V>>()

  get size(): number {
    return this.#slots.size
  }

  /** Returns what takes it out again. */
  add(value: V): () => void {
    const slot: Slot<V> = { value }
    this.#slots.add(slot)
    return () => this.#take(slot)
  }

  /** In the order in which they came. */
  values(): V[] {
    return valuesOf(this.#slots)
  }

  clear(): void {
    for (const slot of this.#slots) this.#take(slot)
  }

  #take(slot: Slot<V>): void {
    slot.value = undefined
    this.#slots.delete(slot)
  }
}

export class TransientsByKey<V> {
  readonly #slots = new Map<string, Slot<V>>()

  get size(): number {
    return this.#slots.size
  }

  has(key: string): boolean {
    return this.#slots.has(key)
  }

  get(key: string): V | undefined {
    return this.#slots.get(key)?.value
  }

  set(key: string, value: V): void {
    const slot = this.#slots.get(key)
    if (slot === undefined) this.#slots.set(key, { value })
    else slot.value = value
  }

  delete(key: string): void {
    const slot = this.#slots.get(key)
    if (slot === undefined) return
    slot.value = undefined
    this.#slots.delete(key)
  }

  /** In the order in which they came. */
  keys(): string[] {
    return Array.from(this.#slots.keys())
  }

  values(): V[] {
    return valuesOf(this.#slots.values())
  }
}

const valuesOf = <V>(slots: Iterable<Slot<V>>): V[] =>
  Array.from(slots).flatMap(({ value }) => (value === undefined ? [] : [value]))
