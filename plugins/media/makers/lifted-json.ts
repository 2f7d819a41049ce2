/**
 * Reads JSON whose long texts are pictures. These are lifted out before anything reads it, so that megabytes of them
 * hold nobody up, and the rest must be short.
 */
import { isModest, type Json } from '../../../core/plugin.js'

const [quote, backslash] = [0x22, 0x5c]
/** Bytes of a text that is lifted, and of all that is not. */
const [long, mostRest] = [8 * 1024, 256 * 1024]
/** Quotes with a backslash before them in one text. */
const mostEscaped = 1_000

export interface Lifted {
  readonly value: Json
  /** By the mark that stands in its place. */
  readonly texts: ReadonlyMap<string, Buffer>
}

/** Where the text ends that begins here; below zero if it does not. */
const endOfText = (bytes: Buffer, from: number): number => {
  let escaped = 0
  for (let at = bytes.indexOf(quote, from); at >= 0; at = bytes.indexOf(quote, at + 1)) {
    let slashes = 0
    while (bytes[at - 1 - slashes] === backslash && at - 1 - slashes >= from) slashes += 1
    if (slashes % 2 === 0) return at
    escaped += 1
    if (escaped > mostEscaped || slashes > mostEscaped) return -1
  }
  return -1
}

const parsed = (text: string): Json | undefined => {
  if (!isModest(text)) return undefined
  try {
    const value: Json = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

/** Undefined if it is no JSON, or has too much beside its long texts. */
export const readLifted = (body: Uint8Array): Lifted | undefined => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const texts = new Map<string, Buffer>()
  const pieces: Buffer[] = []
  let [from, rest] = [0, 0]
  for (let at = bytes.indexOf(quote); at >= 0; at = bytes.indexOf(quote, at)) {
    const end = endOfText(bytes, at + 1)
    if (end < 0) return undefined
    if (end - at > long) {
      const mark = `lifted ${texts.size}`
      texts.set(mark, bytes.subarray(at + 1, end))
      pieces.push(bytes.subarray(from, at + 1), Buffer.from(mark))
      rest += at + 1 - from
      from = end
    }
    if (rest + end - from > mostRest) return undefined
    at = end + 1
  }
  if (rest + bytes.length - from > mostRest) return undefined
  const value = parsed(Buffer.concat([...pieces, bytes.subarray(from)]).toString())
  return value === undefined ? undefined : { value, texts }
}

/** A text of it, lifted or not; undefined if it is none. Slashes may stand behind a backslash. */
export const longTextOf = ({ texts }: Lifted, value: unknown): string | undefined => {
  if (typeof value !== 'string') return undefined
  const lifted = texts.get(value)
  if (lifted === undefined) return value
  const text = lifted.toString('latin1')
  return lifted.includes(backslash) ? text.replaceAll('\\/', '/') : text
}
