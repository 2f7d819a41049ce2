/** Rows whose first ones are asked for again and again. */
import type { Row } from './rows.js'

/** Rows that are kept: who asks again and again wants the newest alone. */
const most = 2

/** Reads the first rows at once; whoever wants more reads from the beginning. What `begin` reads must not change. */
export const remembering = (begin: () => Iterable<Row>): Iterable<Row> => {
  const first: Row[] = []
  let isWhole = true
  for (const row of begin()) {
    isWhole = first.length < most
    if (!isWhole) break
    first.push(row)
  }
  return isWhole ? first : { [Symbol.iterator]: () => firstOf(first, begin) }
}

function* firstOf(first: readonly Row[], begin: () => Iterable<Row>): Iterator<Row> {
  yield* first
  let skipped = 0
  for (const row of begin()) if ((skipped += 1) > first.length) yield row
}
