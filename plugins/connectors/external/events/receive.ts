/** One event of a sidecar, one answer (external-12 to external-28). */
import { hash } from 'node:crypto'
import {
  assertNever,
  fingerprint,
  isJsonObject,
  parse,
  Problem,
  type Json,
  type JsonObject,
  type Log,
  type RouteInput,
} from '../../../../core/plugin.js'
import type { Runs } from '../../../execution/runs/contract.js'
import { externalKeys, ingressErrors } from '../../ingress/contract.js'
import type { Ingress, IngressEvent, Received } from '../../registry/contract.js'
import type { ExternalCounts } from '../setup/counts.js'
import type { ExternalConnector } from '../setup/connector.js'
import type { Manifests } from '../sidecar/manifests.js'
import {
  ExternalEvent,
  isEmpty,
  isStrange,
  versionOf,
  type BatchItem,
  type EventAnswer,
  type StrangeEvent,
} from './event.js'
import { homeOf, identityOf, type Home } from './identity.js'
import { createInstanceCheck, type InstanceCheck } from './instance.js'
import { faultOfId, faultOfLimits, faultOfVersion } from './limits.js'

export interface ReceiveParts {
  readonly ingress: Ingress
  readonly runs: Pick<Runs, 'sessionOfBinding'>
  readonly manifests: Manifests
  readonly counts: Pick<ExternalCounts, 'add'>
  readonly log: Log
}

/** A request with events. */
export interface EventRequest {
  readonly connector: ExternalConnector
  readonly isProven: boolean
  readonly hashes: RouteInput<undefined, undefined, undefined>['hashes']
  /** Of the batch. */
  readonly protocol_version?: number | undefined
}

/** Takes the events of one request, one after the other. */
export interface EventTaker {
  /** Rejects with what is no matter of the event: that there are too many, or what the operator must see to. */
  take(event: ExternalEvent | StrangeEvent): Promise<EventAnswer>
  /** The same for an event of a batch, which may have another form. Never rejects. */
  takeItem(given: Json): Promise<BatchItem>
}

const digestOf = (text: string): string => hash('sha256', text)

/** Metadata of the daemon, which a sidecar cannot write. */
const ownKeys: ReadonlySet<string> = new Set(['connector_ingress_key', 'occurred_at_ms', ...externalKeys])
const metadataOf = (given: Json | undefined): JsonObject => {
  if (given === undefined || given === null) return {}
  if (!isJsonObject(given)) return { source_metadata: given }
  return Object.fromEntries(Object.entries(given).filter(([key]) => !ownKeys.has(key)))
}

/**
 * What an event says, whoever sent it and in which version: a sidecar that was started again may send it again. What
 * is absent, null or empty says nothing, as does what the form does not know.
 */
const saidBy = (event: ExternalEvent): Json => {
  const { content = '', input_items = [], attachments = [], metadata, relation } = event
  return {
    event_id: event.event_id.trim(),
    fingerprint: event.fingerprint,
    occurred_at_ms: event.occurred_at_ms,
    actor_id: event.actor_id,
    source_kind: event.source_kind,
    intent: event.intent,
    relation: relation && relationOf(relation),
    path: filled(event.thread?.path),
    routing_key: event.routing_key,
    content: content === '' ? undefined : content,
    input_items: filled(input_items),
    attachments: filled(attachments),
    reply_route: event.reply_route,
    metadata: metadata ?? undefined,
  }
}
const filled = <T>(list: readonly T[] | undefined): readonly T[] | undefined => (list?.length === 0 ? undefined : list)
const relationOf = ({ kind, target_event_id }: NonNullable<ExternalEvent['relation']>): JsonObject => ({
  kind,
  target_event_id,
})

/** What is known of an event before it is taken in. */
interface Looked {
  readonly request: EventRequest
  readonly event: ExternalEvent
  readonly home: Home
}

const factsOf = ({ request, event }: Looked, key: string, said: string): JsonObject => ({
  connector_ingress_key: key,
  external_protocol_version: versionOf(event, request.protocol_version),
  external_instance_id: event.instance_id,
  external_event_id: event.event_id,
  external_event_key_sha256: digestOf(event.event_id.trim()),
  external_event_fingerprint: said,
  ...(event.occurred_at_ms !== undefined && { occurred_at_ms: event.occurred_at_ms }),
  ...(event.intent !== undefined && { external_intent: event.intent }),
  ...(event.routing_key !== undefined && { external_routing_key: event.routing_key.trim() }),
  ...(event.relation !== undefined && {
    external_relation: relationOf(event.relation),
  }),
})

const orElse = (text: string | undefined, other: string): string =>
  text === undefined || text.trim() === '' ? other : text

const eventOf = (looked: Looked): IngressEvent => {
  const { request, event, home } = looked
  const { name, settings } = request.connector
  const key = `external:${name}:${digestOf(event.event_id.trim()).slice(0, 32)}`
  const said = fingerprint(saidBy(event), request.hashes)
  const { input_items = [], attachments = [], reply_route = '' } = event
  const own =
    settings.include_self_output && reply_route.trim() !== ''
      ? [{ type: 'external' as const, connector: name, route: reply_route }]
      : []
  return {
    key,
    fingerprint: said,
    binding_keys: home.binding_keys,
    ...(home.natural_session_id !== undefined && { natural_session_id: home.natural_session_id }),
    content: input_items.length > 0 ? '' : (event.content ?? ''),
    ...(input_items.length > 0 && { input_items }),
    ...(attachments.length > 0 && { attachments }),
    source_kind: orElse(event.source_kind, settings.platform),
    actor_id: orElse(event.actor_id, 'external-user'),
    metadata: metadataOf(event.metadata),
    facts: factsOf(looked, key, said),
    reply_targets: [...own, ...settings.additional_reply_targets],
  }
}

const answered = (received: Received): Omit<EventAnswer, 'event_id'> => {
  switch (received.type) {
    case 'accepted':
    case 'duplicate':
      return { status: received.type, session_id: received.session_id, run_id: received.run.run_id }
    case 'pending':
      return { status: 'accepted', session_id: received.session_id }
    default:
      return assertNever(received)
  }
}

/** Conflicts with what came before are a matter of the event; others are the operator's. */
const conflicts: ReadonlySet<unknown> = new Set(['other_payload', 'event_expired'])
/** What is wrong with how the connector is set up, and not with the event. */
const setUp: ReadonlySet<unknown> = new Set(['persona_missing', 'not_set_up'])
const isOfSetUp = (error: unknown): error is Problem =>
  error instanceof Problem && setUp.has(error.occurrence.members?.['reason'])

const textIn = (members: Problem['occurrence']['members'], name: string): Record<string, string> => {
  const value = members?.[name]
  return typeof value === 'string' ? { [name]: value } : {}
}

/** Why an event is not taken and never will be; undefined for what may be otherwise another time. */
const rejectionIn = (error: unknown): Omit<EventAnswer, 'event_id'> | undefined => {
  if (!(error instanceof Problem)) return undefined
  const { spec, occurrence } = error
  const reason = occurrence.members?.['reason']
  const isOfEvent =
    (spec.status === 409 && conflicts.has(reason)) ||
    (spec.status === 400 && !isOfSetUp(error)) ||
    // A hook refused it, and would again: who sends it in a loop would send nothing else.
    spec.status === 403 ||
    spec.status === 413
  if (!isOfEvent) return undefined
  const { members } = occurrence
  return { status: 'rejected', reason: error.message, ...textIn(members, 'session_id'), ...textIn(members, 'run_id') }
}

const faultOf = async (
  { request, event }: Pick<Looked, 'request' | 'event'>,
  isOfInstance: InstanceCheck,
): Promise<string | undefined> =>
  faultOfId(event) ??
  (await faultOfLimits(event, request.isProven)) ??
  ((await isOfInstance(event.instance_id)) ? undefined : 'instance_id is not that of the sidecar that runs now')

const homeIn = ({ runs }: ReceiveParts, { connector }: EventRequest, event: ExternalEvent): Home => {
  const { name, settings } = connector
  const { platform, fixed_session_id: fixed, additional_binding_keys: additional } = settings
  return homeOf(identityOf({ name, platform }, event), { find: runs.sessionOfBinding, fixed, additional })
}

export const createEventTaker = (parts: ReceiveParts, request: EventRequest): EventTaker => {
  const { connector } = request
  const isOfInstance = createInstanceCheck(parts.manifests, connector)
  const look = async (event: ExternalEvent): Promise<Omit<EventAnswer, 'event_id'>> => {
    const fault = await faultOf({ request, event }, isOfInstance)
    if (fault !== undefined) return { status: 'rejected', reason: fault }
    const home = homeIn(parts, request, event)
    const { session_id } = home
    try {
      return answered(await parts.ingress.receive(connector, eventOf({ request, event, home })))
    } catch (error) {
      const rejection = rejectionIn(error)
      // As a 400 its sender would not send it again, when the operator has mended what is wrong.
      if (rejection === undefined) throw isOfSetUp(error) ? ingressErrors.conflict(error.occurrence) : error
      return isEmpty(event) && session_id !== undefined ? { session_id, ...rejection } : rejection
    }
  }
  const reject = (given: unknown, reason: string): EventAnswer => {
    parts.counts.add(connector.name, 'rejected')
    return { ...idIn(given), status: 'rejected', reason }
  }
  const takeKnown = async (event: ExternalEvent): Promise<EventAnswer> => {
    const told = idIn(event)
    try {
      const answer = await look(event)
      parts.counts.add(connector.name, answer.status)
      return { ...told, ...answer }
    } catch (error) {
      if (waitIn(error) !== undefined) parts.counts.add(connector.name, 'rate_limited')
      throw error
    }
  }
  const takeEach = (event: ExternalEvent): Promise<BatchItem> =>
    takeKnown(event).catch((error: unknown): BatchItem => {
      const { event_id } = event
      const wait = waitIn(error)
      if (!(error instanceof Problem))
        parts.log.error('an event could not be taken', { connector: connector.name, error })
      const reason = error instanceof Problem ? error.message : 'The daemon could not take it.'
      return wait === undefined
        ? { event_id, status: 'error', reason }
        : { event_id, status: 'rate_limited', reason, retry_after_ms: wait }
    })
  return {
    take: async (event) => (isStrange(event) ? reject(event, faultOfVersion) : takeKnown(event)),
    async takeItem(given) {
      if (isStrange(given, request.protocol_version)) return reject(given, faultOfVersion)
      const parsed = parse(ExternalEvent, given)
      if (parsed.ok) return takeEach(parsed.value)
      const [first] = parsed.issues
      return reject(given, `${first?.path ?? ''} ${first?.rule ?? ''}`.trim())
    },
  }
}

/** The id of what may be no event, where it says one. */
const idIn = (given: unknown): Pick<EventAnswer, 'event_id'> => {
  const event_id: unknown = typeof given === 'object' && given !== null ? Reflect.get(given, 'event_id') : undefined
  return typeof event_id === 'string' && event_id.trim() !== '' ? { event_id } : {}
}

/** Milliseconds to wait, where that is all that is wrong. */
const waitIn = (error: unknown): number | undefined => {
  if (!(error instanceof Problem) || error.spec.status !== 429) return undefined
  const { members, retryAfter = 1 } = error.occurrence
  const told = members?.['retry_after_ms']
  return Math.max(1, typeof told === 'number' ? told : retryAfter * 1000)
}
