/** A capture as it waits in the spool: one line that says what it is, and its bytes. */
import {
  integer,
  jsonObject,
  object,
  optional,
  parse,
  string,
  timestamp,
  unsafeCast,
  type Infer,
  type Json,
} from '../../../../core/plugin.js'

const ItemHead = object({
  source_id: string({ min: 1, max: 128 }),
  /** Chosen once: whatever sends it again, sends it under this key. */
  idempotency_key: string({ min: 1, max: 256 }),
  file_name: string({ min: 1, max: 255 }),
  media_type: string({ min: 1, max: 200 }),
  captured_at_ms: timestamp(),
  stream_id: string({ min: 1, max: 128 }),
  seq_no: optional(integer({ min: 0 })),
  metadata: jsonObject(),
  sha256: string(),
})
export type ItemHead = Infer<typeof ItemHead>

export interface Item {
  readonly head: ItemHead
  readonly bytes: Uint8Array
}

const lineEnd = 10
const isJsonLine = (text: string): Json | undefined => {
  try {
    return unsafeCast<Json>(JSON.parse(text))
  } catch {
    return undefined
  }
}

export const writeItem = ({ head, bytes }: Item): Uint8Array =>
  Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), bytes])

/** Undefined for what is none; its digest is not looked at. */
export const readItem = (file: Uint8Array): Item | undefined => {
  const end = file.indexOf(lineEnd)
  if (end < 0) return undefined
  const parsed = parse(ItemHead, isJsonLine(Buffer.from(file.subarray(0, end)).toString('utf8')))
  return parsed.ok ? { head: parsed.value, bytes: file.subarray(end + 1) } : undefined
}

/** The request that uploads it: always the same one for the same item. */
export const uploadOf = ({ head, bytes }: Item) => {
  const { file_name, media_type, source_id: _source_id, sha256: _sha256, ...rest } = head
  return { ...rest, upload: { file_name, media_type, content_base64: Buffer.from(bytes).toString('base64') } }
}
