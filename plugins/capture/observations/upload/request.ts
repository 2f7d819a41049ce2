/** What a source sends, and what of it must fit together. */
import {
  idempotencyErrors,
  doc,
  integer,
  jsonObject,
  object,
  optional,
  string,
  givenTime,
  type Infer,
} from '../../../../core/plugin.js'
import { observationErrors } from '../record/errors.js'
import { StreamId } from '../record/structs.js'

export const UploadRequest = object({
  upload: object({
    file_name: string({ min: 1, max: 255 }),
    media_type: optional(doc(string({ max: 200 }), 'What counts is how the file begins.')),
    content_base64: doc(string({ min: 1 }), 'At most 12 MiB of bytes.'),
  }),
  idempotency_key: optional(
    doc(
      string({ min: 1, max: 256 }),
      'The same key of a source is the same observation. May be sent in the Idempotency-Key header instead.',
    ),
  ),
  captured_at_ms: optional(doc(givenTime(), 'The time of receipt when absent.')),
  stream_id: optional(StreamId),
  seq_no: optional(integer({ min: 0 })),
  canonical_text: optional(doc(string(), 'What is to be read or heard in it, as the source knows it.')),
  metadata: optional(doc(jsonObject(), 'At most 16 KiB.')),
})
/** Its value, with the key that it came with. */
export type UploadRequest = Infer<typeof UploadRequest> & { readonly idempotency_key: string }

const mostKeyBytes = 256
const mostMetadataBytes = 16 * 1024
const controls = /\p{Cc}/u
const fileName = /^(?=.*\S)[^/\\\p{Cc}]+$/u
const fileNameRule = 'must not be blank and must have no slashes and no control characters'

const invalid = (path: string, rule: string): Error =>
  observationErrors.upload_invalid({ details: { reason: `${path} ${rule}` }, errors: [{ path: `body.${path}`, rule }] })

/** What a machine of ours says of a capture. */
const captureSchema = /^[a-z]+\.macos\.capture\.v1$/u
const textOf = (metadata: UploadRequest['metadata'], key: string): string | undefined => {
  const value = metadata?.[key]
  return typeof value === 'string' ? value : undefined
}

/** What machines capture together is of one machine. */
const checkCapture = (source_id: string, metadata: UploadRequest['metadata']): void => {
  const group = textOf(metadata, 'capture_group_id')
  const schema = textOf(metadata, 'schema') ?? ''
  if (group === undefined || !source_id.startsWith('macos-') || !captureSchema.test(schema)) return
  const machine = textOf(metadata, 'machine_id') ?? ''
  if (machine === '') throw invalid('metadata.machine_id', 'is required with a capture group')
  if (!source_id.startsWith(`macos-${machine}-`)) throw invalid('metadata.machine_id', 'must be that of the source')
  if (!group.startsWith(`${machine}-`)) throw invalid('metadata.capture_group_id', 'must begin with the machine')
}

const otherKey = 'must be the key of the body'
/** What was sent, with its key, wherever that stands. Throws `upload_invalid`, `invalid_idempotency_key`. */
export const withKey = (body: Infer<typeof UploadRequest>, header: string | undefined): UploadRequest => {
  const { idempotency_key = header } = body
  if (idempotency_key === undefined) throw invalid('idempotency_key', 'is required')
  if (header !== undefined && header !== idempotency_key)
    throw idempotencyErrors.invalid_idempotency_key({
      details: { rule: otherKey },
      errors: [{ path: 'header.idempotency-key', rule: otherKey }],
    })
  return { ...body, idempotency_key }
}

/** The key of an upload as it is kept. Throws `upload_invalid`. */
export const keyOf = ({ idempotency_key }: UploadRequest): string => {
  const key = idempotency_key.trim()
  if (key === '') throw invalid('idempotency_key', 'must not be blank')
  if (Buffer.byteLength(key) > mostKeyBytes) throw invalid('idempotency_key', `must have at most ${mostKeyBytes} bytes`)
  if (controls.test(key)) throw invalid('idempotency_key', 'must not contain control characters')
  return key
}

/** What is captured together is of one machine: a source that another keeps names no group of others. */
const checkGroup = (owner_id: string | undefined, metadata: UploadRequest['metadata']): void => {
  const group = textOf(metadata, 'capture_group_id')
  if (group === undefined || owner_id === undefined || group.startsWith(`${owner_id}-`)) return
  throw invalid('metadata.capture_group_id', 'must begin with the machine of the source')
}

/** Of a source, and of whom it is if it is kept in place of operators. Throws `upload_invalid`. */
export const checkUpload = (
  { source_id, owner_id }: { readonly source_id: string; readonly owner_id?: string | undefined },
  { upload, metadata }: UploadRequest,
): void => {
  if (!fileName.test(upload.file_name)) throw invalid('upload.file_name', fileNameRule)
  if (metadata !== undefined && Buffer.byteLength(JSON.stringify(metadata)) > mostMetadataBytes)
    throw invalid('metadata', `must have at most ${mostMetadataBytes} bytes`)
  checkCapture(source_id, metadata)
  checkGroup(owner_id, metadata)
}
