/** Where sources send what they see and hear (observations-6). */
import {
  defineRoute,
  fingerprint,
  idempotencyErrors,
  jsonReply,
  object,
  string,
  type Admitted,
  type IngressHead,
  type Route,
} from '../../../../core/plugin.js'
import { ingressDomain, observationErrors } from '../record/errors.js'
import { ObservationView, sourceIdPattern, type RejectionReason } from '../record/structs.js'
import { judgeToken, unopened } from '../sources/authorise.js'
import { bearerDigest } from '../sources/token.js'
import { UploadRequest, withKey } from './request.js'
import { createUpload, type Uploader, type UploadParts } from './upload.js'

const params = object({ source_id: string({ min: 1, max: 1000 }) })
const wellFormed = new RegExp(sourceIdPattern, 'u')
/** Where those are refused who name no source that is there. */
const strangers = 'strangers'
const mostTold = 128

/** Lets a source in by its token, before anything of the body is read. Whatever is wrong, the answer is the same. */
const admit = async (
  { store, keepers, clock, noteRefusal, uploads }: UploadParts,
  head: IngressHead<{ source_id: string }>,
): Promise<Admitted<Uploader>> => {
  const { source_id } = head.params
  const refuse = (place: string, reason: RejectionReason): Promise<void> => {
    uploads.add(1, 'refused')
    return noteRefusal(place, { event: 'upload_rejected', source_id: source_id.slice(0, mostTold), reason })
  }
  if (source_id.length > mostTold || !wellFormed.test(source_id)) {
    await refuse(strangers, 'invalid_source_id')
    throw observationErrors.invalid_source_id()
  }
  const sha256 = bearerDigest(head)
  const source = store.sources.find(source_id)
  const verdict = judgeToken(source, sha256, { keepers: keepers(), now: clock.now() })
  if (verdict.admitted && sha256 !== undefined) return { subject: { source_id, sha256 } }
  await refuse(
    source === undefined ? strangers : `${source_id} refused`,
    verdict.admitted ? 'missing_or_invalid_token' : verdict.reason,
  )
  throw unopened()
}

const { ingress_token_invalid, invalid_source_id, upload_invalid, upload_key_conflict, rate_limited } =
  observationErrors

export const uploadRoute = (parts: UploadParts): Route => {
  const upload = createUpload(parts)
  return defineRoute({
    id: 'observations.upload',
    method: 'POST',
    path: '/v1/observation-sources/:source_id/observations',
    summary: 'Takes what a source saw or heard; the same key again is the same observation.',
    access: 'ingress',
    ingress: (head: IngressHead<{ source_id: string }>) => admit(parts, head),
    scheme: {
      id: 'observation_source',
      header: 'Authorization',
      description: 'The upload token of the source that the path names.',
    },
    params,
    body: UploadRequest,
    invalidBody: upload_invalid,
    problemDomain: ingressDomain,
    bodyLimit: 24 * 1024 * 1024,
    fileBytes: ({ upload: { content_base64 } }) => content_base64.length,
    reply: jsonReply(ObservationView),
    problems: [
      ingress_token_invalid,
      invalid_source_id,
      upload_invalid,
      upload_key_conflict,
      rate_limited,
      idempotencyErrors.invalid_idempotency_key,
      observationErrors.upload_base64_invalid,
      observationErrors.upload_type_unsupported,
      observationErrors.upload_too_large,
    ],
    durability: 'A',
    idempotent: true,
    example: {
      body: {
        upload: { file_name: 'door.png', content_base64: 'iVBORw0KGgo=' },
        idempotency_key: 'door-1',
        stream_id: 'door:day',
        seq_no: 1,
      },
    },
    handler: ({ body: given, hashes, idempotencyKey, caller: { subject } }) => {
      const body = withKey(given, idempotencyKey)
      return upload({ uploader: subject, body, request_fingerprint: fingerprint(body, hashes) })
    },
  })
}
