/** A text as it is read, and where each part of that stands in the text as it is written. */

/** Code units of a text: the first one, and the first one behind. */
export type Span = readonly [begin: number, end: number]

export interface Reading {
  readonly text: string
  /** Of each part that is read otherwise, in order: its begin and its end as it is written, and its length as read. */
  readonly edits: readonly number[]
}
export type Read = (text: string) => Reading

/** What a pattern without groups finds, read by `signOf`. */
export const readingBy =
  (pattern: RegExp, signOf: (written: string) => string): Read =>
  (text) => {
    const edits: number[] = []
    const read = text.replaceAll(pattern, (written: string, at: number) => {
      const sign = signOf(written)
      edits.push(at, at + written.length, sign.length)
      return sign
    })
    return { text: read, edits }
  }

/** As a terminal shows it, where a backspace takes the sign before it away. */
export const rubbedOut: Read = (text) => {
  if (!text.includes('\b')) return { text, edits: [] }
  const kept: Span[] = []
  for (let at = 0; at < text.length;) {
    const end = at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1)
    if (text[at] === '\b') kept.pop()
    else kept.push([at, end])
    at = end
  }
  const edits: number[] = []
  let behind = 0
  // What was taken away belongs to the sign in its place: it may be the same, printed twice to be bold.
  for (const [begin, end] of [...kept, [text.length, text.length] as const]) {
    if (begin > behind) edits.push(behind, end, end - begin)
    behind = end
  }
  return { text: kept.map(([begin, end]) => text.slice(begin, end)).join(''), edits }
}

/** Where spans of what is read, in order, stand as it is written; what is not seen at their ends stays outside. */
export const asWritten = ({ edits }: Reading, spans: readonly Span[]): Span[] => {
  let [next, moved] = [0, 0]
  const placeOf = (place: number, isEnd: boolean): number => {
    for (; next < edits.length; next += 3) {
      const [begin, end, length] = [edits[next] ?? 0, edits[next + 1] ?? 0, edits[next + 2] ?? 0]
      const from = begin - moved
      const isBefore = from + length <= place && !(isEnd && from === place)
      if (!isBefore) return from < place ? (isEnd ? end : begin) : place + moved
      moved += end - begin - length
    }
    return place + moved
  }
  return spans.map(([begin, end]) => [placeOf(begin, false), placeOf(end, true)])
}
