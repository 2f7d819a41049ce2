/** Takes an event in that waits for files or for room: it is on disk before anything is done about it. */
import type { Ids } from '../../../../core/plugin.js'
import type { Runs, Submission, SubmitInputRequest } from '../../../execution/runs/contract.js'
import type { Sessions } from '../../../execution/sessions/contract.js'
import type { Connector, IngressEvent, Received } from '../../registry/contract.js'
import { ingressErrors } from '../event/errors.js'
import { knownEvent, otherEvent, receiptOf } from '../event/known.js'
import { isThere, wantedSession } from '../event/session.js'
import { submissionOf } from '../event/submission.js'
import { hasRoom } from './sizes.js'
import { laneOf, type PendingStore } from './store.js'

/** Files of one event. */
const mostFiles = 8
/** Seconds until a platform sends again what there was no room for. */
const fullWait = 30

export interface AcceptParts {
  readonly store: PendingStore
  readonly runs: Runs
  readonly sessions: Sessions
  readonly ids: Ids
  /** Called when it is on disk. */
  readonly poke: () => void
}

/** The same event, which waits still. Throws `conflict` for another one of its key. */
export const pendingEvent = (
  { events }: Pick<PendingStore, 'events'>,
  event: IngressEvent,
): Extract<Received, { type: 'pending' }> | undefined => {
  const receipt = receiptOf(event)
  const found = receipt === undefined ? undefined : events.find(receipt.key)
  if (found === undefined) return undefined
  const { session_id, fingerprint } = found
  if (fingerprint !== event.fingerprint) throw otherEvent({ session_id })
  return { type: 'pending', session_id }
}

/** Throws `bad_request` for too many files. */
export const checkFiles = ({ files = [] }: IngressEvent): void => {
  if (files.length > mostFiles)
    throw ingressErrors.bad_request({
      details: { what: `it has more than ${mostFiles} files` },
      members: { reason: 'too_many_files' },
    })
}

/** Stands for a text where the files are all that is said, for checks that want one. */
const someText = 'files'

/** Throws what no run could be of, and gives its input as it may be stored. */
const keptInput = ({ runs }: Pick<AcceptParts, 'runs'>, { session_id, input }: Submission): SubmitInputRequest => {
  const isBlank = input.content.trim() === '' && (input.input_items ?? []).length === 0
  const kept = runs.check({ session_id, input: isBlank ? { ...input, content: someText } : input })
  return isBlank ? { ...kept, content: '' } : kept
}

/** Throws `rate_limited` where too much of the connector waits. */
export const acceptPending = async (
  parts: AcceptParts,
  connector: Connector,
  { event, session_id }: { readonly event: IngressEvent; readonly session_id: string },
): Promise<Received> => {
  const { store, sessions, runs, ids, poke } = parts
  const submission = submissionOf(connector, event, session_id)
  const { receipt, origin } = submission
  return store.state.commit((tx): Received => {
    const known = knownEvent(runs, receipt) ?? pendingEvent(store, event)
    if (known !== undefined) return known
    isThere(sessions, connector, session_id)
    sessions.open(tx, wantedSession(connector, session_id))
    const arrival = ids.make('event')
    const waiting = {
      id: receipt?.key ?? arrival,
      kind: connector.kind,
      name: connector.name,
      session_id,
      fingerprint: event.fingerprint,
      keyed: receipt !== undefined,
      input: keptInput(parts, submission),
      ...(origin?.ingress !== undefined && { ingress: origin.ingress }),
      files: (event.files ?? []).map((wanted) => ({ wanted })),
      accepted_at_ms: tx.now,
      arrival,
      attempts: 0,
      due_at_ms: tx.now,
    }
    const bytes = Buffer.byteLength(JSON.stringify(waiting))
    if (!hasRoom((group) => store.events.count('size', group), laneOf(connector), bytes))
      throw ingressErrors.rate_limited({ retryAfter: fullWait })
    tx.insert(store.events, { ...waiting, bytes })
    tx.after(poke)
    return { type: 'pending', session_id }
  })
}
