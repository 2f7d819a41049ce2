/** Rows whose first ones are asked for again and again. */
import type { Row } from './rows.js'

/** Rows that are kept. */
const most = 4

/** Reads the first rows once; whoever wants more reads from the beginning. What `begin` reads must not change. */
export const remembering = (begin: () => Iterator<Row>): Iterable<Row> => {
  const first: Row[] = []
  let source: Iterator<Row> | undefined
  let isWhole = false
  const readOne = (): void => {
    try {
      source ??= begin()
      const next = source.next()
      if (next.done === true) isWhole = true
      else first.push(next.value)
    } catch (error) {
      // It is over then, and would seem to be whole.
      source = undefined
      first.length = 0
      throw error
    }
  }
  return {
    *[Symbol.iterator]() {
      for (let at = 0; at < most; at += 1) {
        if (at === first.length && !isWhole) readOne()
        const row = first[at]
        if (row === undefined) return
        yield row
      }
      if (isWhole) return
      const rows = begin()
      for (let skipped = 0; skipped < most; skipped += 1) rows.next()
      for (let next = rows.next(); next.done !== true; next = rows.next()) yield next.value
    },
  }
}
