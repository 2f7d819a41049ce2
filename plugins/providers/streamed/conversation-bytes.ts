/** The messages of conversations as they are sent, kept from one call to the next. */
import type { ModelImage, ModelMessage } from '../../execution/models/contract.js'

export interface ConversationBytes {
  /** The JSON of each message, with commas between them. Good until the next call. */
  of(messages: readonly ModelMessage[]): Buffer
}

interface Kept {
  bytes: Buffer
  /** Bytes of `bytes` that are used. */
  length: number
  /** Messages that are in it, and the last of them. */
  count: number
  last: ModelMessage | undefined
}

/**
 * `wire` gives what is sent for a message, its pictures in the order in which they stand there. The array of an earlier
 * call comes again with more at its end, and what is in it does not change: only what is new is written. Of those that
 * were asked for longest ago nothing is kept beyond `most` bytes.
 */
export const createConversationBytes = (
  wire: (message: ModelMessage) => readonly object[],
  most: number,
): ConversationBytes => {
  const all = new Map<readonly ModelMessage[], Kept>()
  let total = 0
  const take = (messages: readonly ModelMessage[]): Kept => {
    const known = all.get(messages)
    all.delete(messages)
    total -= known?.bytes.length ?? 0
    return known !== undefined && known.last === messages[known.count - 1]
      ? known
      : { bytes: Buffer.alloc(0), length: 0, count: 0, last: undefined }
  }
  const put = (messages: readonly ModelMessage[], kept: Kept): void => {
    if (kept.bytes.length > most) return
    all.set(messages, kept)
    total += kept.bytes.length
    for (const oldest of all.keys()) {
      if (total <= most) return
      take(oldest)
    }
  }
  return {
    of(messages) {
      const kept = take(messages)
      write(kept, messages, wire)
      put(messages, kept)
      return kept.bytes.subarray(0, kept.length)
    },
  }
}

/** Stands for the bytes of a picture while the rest is written. */
const mark = '<bytes of a picture>'

const write = (
  kept: Kept,
  messages: readonly ModelMessage[],
  wire: (message: ModelMessage) => readonly object[],
): void => {
  const fresh = messages.slice(kept.count)
  kept.count = messages.length
  kept.last = messages.at(-1)
  const pictures: string[] = []
  const pieces = textOf(fresh.flatMap((message) => wire(marked(message, pictures)))).split(mark)
  // Where somebody says what the mark is, pictures are written as a part of the text.
  if (pieces.length === pictures.length + 1) add(kept, pieces, pictures)
  else add(kept, [textOf(fresh.flatMap(wire))], [])
}

/** The JSON of a list without its brackets. */
const textOf = (list: readonly object[]): string => JSON.stringify(list).slice(1, -1)

/** Pictures come between pieces: as a part of the text they would be looked through again and again. */
const add = (kept: Kept, pieces: readonly string[], pictures: readonly string[]): void => {
  const text = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)
  if (text === 0) return
  const comma = kept.length > 0 ? ',' : ''
  const length = pictures.reduce((sum, base64) => sum + base64.length, kept.length + comma.length + text)
  if (length > kept.bytes.length) {
    const larger = Buffer.allocUnsafe(kept.length === 0 ? length : length * 2)
    kept.bytes.copy(larger, 0, 0, kept.length)
    kept.bytes = larger
  }
  kept.length += kept.bytes.write(comma, kept.length)
  for (const [at, piece] of pieces.entries()) {
    kept.length += kept.bytes.write(piece, kept.length)
    kept.length += kept.bytes.write(pictures[at] ?? '', kept.length, 'latin1')
  }
}

/** The message with marks in the place of its pictures, which are noted in their order. */
const marked = (message: ModelMessage, pictures: string[]): ModelMessage => {
  if (message.role !== 'user') return message
  const stand = (image: ModelImage): ModelImage => {
    pictures.push(image.base64)
    return { ...image, base64: mark }
  }
  const content = message.content.map((part) =>
    part.image === undefined ? part : { ...part, image: stand(part.image) },
  )
  return { ...message, content }
}
