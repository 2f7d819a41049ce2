/** The messages of conversations as they are sent, kept from one call to the next. */
import { randomUUID } from 'node:crypto'
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
 * `wire` gives what is sent for a message, each picture once and in the order in which it stands there. The array of an earlier call comes again with more at its end, and what is
 * in it does not change: only what is new is written. Of those that were asked for longest ago nothing is kept beyond
 * `most` bytes.
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

const write = (
  kept: Kept,
  messages: readonly ModelMessage[],
  wire: (message: ModelMessage) => readonly object[],
): void => {
  const pictures: Pictures = { mark: randomUUID(), all: [] }
  const fresh = messages.slice(kept.count).flatMap((message) => wire(marked(message, pictures)))
  kept.count = messages.length
  kept.last = messages.at(-1)
  if (fresh.length === 0) return
  const list = JSON.stringify(fresh)
  add(kept, `${kept.length > 0 ? ',' : ''}${list.slice(1, -1)}`, pictures)
}

/** Each picture takes the place of its mark: as a part of the text it would be looked through again and again. */
const add = (kept: Kept, text: string, pictures: Pictures): void => {
  const pieces = text.split(pictures.mark)
  const bytes = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)
  const length = pictures.all.reduce((sum, base64) => sum + base64.length, kept.length + bytes)
  if (length > kept.bytes.length) {
    const larger = Buffer.allocUnsafe(kept.length === 0 ? length : length * 2)
    kept.bytes.copy(larger, 0, 0, kept.length)
    kept.bytes = larger
  }
  for (const [at, piece] of pieces.entries()) {
    if (at > 0) kept.length += kept.bytes.write(pictures.all[at - 1] ?? '', kept.length, 'latin1')
    kept.length += kept.bytes.write(piece, kept.length)
  }
}

/** The base64 of pictures in the order in which their mark stands for them. */
interface Pictures {
  readonly mark: string
  readonly all: string[]
}

const marked = (message: ModelMessage, pictures: Pictures): ModelMessage => {
  if (message.role !== 'user') return message
  const stand = (image: ModelImage): ModelImage => {
    pictures.all.push(image.base64)
    return { ...image, base64: pictures.mark }
  }
  const content = message.content.map((part) =>
    part.image === undefined ? part : { ...part, image: stand(part.image) },
  )
  return { ...message, content }
}
