/** Heartbeats: who may send them, and what becomes of them. */
import {
  array,
  defaulted,
  doc,
  looksSecret,
  object,
  optional,
  string,
  type IngressHead,
  type Infer,
  type Tx,
} from '../../../../core/plugin.js'
import { bearerDigest, observationErrors, sameDigest, sanitisedReason } from '../../observations/contract.js'
import { captureErrors } from '../record/errors.js'
import type { AgentParts } from '../record/parts.js'
import type { AgentRecord } from '../record/store.js'
import type { HeartbeatReply } from '../record/structs.js'
import { isDue, silenceMs, type Hearing } from './hearing.js'

export const HeartbeatRequest = object({
  observed_source_ids: defaulted(
    doc(array(string({ max: 128 }), { max: 100 }), 'Sources of the agent that see something now.'),
    [],
  ),
  agent_version: optional(doc(string({ max: 4000 }), 'Kept in one line of 128 characters.')),
})
type HeartbeatRequest = Infer<typeof HeartbeatRequest>

export interface HeartbeatParts extends AgentParts {
  readonly hearing: Hearing
}

/** Whether this digest is that of the token of an agent that may speak now. */
const maySpeak = (record: AgentRecord | undefined, sha256: string | undefined, now: number): boolean =>
  record?.status === 'active' &&
  sha256 !== undefined &&
  sameDigest(sha256, record.heartbeat_token_sha256) &&
  now < (record.token_expires_at_ms ?? 0)

/** Lets an agent in by its token; all others are told the same. */
export const admitAgent =
  ({ store, clock }: AgentParts) =>
  (head: IngressHead<{ machine_id: string }>) => {
    const sha256 = bearerDigest(head)
    if (!maySpeak(store.find(head.params.machine_id), sha256, clock.now()))
      throw observationErrors.ingress_token_invalid()
    return { subject: sha256 }
  }

const mostVersion = 128
const versionOf = ({ redact }: AgentParts, given: string | undefined): string | undefined => {
  const line = (given ?? '')
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(/\p{Cc}+/gu, '')
    .trim()
    .slice(0, mostVersion)
  if (line === '') return undefined
  const looked = line.slice(0, 120)
  const tells = looksSecret(line) || redact(line) !== line || sanitisedReason(looked, redact) !== looked.trim()
  return tells ? 'agent_version_redacted' : line
}

/** Throws `capture_heartbeat_invalid` for what is not the agent's, or named twice. */
const checkObserved = (ids: readonly string[], { source_ids }: AgentRecord): void => {
  const errors = ids.flatMap((id, at) => {
    const path = `body.observed_source_ids.${at}`
    if (!source_ids.includes(id)) return [{ path, rule: 'must be a source of this agent' }]
    return ids.indexOf(id) === at ? [] : [{ path, rule: 'must be named once' }]
  })
  if (errors.length > 0) throw captureErrors.capture_heartbeat_invalid({ errors: errors.slice(0, 20) })
}

type Said = Pick<
  AgentRecord,
  'last_heartbeat_agent_version' | 'last_heartbeat_observed_source_ids' | 'last_heartbeat_unobserved_source_ids'
>
const saidOf = (parts: AgentParts, body: HeartbeatRequest, { source_ids }: AgentRecord): Said => {
  const observed = body.observed_source_ids
  const version = versionOf(parts, body.agent_version)
  return {
    ...(version !== undefined && { last_heartbeat_agent_version: version }),
    last_heartbeat_observed_source_ids: observed,
    last_heartbeat_unobserved_source_ids:
      observed.length === 0 ? [] : source_ids.filter((id) => !observed.includes(id)),
  }
}
const isSame = (record: AgentRecord, said: Said): boolean =>
  record.last_heartbeat_agent_version === said.last_heartbeat_agent_version &&
  String(record.last_heartbeat_observed_source_ids) === String(said.last_heartbeat_observed_source_ids)

const heardAgain = (before: AgentRecord, said: Said, now: number): AgentRecord => {
  const { heartbeat_missing_since_ms: _since, last_heartbeat_agent_version: _version, ...record } = before
  const at = Math.max(now, before.last_heartbeat_at_ms ?? 0)
  return {
    ...record,
    ...said,
    heartbeat_state: 'healthy',
    last_heartbeat_at_ms: at,
    heartbeat_deadline_ms: at + silenceMs(before),
    updated_at_ms: Math.max(now, before.updated_at_ms),
  }
}

const replyOf = (record: AgentRecord): HeartbeatReply => {
  const { machine_id, status, heartbeat_state, last_heartbeat_at_ms = 0, heartbeat_deadline_ms } = record
  const version = record.last_heartbeat_agent_version
  const observed = record.last_heartbeat_observed_source_ids
  const unobserved = record.last_heartbeat_unobserved_source_ids
  return {
    machine_id,
    status,
    heartbeat_state,
    last_heartbeat_at_ms,
    heartbeat_deadline_ms,
    ...(version !== undefined && { agent_version: version }),
    ...(observed !== undefined && { observed_source_ids: observed }),
    ...(unobserved !== undefined && { unobserved_source_ids: unobserved }),
  }
}

interface Beat {
  readonly machine_id: string
  /** Of the token that let it in. */
  readonly sha256: string | undefined
  readonly body: HeartbeatRequest
}

/** Rejects with `capture_heartbeat_invalid`, and `ingress_token_invalid` where the token has just ended. */
export const createHeartbeat = (parts: HeartbeatParts) => {
  const { store, sources, clock, hearing } = parts
  const write = (tx: Tx, { machine_id, sha256, body }: Beat): AgentRecord => {
    const before = store.find(machine_id)
    if (before === undefined || !maySpeak(before, sha256, tx.now)) throw observationErrors.ingress_token_invalid()
    checkObserved(body.observed_source_ids, before)
    const record = heardAgain(before, saidOf(parts, body, before), tx.now)
    tx.put(store.agents, record)
    const recovered = before.heartbeat_state === 'missing'
    const event = recovered ? 'capture_agent_heartbeat_recovered' : 'capture_agent_heartbeat'
    sources.note(tx, { event, source_id: machine_id })
    return record
  }
  return async (beat: Beat): Promise<HeartbeatReply> => {
    const record = store.get(beat.machine_id)
    checkObserved(beat.body.observed_source_ids, record)
    const now = clock.now()
    const isNews =
      record.heartbeat_state !== 'healthy' || isDue(record, now) || !isSame(record, saidOf(parts, beat.body, record))
    if (isNews) return replyOf(await store.state.commit((tx) => write(tx, beat)))
    hearing.heard(beat.machine_id, now)
    return replyOf(hearing.latest(record))
  }
}
