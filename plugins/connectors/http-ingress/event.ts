/** What was posted, as an event (webhooks-5 to webhooks-11). */
import { hash } from 'node:crypto'
import {
  fingerprint,
  isJsonObject,
  Problem,
  type Json,
  type JsonObject,
  type RouteInput,
} from '../../../core/plugin.js'
import type { Outbox } from '../../execution/deliveries/contract.js'
import { ingressErrors } from '../ingress/contract.js'
import type { IngressEvent } from '../registry/contract.js'
import { isAuthenticated, type HttpConnector } from './authorise.js'
import { inOrder } from './order.js'
import type { HttpEvent } from './request.js'

/** Of the long texts of a body. */
type Hashes = RouteInput<unknown, unknown, unknown>['hashes']

const hexOf = (text: string): string => hash('sha256', text)

const refused = (path: string, rule: string, reason: string) =>
  ingressErrors.bad_request({
    details: { what: `${path} ${rule}` },
    members: { reason },
    errors: [{ path: `body.${path}`, rule }],
  })

const isBlank = (text: string | null | undefined): boolean => text === null || text === undefined || text.trim() === ''
const isEmpty = (list: readonly unknown[] | null | undefined): boolean => (list ?? []).length === 0

const mostContent = 1_048_576
const checkContent = ({ content }: HttpEvent): void => {
  if (Buffer.byteLength(content ?? '') > mostContent)
    throw refused('content', `must have at most ${mostContent} bytes`, 'content_too_large')
}

/** What nobody may say who was not proven to be one who may send. */
const checkPrivileges = (connector: HttpConnector, event: HttpEvent): void => {
  if (isAuthenticated(connector)) return
  const [taken] = [
    ...(isBlank(event.session_id) ? [] : ['session_id']),
    ...(isEmpty(event.binding_keys) ? [] : ['binding_keys']),
    ...(isEmpty(event.attachments) ? [] : ['attachments']),
    ...((event.input_items ?? []).every(({ type }) => type === 'text') ? [] : ['input_items']),
    ...(saysTargets(event) ? ['reply_targets'] : []),
  ]
  if (taken !== undefined) throw refused(taken, 'must be left out where nobody proves who sends', 'unauthenticated')
}

const saysTargets = ({ reply_targets, reply_plugin, reply_address }: HttpEvent): boolean =>
  !isEmpty(reply_targets) || !isBlank(reply_plugin) || !isBlank(reply_address)

/** Targets that a message says itself. */
const saidTargets = ({ reply_targets, reply_plugin, reply_address }: HttpEvent): IngressEvent['reply_targets'] => {
  const first = isBlank(reply_plugin) ? [] : [{ plugin: reply_plugin ?? '', address: reply_address ?? '' }]
  return [...first, ...(reply_targets ?? [])]
}

/** Why targets of a message were refused, which its sender may know; of those of the connector he is told nothing. */
export const withTargetFaults = (outbox: Pick<Outbox, 'normalize'>, event: HttpEvent, error: unknown): unknown => {
  if (!(error instanceof Problem) || error.spec.status !== 400 || !saysTargets(event)) return error
  try {
    outbox.normalize(saidTargets(event), 'body.reply_targets')
    return error
  } catch (fault) {
    if (!(fault instanceof Problem) || fault.code !== 'reply_target_invalid') return error
    const { errors = [] } = fault.occurrence
    const [first] = errors
    return ingressErrors.bad_request({
      details: { what: `a reply target ${first?.rule ?? 'cannot be used'}` },
      members: { reason: 'reply_target_invalid' },
      errors,
    })
  }
}

const targetsOf = ({ settings }: HttpConnector, event: HttpEvent): IngressEvent['reply_targets'] => {
  if (!saysTargets(event)) return settings.default_reply_targets
  if (!settings.allow_payload_reply_targets)
    throw refused('reply_targets', 'must be left out: the connector says where answers go', 'reply_targets_refused')
  const { reply_plugin, reply_address } = event
  if (isBlank(reply_plugin) !== isBlank(reply_address))
    throw refused(isBlank(reply_plugin) ? 'reply_plugin' : 'reply_address', 'is required', 'reply_target_incomplete')
  return saidTargets(event)
}

const ownKey = 'connector_ingress_key'
const ownPrefix = 'http_ingress_'

const metadataOf = ({ metadata }: HttpEvent): JsonObject | undefined => {
  if (metadata === undefined || metadata === null) return undefined
  if (!isJsonObject(metadata)) return { payload: metadata }
  const forged = Object.keys(metadata).find((key) => key === ownKey || key.startsWith(ownPrefix))
  if (forged !== undefined)
    throw refused(`metadata.${forged.slice(0, 100)}`, 'belongs to the daemon', 'reserved_metadata_key')
  return metadata
}

/** Another member is another message; one that is null is as good as absent (webhooks-5). */
const saidBy = (event: HttpEvent): Json => ({
  ...Object.fromEntries(Object.entries(event).filter(([, value]) => value !== null)),
  content: event.content ?? '',
})

type Named = Pick<IngressEvent, 'key' | 'facts' | 'fingerprint'>

const namedBy = ({ name, settings }: HttpConnector, event: HttpEvent, hashes: Hashes): Named => {
  const own = event.idempotency_key?.trim() ?? ''
  const print = fingerprint(saidBy(event), hashes)
  if (own === '') {
    if (settings.require_idempotency_key) throw refused('idempotency_key', 'is required', 'idempotency_key_missing')
    return { fingerprint: print, facts: {} }
  }
  const sha256 = hexOf(own)
  const key = `http:${name}:${sha256.slice(0, 32)}`
  const facts: Record<string, Json> = {
    [ownKey]: key,
    http_ingress_key: key,
    http_ingress_key_sha256: sha256,
    http_ingress_fingerprint: print,
  }
  return { key, fingerprint: print, facts }
}

/** The session that a first key stands for. */
export const sessionOfKey = (name: string, key: string): string => `http:${name}:${hexOf(key).slice(0, 16)}`

/** Throws `bad_request` for what the connector takes from nobody, or not from this sender. */
export const eventOf = (connector: HttpConnector, event: HttpEvent, hashes: Hashes): IngressEvent => {
  const { name, settings } = connector
  checkContent(event)
  checkPrivileges(connector, event)
  const reply_targets = targetsOf(connector, event)
  const metadata = metadataOf(event)
  const keys = inOrder(isEmpty(event.binding_keys) ? settings.default_binding_keys : (event.binding_keys ?? []))
  const [first] = keys
  if (first === '') throw refused('binding_keys', 'must hold no blank key', 'binding_key_blank')
  return {
    ...namedBy(connector, event, hashes),
    ...(!isBlank(event.session_id) && { session_id: event.session_id?.trim() ?? '' }),
    binding_keys: keys,
    ...(first !== undefined && { natural_session_id: sessionOfKey(name, first) }),
    content: event.content ?? '',
    ...(!isEmpty(event.input_items) && { input_items: event.input_items ?? [] }),
    ...(!isEmpty(event.attachments) && { attachments: event.attachments ?? [] }),
    source_kind: name,
    actor_id: [event.actor_id, settings.actor_id].find((id) => !isBlank(id))?.trim() ?? 'http-webhook',
    ...(metadata !== undefined && { metadata }),
    reply_targets,
  }
}
