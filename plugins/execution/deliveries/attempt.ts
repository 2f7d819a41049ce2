/** One attempt: its intent, the call of the reply plugin, its outcome. */
import { createHash } from 'node:crypto'
import {
  assert,
  boolean,
  literal,
  number,
  open,
  optional,
  parse,
  string,
  tagged,
  type Clock,
  type Log,
  type Tx,
} from '../../../core/plugin.js'
import type { ExternalActions } from '../external-actions/contract.js'
import type { DeliveriesConfig } from './config.js'
import type { DeliveryOutcome, Envelope, ReplyPlugin } from './contract.js'
import { isOpen, type DeliveryRecord, type DeliveryStore, type OpenDelivery, type Payload } from './store.js'

export interface AttemptParts {
  /** Told in the commit in which a delivery comes to its end. */
  readonly settled: (tx: Tx, delivery: DeliveryRecord) => void
  readonly store: DeliveryStore
  readonly replies: () => readonly ReplyPlugin[]
  readonly ledger: () => ExternalActions | undefined
  readonly config: DeliveriesConfig
  readonly clock: Clock
  readonly log: Log
}

/** An attempt that was made, and how long to wait before a repetition. */
export interface Attempted {
  readonly delivery: OpenDelivery
  readonly outcome: DeliveryOutcome
  readonly wait_ms: number
}

const payloadOf = ({ payloads }: DeliveryStore, { session_id, payload }: OpenDelivery): Payload => {
  const entry = payloads.read(session_id, { after: payload - 1, limit: 1 })[0]?.entry
  assert(entry, 'a delivery has a payload')
  return entry
}

const replyOf = ({ replies }: AttemptParts, { plugin }: OpenDelivery): ReplyPlugin | undefined =>
  replies().find((reply) => reply.plugin === plugin)

/** The last attempt that it is given was cut off, so it gets no other. */
export const isSpent = ({ config }: Pick<AttemptParts, 'config'>, { attempting, attempts }: OpenDelivery): boolean =>
  attempting === true && attempts >= config.max_attempts

const cutOff = { type: 'retry', code: 'delivery_cut_off', uncertain: true } as const

/** Ends a delivery that is spent. */
export const giveUp = (parts: AttemptParts, tx: Tx, delivery: OpenDelivery): void =>
  conclude(parts, tx, { delivery, outcome: cutOff, wait_ms: 0 })

/** Records that an attempt is about to be made. What an earlier one led to, if it was cut off, nobody knows. */
export const intend = (parts: AttemptParts, tx: Tx, head: OpenDelivery): OpenDelivery => {
  const { store, ledger } = parts
  const { delivery_id, session_id, run_id, agent_id } = head
  const delivery: OpenDelivery = { ...head, attempts: head.attempts + 1, attempting: true }
  if (head.attempting === true)
    ledger()?.conclude(tx, {
      action_id: delivery_id,
      session_id,
      attempt: head.attempts,
      outcome: 'unknown',
      code: cutOff.code,
    })
  tx.put(store.deliveries, delivery)
  ledger()?.intend(tx, {
    action_id: delivery_id,
    kind: 'delivery',
    session_id,
    ...(run_id !== undefined && { run_id, ...(agent_id !== undefined && { agent_id }) }),
    target: replyOf(parts, head)?.target(head.address) ?? head.target,
    request_digest: digestOf(payloadOf(store, head)),
    attempt: delivery.attempts,
    approved_by: { type: 'configuration', id: 'reply_target' },
  })
  return delivery
}

const digestOf = ({ content, parts }: Payload): string =>
  createHash('sha256').update(JSON.stringify({ content, parts })).digest('hex')

/** Records how an attempt ended. */
export const conclude = (
  { store, ledger, config, log, settled }: AttemptParts,
  tx: Tx,
  { delivery, outcome, wait_ms }: Attempted,
): void => {
  const current = store.deliveries.find(delivery.delivery_id)
  if (current === undefined || !isOpen(current)) return
  const after = become(current, outcome, { now: tx.now, wait_ms, exhausted: current.attempts >= config.max_attempts })
  tx.put(store.deliveries, after)
  if (!isOpen(after)) settled(tx, after)
  const { delivery_id, session_id } = current
  ledger()?.conclude(tx, {
    action_id: delivery_id,
    session_id,
    attempt: current.attempts,
    outcome: ledgerOutcome(outcome),
    ...(outcome.type !== 'delivered' && { code: outcome.code }),
  })
  if (after.status === 'dead_lettered')
    tx.after(() =>
      log.warn('a delivery is a dead letter', {
        delivery_id,
        session_id,
        target: after.target,
        code: after.terminal_error,
      }),
    )
}

const ledgerOutcome = (outcome: DeliveryOutcome): 'done' | 'failed' | 'unknown' => {
  if (outcome.type === 'delivered') return 'done'
  return outcome.type === 'retry' && outcome.uncertain === true ? 'unknown' : 'failed'
}

interface Moment {
  readonly now: number
  readonly wait_ms: number
  readonly exhausted: boolean
}

const become = (
  delivery: OpenDelivery,
  outcome: DeliveryOutcome,
  { now, wait_ms, exhausted }: Moment,
): DeliveryRecord => {
  const { status: _, next_attempt_at_ms: __, attempting: ___, ...base } = delivery
  const at = Math.max(now, delivery.created_at_ms)
  if (outcome.type === 'delivered') return { ...base, status: 'delivered', delivered_at_ms: at }
  const failed = { ...base, last_error: outcome.code.slice(0, mostCode) }
  if (outcome.type === 'terminal')
    return { ...failed, status: 'dead_lettered', dead_lettered_at_ms: at, terminal_error: failed.last_error }
  if (exhausted)
    return {
      ...failed,
      status: 'dead_lettered',
      dead_lettered_at_ms: at,
      terminal_error: 'delivery_attempts_exhausted',
    }
  return { ...failed, status: 'retrying', next_attempt_at_ms: now + wait_ms }
}
/** Longest code that is kept, and what an attempt has beyond its time limit. */
const mostCode = 512
export const graceMs = 2000

const Outcome = tagged('type', {
  delivered: open({ type: literal('delivered') }),
  retry: open({
    type: literal('retry'),
    code: string(),
    retry_after_ms: optional(number()),
    uncertain: optional(boolean()),
  }),
  terminal: open({ type: literal('terminal'), code: string() }),
})

/** Calls the reply plugin. Never rejects, and ends soon after the signal aborts, whatever the plugin does. */
export const attempt = async (
  parts: AttemptParts,
  delivery: OpenDelivery,
  controller: AbortController,
): Promise<DeliveryOutcome> => {
  const { clock, config, log } = parts
  const reply = replyOf(parts, delivery)
  if (reply === undefined) return { type: 'retry', code: 'reply_plugin_missing' }
  const cancel = clock.after(config.attempt_timeout_ms, () => controller.abort())
  const late: DeliveryOutcome = { type: 'retry', code: 'delivery_timed_out', uncertain: true }
  try {
    const outcome = await Promise.race([
      reply.deliver(envelopeOf(parts.store, delivery), controller.signal),
      afterAbort(clock, controller.signal, late),
    ])
    assert(parse(Outcome, outcome).ok, 'a reply plugin says how an attempt ended')
    return outcome
  } catch (error) {
    log.error('a reply plugin failed', { reply_plugin: delivery.plugin, delivery_id: delivery.delivery_id, error })
    return { type: 'retry', code: 'reply_plugin_failed', uncertain: true }
  } finally {
    cancel()
  }
}

const afterAbort = <T>(clock: Clock, signal: AbortSignal, value: T): Promise<T> =>
  new Promise((resolve) => {
    signal.addEventListener(
      'abort',
      () => {
        clock.after(graceMs, () => resolve(value))
      },
      { once: true },
    )
  })

const envelopeOf = (store: DeliveryStore, delivery: OpenDelivery): Envelope => {
  const { delivery_id, session_id, thread_id, run_id, address, attempts } = delivery
  return {
    delivery_id,
    attempt: attempts,
    session_id,
    thread_id,
    ...(run_id !== undefined && { run_id }),
    address,
    ...payloadOf(store, delivery),
    metadata: { delivery_id, delivery_attempt: attempts, ...(run_id !== undefined && { run_id }) },
  }
}
