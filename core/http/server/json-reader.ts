/**
 * Reads the JSON of bodies. To read one strictly takes milliseconds for each megabyte, and all other requests would
 * wait: large ones are read by a thread, which is started at the first of them.
 */
import { longTexts, type TextHashes } from '../../base/text/canonical-json.js'
import { createThread } from '../../processes/thread.js'
import { readerOf, type JsonForm, type JsonText } from './json-text.js'
import type { JsonAnswer, JsonOrder } from './json-thread.js'
import { withLongs } from './long-values.js'
import { giveBack } from './piece.js'

/** Bytes from which a body is read by the thread. */
export const threadBytes = 256 * 1024

export interface JsonRead {
  readonly text: JsonText
  readonly hashes: TextHashes
}

export interface JsonReader {
  /** Bytes that the thread reads are gone then. Rejects if the thread dies: the fault is of this body alone. */
  read(bytes: Uint8Array, form?: JsonForm): JsonRead | Promise<JsonRead>
  close(): Promise<void>
}

const noHashes: TextHashes = new Map()

const readOf = ({ text, longs, hashes, bytes }: JsonAnswer): JsonRead => {
  if (!text.ok) return { text, hashes: noHashes }
  const value = bytes === undefined ? text.value : withLongs(text.value, longs, bytes)
  if (bytes !== undefined) giveBack(bytes)
  const texts = hashes.length > 0 ? longTexts(value) : []
  return { text: { ok: true, value }, hashes: new Map(texts.map((each, n) => [each, hashes[n] ?? ''])) }
}

/** Chunks of a connection share memory with others, which cannot be handed over. */
const ownMemory = (bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof ArrayBuffer && bytes.buffer.byteLength === bytes.byteLength
    ? new Uint8Array(bytes.buffer)
    : Uint8Array.from(bytes)

export const createJsonReader = (program = new URL('./json-thread.js', import.meta.url)): JsonReader => {
  const thread = createThread<Omit<JsonOrder, 'id'>, JsonAnswer>({ program, name: 'json', does: 'reads bodies' })
  const readBeside = async (bytes: Uint8Array, form: JsonForm): Promise<JsonRead> => {
    const own = ownMemory(bytes)
    return readOf(await thread.ask({ bytes: own, form }, [own.buffer]))
  }
  return {
    read: (bytes, form = 'strict') =>
      bytes.length < threadBytes ? { text: readerOf[form](bytes), hashes: noHashes } : readBeside(bytes, form),
    close: thread.close,
  }
}
