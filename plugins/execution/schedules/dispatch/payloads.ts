/** What other plugins make runs from, when a schedule of theirs fires. */
import {
  awaited,
  definePoint,
  hasMembers,
  open,
  optional,
  refusing,
  string,
  taken,
  unsafeCast,
  withAnswers,
  type JsonObject,
  type Point,
} from '../../../../core/plugin.js'
import { SubmitInputRequest, type ReceiptKey, type RunRecord } from '../../runs/contract.js'
import type { PayloadKind, PayloadValue } from '../record/store.js'

/** What a payload is checked against when its schedule is made. */
export interface PayloadPlace {
  readonly target_session_id: string
  readonly recurring: boolean
}
/** One fire that becomes a run. `receipt` names it: the same one must never make a second run. */
export interface PayloadFire {
  readonly schedule_id: string
  readonly fire_at_ms: number
  readonly target_session_id: string
  readonly receipt: ReceiptKey
}
/** A payload kind beside `request`. */
export interface SchedulePayload {
  readonly kind: PayloadKind
  /**
   * Returns the payload as it is to be kept; a `request` in it is a submission, which the schedule checks, and whose
   * files it stores and names. Throws a problem for one that can never work. May be called twice, and for schedules
   * that are not made in the end.
   */
  check(payload: JsonObject, place: PayloadPlace): PayloadValue
  /**
   * Makes the run of a fire, or gives the one that it led to before. It may be called twice for one fire. Rejects with
   * the problems of submitting; full queues, routes that are not ready and storage are tried again. That of a
   * third-party plugin has ten seconds.
   */
  dispatch(payload: JsonObject, fire: PayloadFire): Promise<RunRecord>
}
/** Payload kinds beside `request`, by kind. */
export const SchedulePayloads: Point<SchedulePayload> = withAnswers(
  definePoint<SchedulePayload>(
    'schedule-payloads@1',
    ({ kind }) => kind,
    hasMembers('a kind of payloads', { kind: 'id', check: 'function', dispatch: 'function' }),
  ),
  {
    check: refusing((value) => taken(open({ request: optional(SubmitInputRequest) }), value)),
    dispatch: awaited(refusing((run) => unsafeCast<RunRecord>(taken(open({ run_id: string() }), run)))),
  },
)
