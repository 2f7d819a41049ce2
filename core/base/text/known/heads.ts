/** Values that are looked for at every place of a text, by their first code units. */
import { createBegins, type Begins } from './begins.js'
import { insert, longestAt, shortestValue, take, type Entry, type Kin } from './kin.js'

export interface Heads {
  add(value: string): void
  remove(value: string): void
  /** The longest that stands at a place. */
  longestAt(text: string, at: number): Entry | undefined
  /** The next place where one may stand. */
  readonly next: Begins['next']
  isEmpty(): boolean
}

export const createHeads = (): Heads => {
  const begins = createBegins()
  const kin = new Map<string, Kin>()
  let last: { readonly begin: string; readonly found: Kin | undefined } = { begin: '', found: undefined }
  const mark = (begin: string, by: 1 | -1): void => {
    last = { begin: '', found: undefined }
    begins.mark(begin, by)
  }
  const add = (value: string): void => {
    const begin = value.slice(0, shortestValue)
    const found = kin.get(begin) ?? []
    if (found.length === 0) {
      kin.set(begin, found)
      mark(begin, 1)
    }
    insert(found, value)
  }
  const remove = (value: string): void => {
    const begin = value.slice(0, shortestValue)
    const found = kin.get(begin)
    if (found === undefined) return
    take(found, value)
    if (found.length > 0) return
    kin.delete(begin)
    mark(begin, -1)
  }
  /** What a text repeats is not looked up again. */
  const kinAt = (text: string, at: number): Kin | undefined => {
    const begin = text.slice(at, at + shortestValue)
    if (begin !== last.begin) last = { begin, found: kin.get(begin) }
    return last.found
  }
  return {
    add,
    remove,
    longestAt(text, at) {
      const found = kinAt(text, at)
      return found === undefined ? undefined : longestAt(found, text, at)
    },
    next: begins.next,
    isEmpty: () => kin.size === 0,
  }
}
