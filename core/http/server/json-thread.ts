/** The thread that reads large bodies: it answers each with its value, or with where it is wrong. */
import { parentPort } from 'node:worker_threads'
import { giveBack } from './piece.js'
import type { JsonForm } from './json-text.js'
import { readLong, type LongRead } from './long-values.js'

export interface JsonOrder {
  readonly id: number
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly form: JsonForm
}
export interface JsonAnswer extends LongRead {
  readonly id: number
  /** They are given back for the long texts in them. */
  readonly bytes?: Uint8Array<ArrayBuffer>
}

parentPort?.on('message', ({ id, bytes, form }: JsonOrder) => {
  const read = readLong(bytes, form)
  const answer: JsonAnswer = { id, ...read, ...(read.longs.length > 0 && { bytes }) }
  if (answer.bytes === undefined) giveBack(bytes)
  parentPort?.postMessage(answer, answer.bytes === undefined ? [] : [bytes.buffer])
})
