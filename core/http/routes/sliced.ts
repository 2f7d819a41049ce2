/**
 * Long lists as text, made in slices: between two of them the event loop serves others. One list is made at a time, so
 * that many who ask at once hold one slice each and not a list each.
 */
import { setImmediate } from 'node:timers/promises'

const asItems = Symbol('sliced')
/** A list whose items are made while it is written. */
export interface Sliced<V> {
  readonly [asItems]: () => Iterable<V | undefined>
}
/**
 * An answer of any length. `items` is called once; it is read in parts, and the state may change between them. What is
 * undefined is left out.
 */
export const sliced = <V>(items: () => Iterable<V | undefined>): Sliced<V> => ({ [asItems]: items })
/** The items inside; undefined if it is no such list. */
export const slicedItems = (value: unknown): Iterable<unknown> | undefined =>
  typeof value === 'object' && value !== null && asItems in value && typeof value[asItems] === 'function'
    ? value[asItems]()
    : undefined

/** Items of one slice where they are made on the way. */
export const sliceItems = 32
const sliceLength = 65_536

export interface ListText {
  readonly before: string
  readonly items: Iterable<unknown>
  readonly after: string
  /** Most items of one slice; only the length of their text counts when absent. */
  readonly most?: number
}

export interface ListWriter {
  /** The text, in several parts if it is long. Ends early when nobody waits for it any more. */
  write(list: ListText, gone: () => boolean): Promise<string | readonly Uint8Array[]>
}

export const createListWriter = (): ListWriter => {
  let last: Promise<void> = Promise.resolve()
  /** Waits for those that came before; returns what lets the next one in. */
  const enter = async (): Promise<() => void> => {
    const before = last
    let leave = (): void => {}
    last = new Promise((resolve) => {
      leave = resolve
    })
    await before
    return leave
  }
  return {
    async write({ before, items, after, most = Infinity }, gone) {
      const parts: Uint8Array[] = []
      let text = before
      let [count, written] = [0, 0]
      let leave: (() => void) | undefined
      try {
        for (const item of items) {
          count += 1
          if (item !== undefined) {
            text += `${written === 0 ? '' : ','}${JSON.stringify(item)}`
            written += 1
          }
          if (text.length < sliceLength && count % most !== 0) continue
          parts.push(Buffer.from(text))
          text = ''
          leave ??= await enter()
          await setImmediate()
          if (gone()) break
        }
      } finally {
        leave?.()
      }
      text += after
      return parts.length === 0 ? text : [...parts, Buffer.from(text)]
    },
  }
}
