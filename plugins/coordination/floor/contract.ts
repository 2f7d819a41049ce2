/** Who speaks in a channel: turn leases and the runs of those that hold one. Rules: docs/rules/floor.md. */
import { definePoint, hasMembers, type Point, type Tx } from '../../../core/plugin.js'

/** The right of a session to speak in a thread, and the run in which it does. */
export { TurnLease } from './record/lease.js'

/** What a run said by emit_output last. */
export { answerOf } from './turns/answer.js'

/** Hears who was asked to answer a message. */
export interface TurnObserver {
  readonly id: string
  /**
   * Called in the commit that grants leases for a message, with their sessions in order. Must be fast, and must not
   * be async, write to what it is told or throw: what it throws is charged to its plugin, what it changed is taken
   * back, and the turn begins. What a shipped plugin throws undoes the commit.
   */
  granted(tx: Tx, message_id: string, session_ids: readonly string[]): void
}
/** Everyone who hears of turns. */
export const TurnObservers: Point<TurnObserver> = definePoint<TurnObserver>(
  'turn-observers@1',
  ({ id }) => id,
  hasMembers('an observer of turns', { id: 'id', granted: 'function' }),
)
