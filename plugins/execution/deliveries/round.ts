/** Calls of reply plugins. Those that begin together have one deadline, and so one signal. */
import {
  blame,
  boolean,
  fault,
  literal,
  number,
  open,
  optional,
  tagged,
  taken,
  unsafeCast,
  warningCode,
  type Clock,
} from '../../../core/plugin.js'
import { replyOf, type AttemptParts, type Intended } from './attempt.js'
import type { DeliveryOutcome, Envelope } from './contract.js'

/** What an attempt has beyond its time limit. */
export const graceMs = 2000

/** It is stored, and shown as it is. */
const outcomeCode = warningCode

/** Of an attempt after which it may not have arrived. */
const Outcome = tagged('type', {
  retry: open({
    type: literal('retry'),
    code: outcomeCode,
    retry_after_ms: optional(number({ min: 0 })),
    uncertain: optional(boolean()),
  }),
  terminal: open({ type: literal('terminal'), code: outcomeCode, uncertain: optional(boolean()) }),
})

/** Each member is asked for once: what is looked at is what is recorded. What else it has is its own. */
const takenOutcome = (given: unknown, redact: AttemptParts['redact']): DeliveryOutcome => {
  const told = unsafeCast<Readonly<Record<string, unknown>>>(Object(given))
  const { type } = told
  // It has arrived, whatever else of it is wrong.
  if (type === 'delivered') return { type }
  const { code, retry_after_ms, uncertain } = told
  const outcome = taken(Outcome, { type, code, retry_after_ms, uncertain })
  if (redact(outcome.code) !== outcome.code) throw fault('what it returned is wrong: code holds a secret')
  return outcome
}

/** Attempts that begin together. */
export interface Round {
  /** Calls the reply plugin. Never rejects, and ends soon after the signal aborts, whatever the plugin does. */
  attempt(intended: Intended): Promise<DeliveryOutcome>
  /** Ends those that are not over. */
  abort(): void
  aborted(): boolean
}

/** `over` is called when the last of `count` attempts has ended. */
export const beginRound = (parts: AttemptParts, count: number, over: () => void): Round => {
  const { clock, config } = parts
  const controller = new AbortController()
  const { signal } = controller
  const cancel = clock.after(config.attempt_timeout_ms, () => controller.abort())
  const late = afterAbort(clock, signal)
  let left = count
  const attempt = async (intended: Intended): Promise<DeliveryOutcome> => {
    try {
      return await call(parts, intended, { signal, late })
    } finally {
      left -= 1
      if (left === 0) {
        cancel()
        over()
      }
    }
  }
  return {
    attempt,
    abort: () => controller.abort(),
    aborted: () => signal.aborted,
  }
}

const tooLate = Symbol('too late')

const afterAbort = (clock: Clock, signal: AbortSignal): Promise<typeof tooLate> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => void clock.after(graceMs, () => resolve(tooLate)), { once: true })
  })

interface Deadline {
  readonly signal: AbortSignal
  readonly late: Promise<typeof tooLate>
}

const call = async (parts: AttemptParts, intended: Intended, { signal, late }: Deadline): Promise<DeliveryOutcome> => {
  const { delivery_id, plugin } = intended.delivery
  const reply = replyOf(parts, intended.delivery)
  if (reply === undefined) return { type: 'retry', code: 'reply_plugin_missing' }
  const charge = (message: string, wrong: unknown): void =>
    parts.log.error(message, {
      reply_plugin: plugin,
      delivery_id,
      where: `deliver of the reply plugin ${plugin}`,
      error: blame(reply, wrong),
    })
  try {
    const given: unknown = await Promise.race([reply.deliver(envelopeOf(intended), signal), late])
    if (given !== tooLate) return takenOutcome(given, parts.redact)
    charge('a reply plugin did not end', `it did not end within ${graceMs} ms of being told to`)
    return { type: 'retry', code: 'delivery_timed_out', uncertain: true }
  } catch (error) {
    charge('a reply plugin failed', error)
    return { type: 'retry', code: 'reply_plugin_failed', uncertain: true }
  }
}

const envelopeOf = ({ delivery, payload: { content, parts, artifacts = [] } }: Intended): Envelope => {
  const { delivery_id, session_id, thread_id, run_id, address, attempts } = delivery
  const metadata = { delivery_id, delivery_attempt: attempts }
  const envelope = { delivery_id, attempt: attempts, session_id, thread_id, address, content, parts, artifacts }
  return run_id === undefined
    ? Object.assign(envelope, { metadata })
    : Object.assign(envelope, { run_id, metadata: Object.assign(metadata, { run_id }) })
}
