/** What is recorded of attempts: their intent before they are made, and their outcome. */
import { hash } from 'node:crypto'
import type { Clock, Log, Tx } from '../../../core/plugin.js'
import type { ActionIntent, ActionOutcome, ExternalActions } from '../external-actions/contract.js'
import type { DeliveriesConfig } from './config.js'
import type { DeliveryOutcome, ReplyPlugin } from './contract.js'
import {
  isOpen,
  payloadOf,
  type DeadDelivery,
  type DeliveryRecord,
  type DeliveryStore,
  type OpenDelivery,
  type Payload,
} from './store.js'

export interface AttemptParts {
  /** Told in the commit in which deliveries come to their end. */
  readonly settled: (tx: Tx, deliveries: readonly DeliveryRecord[]) => void
  readonly store: DeliveryStore
  readonly replies: () => readonly ReplyPlugin[]
  readonly ledger: () => ExternalActions | undefined
  readonly config: DeliveriesConfig
  readonly clock: Clock
  readonly log: Log
  /** A text without secrets that the daemon knows. */
  readonly redact: (text: string) => string
}

/** An attempt that was made, and how long to wait before a repetition. */
export interface Attempted {
  readonly delivery: OpenDelivery
  readonly outcome: DeliveryOutcome
  readonly wait_ms: number
}

export const replyOf = ({ replies }: AttemptParts, { plugin }: OpenDelivery): ReplyPlugin | undefined =>
  replies().find((reply) => reply.plugin === plugin)

/** The last attempt that it is given was cut off, so it gets no other. */
export const isSpent = ({ config }: Pick<AttemptParts, 'config'>, { attempting, attempts }: OpenDelivery): boolean =>
  attempting === true && attempts >= config.max_attempts

const cutOff = { type: 'retry', code: 'delivery_cut_off', uncertain: true } as const

/** How a delivery that is spent ends. */
export const givenUp = (delivery: OpenDelivery): Attempted => ({ delivery, outcome: cutOff, wait_ms: 0 })

/** How an attempt ends whose outcome cannot be recorded: it counts, and is made again. */
export const unrecorded = (attempted: Attempted): Attempted => ({
  ...attempted,
  outcome: { type: 'retry', code: 'delivery_unrecorded', uncertain: true },
})

/** An attempt whose intent is written: what is sent, as it was read for that. */
export interface Intended {
  readonly delivery: OpenDelivery
  readonly payload: Payload
}

/** Records that attempts are about to be made. What an earlier one led to, if it was cut off, nobody knows. */
export const intend = (parts: AttemptParts, tx: Tx, ...heads: readonly OpenDelivery[]): Intended[] => {
  const { store, ledger } = parts
  const cut = heads.filter(({ attempting }) => attempting === true)
  if (cut.length > 0)
    ledger()?.conclude(tx, ...cut.map((head) => entryOf(head, { outcome: 'unknown', code: cutOff.code })))
  const intended = heads.map((head): Intended => {
    const delivery: OpenDelivery = { attempting: true, ...head, attempts: head.attempts + 1 }
    tx.put(store.deliveries, delivery)
    return { delivery, payload: payloadOf(store, head) }
  })
  ledger()?.intend(tx, ...intended.map((one) => intentOf(parts, one)))
  return intended
}

const intentOf = (parts: AttemptParts, { delivery, payload }: Intended): ActionIntent => {
  const { delivery_id, session_id, run_id, agent_id, address, target, attempts } = delivery
  return {
    action_id: delivery_id,
    kind: 'delivery',
    session_id,
    target: replyOf(parts, delivery)?.target(address) ?? target,
    request_digest: digestOf(payload),
    attempt: attempts,
    approved_by: { type: 'configuration', id: 'reply_target' },
    ...(run_id !== undefined && { run_id, ...(agent_id !== undefined && { agent_id }) }),
  }
}

const entryOf = (
  { delivery_id, session_id, attempts }: OpenDelivery,
  came: Pick<ActionOutcome, 'outcome' | 'code'>,
): ActionOutcome => ({ action_id: delivery_id, session_id, attempt: attempts, ...came })

/** Of payloads that are in memory: an output with many targets is read once. */
const digests = new WeakMap<Payload, string>()

const digestOf = (payload: Payload): string => {
  const { content, parts, artifacts } = payload
  const known = digests.get(payload) ?? hash('sha256', JSON.stringify({ content, parts, artifacts }))
  digests.set(payload, known)
  return known
}

/** Records how attempts ended, and tells of those deliveries that have come to their end. */
export const conclude = (parts: AttemptParts, tx: Tx, ...attempted: readonly Attempted[]): void => {
  const { store, ledger, config, settled } = parts
  const ended: DeliveryRecord[] = []
  const outcomes: ActionOutcome[] = []
  for (const { delivery, outcome, wait_ms } of attempted) {
    const current = store.deliveries.find(delivery.delivery_id)
    if (current === undefined || !isOpen(current)) continue
    const after = become(current, outcome, { now: tx.now, wait_ms, exhausted: current.attempts >= config.max_attempts })
    tx.put(store.deliveries, after)
    if (!isOpen(after)) ended.push(after)
    if (after.status === 'dead_lettered') tellDead(parts, tx, after)
    const came = { outcome: ledgerOutcome(outcome), ...(outcome.type !== 'delivered' && { code: outcome.code }) }
    outcomes.push(entryOf(current, came))
  }
  if (outcomes.length > 0) ledger()?.conclude(tx, ...outcomes)
  if (ended.length > 0) settled(tx, ended)
}

const tellDead = ({ log }: AttemptParts, tx: Tx, delivery: DeadDelivery): void => {
  const { delivery_id, session_id, target, terminal_error: code } = delivery
  tx.after(() => log.warn('a delivery is a dead letter', { delivery_id, session_id, target, code }))
}

const ledgerOutcome = (outcome: DeliveryOutcome): 'done' | 'failed' | 'unknown' => {
  if (outcome.type === 'delivered') return 'done'
  return outcome.uncertain === true ? 'unknown' : 'failed'
}

interface Moment {
  readonly now: number
  readonly wait_ms: number
  readonly exhausted: boolean
}

/** Longest code that is kept. */
const mostCode = 512

const become = (
  delivery: OpenDelivery,
  outcome: DeliveryOutcome,
  { now, wait_ms, exhausted }: Moment,
): DeliveryRecord => {
  const { status: _, next_attempt_at_ms: __, attempting: ___, ...base } = delivery
  const at = Math.max(now, delivery.created_at_ms)
  // A spread that adds members gives each copy a hidden class of its own, which all who read it pay for.
  if (outcome.type === 'delivered') return Object.assign(base, { status: 'delivered' as const, delivered_at_ms: at })
  const failed = Object.assign(base, { last_error: outcome.code.slice(0, mostCode) })
  if (outcome.type !== 'terminal' && !exhausted)
    return Object.assign(failed, { status: 'retrying' as const, next_attempt_at_ms: now + wait_ms })
  const terminal_error = outcome.type === 'terminal' ? failed.last_error : 'delivery_attempts_exhausted'
  return Object.assign(failed, { status: 'dead_lettered' as const, dead_lettered_at_ms: at, terminal_error })
}
