/**
 * The JSON of data in which only a text and a time change: the rest is made once. To make all of it for each delta
 * costs four times as much.
 */

export type Making = (text: string, timestamp_ms: number) => object

/** Stand for what changes; text that holds one of them is made as a whole each time. */
const [textMark, timeMark] = ['\0delta\0', Number.MAX_SAFE_INTEGER]
const marks = [JSON.stringify(textMark), String(timeMark)] as const

/** The parts around the two marks, and whether the text comes first; undefined if they do not stand there once each. */
const cut = (json: string) => {
  const [textAt, timeAt] = [json.indexOf(marks[0]), json.indexOf(marks[1])]
  if (textAt < 0 || timeAt < 0) return undefined
  if (textAt !== json.lastIndexOf(marks[0]) || timeAt !== json.lastIndexOf(marks[1])) return undefined
  const textFirst = textAt < timeAt
  const [one, other] = textFirst ? [textAt, timeAt] : [timeAt, textAt]
  const [oneMark, otherMark] = textFirst ? marks : [marks[1], marks[0]]
  return {
    textFirst,
    head: json.slice(0, one),
    middle: json.slice(one + oneMark.length, other),
    tail: json.slice(other + otherMark.length),
  }
}

/** `make` must put text and time into its data as they are. */
export const createTemplate = (make: Making): ((text: string, timestamp_ms: number) => string) => {
  const parts = cut(JSON.stringify(make(textMark, timeMark)))
  if (parts === undefined) return (text, timestamp_ms) => JSON.stringify(make(text, timestamp_ms))
  const { textFirst, head, middle, tail } = parts
  return textFirst
    ? (text, timestamp_ms) => head + JSON.stringify(text) + middle + timestamp_ms + tail
    : (text, timestamp_ms) => head + timestamp_ms + middle + JSON.stringify(text) + tail
}
