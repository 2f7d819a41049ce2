/**
 * Reads the JSON of bodies. To read one strictly takes milliseconds for each megabyte, and all other requests would
 * wait: large ones are read by a thread, which is started at the first of them.
 */
import { Worker } from 'node:worker_threads'
import { fault } from '../../base/assert.js'
import { longTexts, type TextHashes } from '../../base/text/canonical-json.js'
import { unsafeCast } from '../../base/schema.js'
import { readerOf, type JsonForm, type JsonText } from './json-text.js'
import type { JsonAnswer } from './json-thread.js'

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

interface Thread {
  ask(bytes: Uint8Array, form: JsonForm): Promise<JsonRead>
  end(): Promise<void>
}

interface Asking {
  readonly resolve: (read: JsonRead) => void
  readonly reject: (error: Error) => void
}

const noHashes: TextHashes = new Map()

const readOf = ({ read, hashes }: JsonAnswer): JsonRead => ({
  text: read,
  hashes:
    read.ok && hashes.length > 0 ? new Map(longTexts(read.value).map((text, n) => [text, hashes[n] ?? ''])) : noHashes,
})

/** Chunks of a connection share memory with others, which cannot be handed over. */
const ownMemory = (bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof ArrayBuffer && bytes.buffer.byteLength === bytes.byteLength
    ? new Uint8Array(bytes.buffer)
    : Uint8Array.from(bytes)

const openThread = (program: URL, gone: () => void): Thread => {
  const worker = new Worker(program, { env: {}, execArgv: [], name: 'json' })
  const asked = new Map<number, Asking>()
  let last = 0
  worker.unref()
  worker.on('message', (answer: unknown) => {
    const { id, ...read } = unsafeCast<JsonAnswer>(answer)
    asked.get(id)?.resolve(readOf({ id, ...read }))
    asked.delete(id)
    if (asked.size === 0) worker.unref()
  })
  const lose = (error: Error): void => {
    gone()
    for (const { reject } of asked.values()) reject(error)
    asked.clear()
  }
  worker.on('error', (cause) => lose(fault('the thread that reads bodies failed', cause)))
  worker.on('exit', () => lose(fault('the thread that reads bodies ended')))
  return {
    ask: (bytes, form) =>
      new Promise((resolve, reject) => {
        const own = ownMemory(bytes)
        worker.ref()
        asked.set((last += 1), { resolve, reject })
        worker.postMessage({ id: last, bytes: own, form }, [own.buffer])
      }),
    end: async () => void (await worker.terminate()),
  }
}

export const createJsonReader = (program = new URL('./json-thread.js', import.meta.url)): JsonReader => {
  let thread: Thread | undefined
  const find = (): Thread => {
    const opened =
      thread ??
      openThread(program, () => {
        if (thread === opened) thread = undefined
      })
    return (thread = opened)
  }
  return {
    read: (bytes, form = 'strict') =>
      bytes.length < threadBytes ? { text: readerOf[form](bytes), hashes: noHashes } : find().ask(bytes, form),
    close: async () => thread?.end(),
  }
}
