/** The thread that reads large bodies: it answers each with its value, or with where it is wrong. */
import { hash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import { longTexts } from '../../base/text/canonical-json.js'
import { readerOf, type JsonForm, type JsonText } from './json-text.js'

export interface JsonOrder {
  readonly id: number
  readonly bytes: Uint8Array
  readonly form: JsonForm
}
/** `hashes` are those of the long texts, in their order. */
export interface JsonAnswer {
  readonly id: number
  readonly read: JsonText
  readonly hashes: readonly string[]
}

const read = ({ id, bytes, form }: JsonOrder): JsonAnswer => {
  const text = readerOf[form](bytes)
  return { id, read: text, hashes: text.ok ? longTexts(text.value).map((each) => hash('sha256', each)) : [] }
}

parentPort?.on('message', (order: JsonOrder) => parentPort?.postMessage(read(order)))
