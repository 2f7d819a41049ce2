/** Parts of a text that something stands in instead. */
import type { Portions } from '../../turns.js'
import type { Span } from '../../words/reading.js'

/** Spans in order as they are found, and between them undefined where others are served. */
export type Spans = Generator<Span | undefined, void, undefined>

export function* allOf(spans: Spans): Portions<Span[]> {
  const all: Span[] = []
  for (const span of spans) {
    if (span === undefined) yield
    else all.push(span)
  }
  return all
}

/** The text with each of the spans replaced; those that overlap become one. */
export const replaced = (text: string, spans: readonly Span[], mark: string): string => {
  let [made, copied] = ['', 0]
  for (const [begin, end] of spans.toSorted(([a], [b]) => a - b)) {
    if (begin >= copied) made += text.slice(copied, begin) + mark
    copied = Math.max(copied, end)
  }
  return made + text.slice(copied)
}
