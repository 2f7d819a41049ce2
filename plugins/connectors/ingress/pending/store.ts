/** Events that wait for their files, or for room: each goes in the commit of its run, and leaves nothing. */
import { timeKey, type Collection, type JsonObject, type State } from '../../../../core/plugin.js'
import type { SubmitInputRequest } from '../../../execution/runs/contract.js'
import type { ConnectorKindName } from '../../registry/contract.js'
import { sizeGroup } from './sizes.js'

/** A file of an event: what its kind knows of it, and what became of it. */
export type PendingFile = {
  readonly wanted: JsonObject
  readonly stored?: { readonly asset_id: string; readonly file_name: string }
  /** Why it is not there, in words. */
  readonly missing?: string
}

export const isSettled = ({ stored, missing }: PendingFile): boolean => stored !== undefined || missing !== undefined

/** True of an event of which nothing is waited for but room for its run. */
export const isComplete = ({ files }: Pick<PendingEvent, 'files'>): boolean => files.every(isSettled)

/** An event on disk. `id` is the digest of its key, or made where it has none. Times in Unix ms. */
export type PendingEvent = {
  readonly id: string
  readonly kind: ConnectorKindName
  readonly name: string
  readonly session_id: string
  readonly fingerprint: string
  readonly keyed: boolean
  readonly input: SubmitInputRequest
  readonly ingress?: JsonObject
  readonly files: readonly PendingFile[]
  readonly accepted_at_ms: number
  /** Greater than that of every event that came before it. */
  readonly arrival: string
  /** Bytes of it as it came; those of earlier versions do not say. */
  readonly bytes?: number
  readonly attempts: number
  /** It is not looked at before. */
  readonly due_at_ms: number
}

export interface PendingStore {
  readonly state: State
  readonly events: Collection<PendingEvent>
}

/** The group of the events of one connector. */
export const laneOf = ({ kind, name }: Pick<PendingEvent, 'kind' | 'name'>): string => `${kind}:${name}`

/** The group of the events of one connector in one session. */
export const placeOf = ({ session_id, ...lane }: Pick<PendingEvent, 'kind' | 'name' | 'session_id'>): string =>
  `${laneOf(lane)} ${session_id}`

const dueKey = ({ due_at_ms, id }: Pick<PendingEvent, 'due_at_ms' | 'id'>): string => `${timeKey(due_at_ms)}:${id}`

/** The order in which the events of a session came. */
export const arrivalKey = ({ accepted_at_ms, arrival }: Pick<PendingEvent, 'accepted_at_ms' | 'arrival'>): string =>
  `${timeKey(accepted_at_ms)}:${arrival}`

export const declarePending = (state: State): PendingStore => ({
  state,
  events: state.collection<PendingEvent>({
    name: 'connector_events',
    version: 2,
    id: ({ id }) => id,
    indexes: {
      all: { group: () => 'all' },
      lane: { group: laneOf, sort: dueKey },
      session: { group: ({ session_id }) => session_id },
      place: { group: placeOf, sort: arrivalKey },
      ready: { group: (event) => (isComplete(event) ? placeOf(event) : undefined), sort: arrivalKey },
      size: { group: (event) => sizeGroup(laneOf(event), event.bytes ?? 0) },
    },
    settled: () => true,
    removed: 'forgotten',
    references: ({ session_id }) => [{ collection: 'sessions', id: session_id }],
  }),
})
