/** One attempt to deliver to a sidecar (external-29 to external-35). */
import {
  outboundFate,
  parse,
  Problem,
  retryAfter,
  type Clock,
  type JsonObject,
  type OutboundAnswer,
  type OutboundCode,
} from '../../../../core/plugin.js'
import type { DeliveryOutcome, Envelope } from '../../../execution/deliveries/contract.js'
import { filesIn, type AttachmentRef, type OutputPart } from '../../../media/assets/contract.js'
import type { AccessParts } from '../setup/access.js'
import type { Counted, ExternalCounts } from '../setup/counts.js'
import { sharedToken } from '../setup/kind.js'
import { jsonIn, type Asked, type SidecarClient } from './client.js'
import type { ExternalConnector } from '../setup/connector.js'
import type { Manifests } from './manifests.js'
import { DeliverAnswer, type Manifest } from './protocol.js'
import { routeIn, type ExternalRoute } from './reply-route.js'

export interface DeliverParts extends AccessParts {
  readonly client: Pick<SidecarClient, 'deliver'>
  readonly manifests: Pick<Manifests, 'find'>
  readonly counts: Pick<ExternalCounts, 'add'>
  readonly clock: Pick<Clock, 'now'>
  /** How a sidecar answered, for the health of its connector. */
  readonly heard: (connector: ExternalConnector, outcome: DeliveryOutcome) => void
}

/** Where a sidecar gets the bytes of a file, as long as its delivery is on its way. */
export const downloadPath = (name: string, delivery_id: string, asset_id: string): string => {
  const parts = [name, 'deliveries', delivery_id, 'assets', asset_id]
  return `/v1/connectors/external/${parts.map(encodeURIComponent).join('/')}/raw`
}

interface Delivery {
  readonly connector: ExternalConnector
  readonly envelope: Envelope
  readonly route: ExternalRoute
}

const descriptorOf = (
  { connector: { name }, envelope: { delivery_id } }: Delivery,
  { id, media_type, file_name, sha256, byte_length }: AttachmentRef,
): JsonObject => ({
  id,
  media_type,
  ...(file_name !== undefined && { file_name }),
  ...(sha256 !== undefined && { sha256 }),
  ...(byte_length !== undefined && { byte_length }),
  download_path: downloadPath(name, delivery_id, id),
})

const bodyOf = (delivery: Delivery, { protocol_version }: Manifest): JsonObject => {
  const { delivery_id, attempt, session_id, thread_id, content, parts, artifacts, metadata } = delivery.envelope
  const partOf = (part: OutputPart): JsonObject =>
    part.type === 'text' ? part : { type: 'attachment', attachment: descriptorOf(delivery, part.attachment) }
  return {
    protocol_version,
    delivery_id,
    attempt,
    reply_route: delivery.route.route,
    conversation: { session_id, ...(thread_id !== null && { thread_id }) },
    content,
    ...(parts.length > 0 && { parts: parts.map(partOf) }),
    ...(artifacts.length > 0 && { artifacts: artifacts.map((file) => descriptorOf(delivery, file)) }),
    metadata,
  }
}

/** Milliseconds that a target is left alone: what cannot be read means a second, nothing more than an hour. */
const [unreadableWaitMs, longestWaitMs] = [1000, 3_600_000]
const waitIn = (header: string | undefined, now: number): number =>
  Math.min(longestWaitMs, Math.max(1, retryAfter(header, now) ?? unreadableWaitMs))

/** What an answer means (external-33). */
export const outcomeOf = (answer: OutboundAnswer, now: number): DeliveryOutcome => {
  if (answer.type === 'failure') return failed(answer.code)
  const { status, headers, body } = answer
  if (status === 429)
    return { type: 'retry', code: 'sidecar_status_429', retry_after_ms: waitIn(headers['retry-after'], now) }
  const isGood = status >= 200 && status < 300
  const parsed = parse(DeliverAnswer, jsonIn(body))
  const said = parsed.ok ? parsed.value.status : undefined
  if (said === 'retryable_error') return { type: 'retry', code: 'sidecar_retryable_error' }
  if (said === 'terminal_error') return { type: 'terminal', code: 'sidecar_terminal_error' }
  if (isGood)
    return said === 'committed'
      ? { type: 'delivered' }
      : { type: 'retry', code: 'sidecar_answer_invalid', uncertain: true }
  return status >= 400 && status < 500
    ? { type: 'terminal', code: `sidecar_status_${status}` }
    : { type: 'retry', code: `sidecar_status_${status}` }
}

/** All of it goes again; what may have arrived says so. */
const failed = (code: OutboundCode): DeliveryOutcome => ({
  type: 'retry',
  code,
  ...(outboundFate(code) === 'uncertain' && { uncertain: true }),
})

const hasFiles = ({ parts, artifacts }: Envelope): boolean => artifacts.length > 0 || filesIn(parts).length > 0

/** Why files cannot go to a sidecar: it takes none, or could not get them. */
const fileFault = ({ connector, envelope }: Delivery, { capabilities }: Manifest): string | undefined => {
  if (!hasFiles(envelope)) return undefined
  if (!capabilities.attachments_out) return 'sidecar_takes_no_attachments'
  return connector.has(sharedToken) ? undefined : 'attachments_need_shared_token'
}

/** The manifest is asked for on behalf of many: who stops waiting leaves it to the others. */
const orAborted = (asked: Promise<Asked<Manifest>>, signal: AbortSignal): Promise<Asked<Manifest>> =>
  new Promise((resolve, reject) => {
    const abort = (): void => resolve({ type: 'failure', code: 'outbound_aborted' })
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    void asked.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })

const attempt = async (parts: DeliverParts, delivery: Delivery, signal: AbortSignal): Promise<DeliveryOutcome> => {
  const { connector, envelope } = delivery
  const asked = await orAborted(parts.manifests.find(connector), signal)
  if (asked.type === 'failure') return { type: 'retry', code: asked.code }
  const fault = fileFault(delivery, asked.value)
  if (fault !== undefined) return { type: 'terminal', code: fault }
  const { delivery_id } = envelope
  const body = bodyOf(delivery, asked.value)
  return outcomeOf(await parts.client.deliver(connector, { delivery_id, body, signal }), parts.clock.now())
}

const counted: Readonly<Record<DeliveryOutcome['type'], Counted>> = {
  delivered: 'committed',
  retry: 'retryable',
  terminal: 'terminal',
}

export const deliver = async (
  parts: DeliverParts,
  envelope: Envelope,
  signal: AbortSignal,
): Promise<DeliveryOutcome> => {
  const route = routeIn(envelope.address)
  if (route === undefined) return { type: 'terminal', code: 'reply_route_invalid' }
  const connector = parts.connectors.find(parts.kind, route.connector)
  if (connector === undefined)
    return parts.connectors.has('external', route.connector)
      ? { type: 'retry', code: 'connector_not_in_force' }
      : { type: 'terminal', code: 'connector_missing' }
  const outcome = await attempt(parts, { connector, envelope, route }, signal).catch((error: unknown) => {
    if (!(error instanceof Problem)) throw error
    return { type: 'retry' as const, code: error.code }
  })
  parts.counts.add(connector.name, counted[outcome.type])
  parts.heard(connector, outcome)
  return outcome
}
