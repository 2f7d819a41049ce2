import type { Clock, Collection, CollectionSpec, State, Tx } from '../../../core/plugin.js'
import type { UsageBooks } from '../../operator/usage/contract.js'
import type { SessionGoal } from '../../execution/sessions/contract.js'
import { SessionGoalUpdated } from './contract.js'
import { goalErrors } from './errors.js'
import { GoalRecord, shownGoal, type Moment } from './record.js'

const goalCollection: CollectionSpec<GoalRecord> = {
  name: 'session_goals',
  version: 1,
  id: ({ session_id }) => session_id,
  indexes: {
    all: { group: () => 'all' },
    active: { group: ({ status }) => (status === 'active' ? 'all' : undefined) },
    stopped: { group: ({ stop_code }) => (stop_code === undefined ? undefined : 'all') },
  },
  settled: ({ status }) => status !== 'active',
  removed: 'forgotten',
  schema: GoalRecord,
  references: ({ session_id }) => [{ collection: 'sessions', id: session_id }],
}

/** The goals, one a session at most. */
export interface GoalStore {
  readonly collection: Collection<GoalRecord>
  find(session_id: string): GoalRecord | undefined
  /** Throws `goal_not_found`. */
  get(session_id: string): GoalRecord
  /** Sessions with a goal. */
  all(): readonly string[]
  shown(goal: GoalRecord): SessionGoal
  moment(session_id: string, now?: number): Moment
  /** Writes it, and tells of it. */
  put(tx: Tx, goal: GoalRecord): void
  remove(tx: Tx, session_id: string): void
}

export interface StoreParts {
  readonly state: State
  readonly clock: Clock
  readonly books: UsageBooks
}

/** What a goal that is not active has used does not change. */
const noUsage = { input_tokens: 0, output_tokens: 0 }

export const declareGoals = ({ state, clock, books }: StoreParts): GoalStore => {
  const collection = state.collection(goalCollection)
  const find = (session_id: string): GoalRecord | undefined => collection.find(session_id)
  const moment = (session_id: string, now = clock.now()): Moment => ({ now, usage: books.used(session_id) })
  const shown = (goal: GoalRecord): SessionGoal =>
    shownGoal(goal, goal.mark === undefined ? { now: clock.now(), usage: noUsage } : moment(goal.session_id))
  const tell = (tx: Tx, session_id: string, goal: SessionGoal | null): void =>
    tx.emit(SessionGoalUpdated, { session: session_id }, () => ({ session_id, goal }))
  return {
    collection,
    find,
    get(session_id) {
      const goal = find(session_id)
      if (goal === undefined) throw goalErrors.goal_not_found({ details: { session_id } })
      return goal
    },
    all: () => collection.ids('all', 'all'),
    shown,
    moment,
    put(tx, goal) {
      tx.put(collection, goal)
      tell(tx, goal.session_id, shown(goal))
    },
    remove(tx, session_id) {
      tx.remove(collection, session_id, 'it is cleared')
      tell(tx, session_id, null)
    },
  }
}
