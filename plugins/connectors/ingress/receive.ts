/** One event, one run (docs/rules/connectors.md). */
import { Problem, type Clock, type Count, type State } from '../../../core/plugin.js'
import type { Interception } from '../../execution/interception/contract.js'
import type { Runs, Submission } from '../../execution/runs/contract.js'
import type { Sessions } from '../../execution/sessions/contract.js'
import type { Connector, Connectors, Ingress, IngressEvent, Received } from '../registry/contract.js'
import { ingressErrors } from './event/errors.js'
import { knownEvent, receiptOf } from './event/known.js'
import { isBehindOthers } from './pending/order.js'
import { acceptPending, checkFiles, pendingEvent, type AcceptParts } from './pending/accept.js'
import type { Rates } from './rates/rates.js'
import { boundKeys, isThere, sessionOf, wantedSession } from './event/session.js'
import { submissionOf } from './event/submission.js'
import { toldOutside } from './event/told.js'

export interface IngressParts {
  readonly clock: Clock
  readonly state: State
  readonly runs: Runs
  readonly sessions: Sessions
  readonly interception: () => Interception | undefined
  readonly connectors: () => Pick<Connectors, 'heard'> | undefined
  readonly rates: Rates
  /** Where events wait for their files, or for room. */
  readonly pending: AcceptParts
  /** Events, by kind and by what became of them. */
  readonly counted: Count
}

export const createIngress = (parts: IngressParts): Ingress => {
  const { counted } = parts
  const once = createOnce()
  return {
    async receive(connector, event) {
      try {
        const received = await once(event.key, () => take(parts, connector, event))
        counted.add(1, connector.kind, received.type)
        parts.connectors()?.heard(connector.kind, connector.name)
        return received
      } catch (error) {
        const told = toldOutside(error)
        counted.add(1, connector.kind, outcomeOf(told))
        throw told
      }
    },
  }
}

const outcomeOf = (error: unknown): string => {
  if (!(error instanceof Problem)) return 'failed'
  if (error.spec.status === 429) return 'rate_limited'
  return error.spec.status >= 500 ? 'failed' : 'refused'
}

/** Of requests with one key, each begins when the one before it has ended: what comes again is known by then. */
const createOnce = () => {
  const last = new Map<string, Promise<unknown>>()
  return async <T>(key: string | undefined, run: () => Promise<T>): Promise<T> => {
    if (key === undefined) return run()
    const before = last.get(key)
    const mine = before === undefined ? run() : before.then(run)
    const settled = mine.catch(() => undefined)
    last.set(key, settled)
    try {
      return await mine
    } finally {
      if (last.get(key) === settled) last.delete(key)
    }
  }
}

const take = async (parts: IngressParts, connector: Connector, sent: IngressEvent): Promise<Received> => {
  const { runs, sessions, rates, pending } = parts
  const known = knownEvent(runs, receiptOf(sent)) ?? pendingEvent(pending.store, sent)
  if (known !== undefined) return known
  const session_id = sessionOf(runs, connector, sent)
  const event = { ...sent, binding_keys: boundKeys(runs, connector, sent.binding_keys) }
  const there = isThere(sessions, connector, session_id)
  const hasFiles = event.files !== undefined && event.files.length > 0
  checkFiles(event)
  const wait = rates.take(connector, event.rate_scope)
  if (wait !== undefined) throw limited(connector, wait)
  if (hasFiles || isHeldUp(parts, connector, { event, session_id }))
    return acceptPending(pending, connector, { event, session_id })
  const submission = submissionOf(connector, event, session_id)
  try {
    return await admitted(
      parts,
      connector,
      there ? await runs.prepare(submission) : await prepareNew(parts, connector, submission),
    )
  } catch (error) {
    if (event.patient !== true || !isFullQueue(error)) throw error
    return acceptPending(pending, connector, { event, session_id })
  }
}

const isFullQueue = (error: unknown): boolean => error instanceof Problem && error.code === 'run_queue_full'

/** Text waits for what came before it; whoever sends files in the request itself waits for none. */
const isHeldUp = (
  { pending, clock }: IngressParts,
  { kind, name }: Connector,
  { event, session_id }: { readonly event: IngressEvent; readonly session_id: string },
): boolean =>
  event.attachments === undefined &&
  event.input_items === undefined &&
  isBehindOthers(pending.store, { kind, name, session_id }, clock.now())

/** What is looked at before a run is accepted needs the session, where somebody looks. */
const prepareNew = async (
  { state, sessions, runs, interception }: IngressParts,
  connector: Connector,
  submission: Submission,
): Promise<Submission> => {
  const { session_id, input } = submission
  const boards = input.input_items?.some(({ type }) => type === 'board_reference') === true
  if (!boards && interception()?.wants('user_prompt_submit') !== true)
    return { ...submission, input: await runs.keepFiles(input) }
  await state.commit((tx) => sessions.open(tx, wantedSession(connector, session_id)))
  return runs.prepare(submission)
}

/** Its session, its run and what names it come into being together, or not at all. */
const admitted = (
  { state, runs, sessions }: IngressParts,
  connector: Connector,
  submission: Submission,
): Promise<Received> => {
  const { session_id, receipt } = submission
  return state.commit((tx): Received => {
    const known = knownEvent(runs, receipt)
    if (known !== undefined) return known
    isThere(sessions, connector, session_id)
    sessions.open(tx, wantedSession(connector, session_id))
    return { type: 'accepted', session_id, run: runs.admit(submission)(tx) }
  })
}

const limited = ({ kind }: Connector, retry_after_ms: number): Problem =>
  ingressErrors[`${kind}_ingress_rate_limited`]({
    details: { retry_after_ms },
    members: { retry_after_ms },
    retryAfter: Math.ceil(retry_after_ms / 1000),
  })
