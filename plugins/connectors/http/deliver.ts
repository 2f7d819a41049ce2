/** One POST for each attempt (deliveries-24 to deliveries-29). */
import { retryAfter, type Clock, type JsonObject, type Outbound, type OutboundAnswer } from '../../../core/plugin.js'
import type { AttachmentRef, OutputPart } from '../../media/assets/contract.js'
import { failedRequest, type DeliveryOutcome, type Envelope } from '../../execution/deliveries/contract.js'
import type { HttpConfig } from './config.js'
import { lockedCode } from './locked.js'
import type { ReplyRoutes } from './reply-route.js'

export interface DeliverParts {
  readonly outbound: Outbound
  readonly clock: Clock
  readonly config: HttpConfig
  readonly routes: Pick<ReplyRoutes, 'find'>
  /** Told of deliveries whose headers are sealed and do not open, and of those that have headers. */
  readonly locked: { note(envelope: Envelope): void; opened(envelope: Envelope): void }
}

/** A file as a receiver is told of it: who may read the daemon gets the bytes at the path. */
const descriptorOf = ({ id, media_type, file_name, sha256, byte_length }: AttachmentRef): JsonObject => ({
  id,
  media_type,
  ...(file_name !== undefined && { file_name }),
  ...(sha256 !== undefined && { sha256 }),
  ...(byte_length !== undefined && { byte_length }),
  download_path: `/v1/assets/${id}/raw`,
})
const resolved = (part: OutputPart): JsonObject =>
  part.type === 'text' ? part : { type: 'attachment', attachment: descriptorOf(part.attachment) }

const bodyOf = ({ session_id, thread_id, content, parts, artifacts, metadata }: Envelope): JsonObject => ({
  session_id,
  thread_id,
  content,
  parts: [...parts],
  resolved_parts: parts.map(resolved),
  artifacts: [...artifacts],
  artifact_attachments: artifacts.map(descriptorOf),
  metadata,
})

export const deliver = async (
  { outbound, clock, config, routes, locked }: DeliverParts,
  envelope: Envelope,
  signal: AbortSignal,
): Promise<DeliveryOutcome> => {
  const route = routes.find(envelope.address)
  if (route === 'locked') {
    locked.note(envelope)
    return { type: 'terminal', code: lockedCode }
  }
  if (route === undefined) return { type: 'terminal', code: 'outbound_url_invalid' }
  if (route.headers !== undefined) locked.opened(envelope)
  const answer = await outbound.request({
    method: 'POST',
    url: route.url,
    body: JSON.stringify(bodyOf(envelope)),
    signal,
    ignore_body: true,
    headers: Object.assign({}, route.headers, {
      'content-type': 'application/json',
      'idempotency-key': `service:${envelope.delivery_id}`,
    }),
    allow_private_network: route.allow_private_network,
    allow_cidrs: config.allow_cidrs,
    timeout_ms: config.timeout_ms,
  })
  return answer.type === 'failure' ? failedRequest(answer.code) : answered(answer, clock.now())
}

/** What stands for a `Retry-After` that is absent or cannot be read (deliveries-28). */
const unreadableWaitMs = 1000

const answered = ({ status, headers }: Extract<OutboundAnswer, { type: 'answer' }>, now: number): DeliveryOutcome => {
  const code = `http_status_${status}`
  if (status >= 200 && status < 300) return { type: 'delivered' }
  if (status === 429)
    return { type: 'retry', code, retry_after_ms: retryAfter(headers['retry-after'], now) ?? unreadableWaitMs }
  return status >= 400 && status < 500 ? { type: 'terminal', code } : { type: 'retry', code }
}
