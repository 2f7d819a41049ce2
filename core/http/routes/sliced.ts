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
  /** The JSON of any value, made in the same way. */
  writeValue(value: unknown, gone: () => boolean): Promise<string | readonly Uint8Array[]>
}

/** Whether the JSON of a value is longer than one slice, as far as its texts tell; looks at no more than that takes. */
export const isLong = (value: unknown): boolean => {
  let left = sliceLength
  const look = (part: unknown): boolean => {
    left -= typeof part === 'string' ? part.length : 1
    if (left < 0) return true
    if (typeof part !== 'object' || part === null) return false
    for (const inner of Object.values(part)) if (look(inner)) return true
    return false
  }
  return look(value)
}

/** The JSON of a value, equal to that of `JSON.stringify`, in pieces that are each about a slice at most. */
export function* jsonPieces(value: unknown): Generator<string> {
  if (typeof value === 'string') return yield* stringPieces(value)
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return yield JSON.stringify(value) ?? 'null'
  if (!isLong(value)) return yield JSON.stringify(value)
  const listed = Array.isArray(value)
  let before = listed ? '[' : '{'
  for (const [key, inner] of Object.entries(value)) {
    if (!listed && inner === undefined) continue
    yield listed ? before : `${before}${JSON.stringify(key)}:`
    yield* jsonPieces(inner)
    before = ','
  }
  yield listed ? ']' : '}'
}

function* stringPieces(text: string): Generator<string> {
  if (text.length <= sliceLength) return yield JSON.stringify(text)
  yield '"'
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + sliceLength)
    if ((text.codePointAt(end - 1) ?? 0) > 0xffff) end += 1
    yield JSON.stringify(text.slice(at, end)).slice(1, -1)
    at = end
  }
  yield '"'
}

function* listPieces({ before, items, after, most = Infinity }: ListText): Generator<string | undefined> {
  yield before
  let [count, written] = [0, 0]
  for (const item of items) {
    count += 1
    if (item !== undefined) yield `${written++ === 0 ? '' : ','}${JSON.stringify(item)}`
    if (count % most === 0) yield undefined
  }
  yield after
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
  /** Ends a slice where it is long enough, and at each piece that is undefined. */
  const pour = async (
    pieces: Iterable<string | undefined>,
    gone: () => boolean,
  ): Promise<string | readonly Uint8Array[]> => {
    const parts: Uint8Array[] = []
    let text = ''
    let leave: (() => void) | undefined
    try {
      for (const piece of pieces) {
        text += piece ?? ''
        if (piece !== undefined && text.length < sliceLength) continue
        parts.push(Buffer.from(text))
        text = ''
        leave ??= await enter()
        await setImmediate()
        if (gone()) break
      }
    } finally {
      leave?.()
    }
    return parts.length === 0 ? text : [...parts, Buffer.from(text)]
  }
  return {
    write: (list, gone) => pour(listPieces(list), gone),
    writeValue: (value, gone) => pour(jsonPieces(value), gone),
  }
}
