/** What operators and models do with goals. */
import { type Ids, type State } from '../../../core/plugin.js'
import { runErrors, type Runs } from '../../execution/runs/contract.js'
import type { Sessions } from '../../execution/sessions/contract.js'
import { completeGoal, goalErrors } from './errors.js'
import {
  activated,
  created,
  isSpent,
  redefined,
  stopped,
  type Definition,
  type GoalRecord,
  type Moment,
} from './record.js'
import type { GoalStore } from './store.js'

export interface ServiceParts {
  readonly store: GoalStore
  readonly state: State
  readonly ids: Ids
  readonly runs: Pick<Runs, 'active'>
  readonly sessions: Pick<Sessions, 'get'>
  /** Called when a change is durable. */
  readonly consider: (session_id: string) => void
}

/** What an operator may make of a goal. */
export const settableStatuses = ['active', 'paused', 'complete'] as const
type Settable = (typeof settableStatuses)[number]

export interface GoalChange extends Definition {
  readonly status?: Settable | undefined
  readonly clear_token_budget?: boolean | undefined
  readonly expected_goal_id?: string | undefined
  readonly expected_version?: number | undefined
  readonly require_no_active_runs?: boolean | undefined
}

export interface GoalWish {
  readonly objective: string
  readonly token_budget?: number | undefined
  readonly status?: 'active' | 'paused' | undefined
}

export interface Goals {
  /** A new goal. Throws `goal_already_exists` unless the one before is complete. */
  create(session_id: string, wish: GoalWish): Promise<void>
  /** The goal as it is said, whatever was before: of one that is not complete what was used counts on. */
  set(session_id: string, wish: GoalWish): Promise<void>
  change(session_id: string, change: GoalChange): Promise<void>
  clear(session_id: string): Promise<void>
}

const refuse = (reason: string): never => {
  throw goalErrors.goal_invalid_request({ details: { reason } })
}

const refuseComplete = ({ session_id }: GoalRecord): never => {
  throw completeGoal.goal_invalid_request({ details: { session_id } })
}

/** A goal in another state; the same if it is in this one. */
export const inStatus = (goal: GoalRecord, moment: Moment, status: Settable): GoalRecord => {
  if (goal.status === status) return goal
  if (goal.status === 'complete') return refuseComplete(goal)
  if (status !== 'active') return stopped(goal, moment, { status })
  if (isSpent(goal, moment)) return refuse('its budget is used up. Raise token_budget, or give clear_token_budget.')
  return activated(goal, moment)
}

const checkExpected = (goal: GoalRecord, { expected_goal_id, expected_version }: GoalChange): void => {
  const { goal_id, version, session_id } = goal
  if ((expected_goal_id ?? goal_id) !== goal_id || (expected_version ?? version) !== version)
    throw goalErrors.goal_conflict({ details: { goal_id, version, session_id } })
}

const changedBy = (
  goal: GoalRecord,
  moment: Moment,
  { objective, token_budget, clear_token_budget, status }: GoalChange,
): GoalRecord => {
  if (clear_token_budget === true && token_budget !== undefined)
    return refuse('token_budget and clear_token_budget contradict each other.')
  if ([objective, token_budget, status].every((one) => one === undefined) && clear_token_budget !== true)
    return refuse('nothing is asked for.')
  const budget = clear_token_budget === true ? null : token_budget
  const defined = redefined(goal, moment, { objective, token_budget: budget })
  if (goal.status === 'complete' && (status === undefined || defined !== goal)) return refuseComplete(goal)
  return status === undefined ? defined : inStatus(defined, moment, status)
}

/** What is asked for together is one change, whatever it takes. */
const oneVersionOn = (before: GoalRecord | undefined, goal: GoalRecord): GoalRecord =>
  before?.goal_id === goal.goal_id ? { ...goal, version: before.version + 1 } : goal

export const createGoals = ({ store, state, ids, runs, sessions, consider }: ServiceParts): Goals => {
  const write = async (session_id: string, make: (moment: Moment) => GoalRecord): Promise<void> => {
    await state.commit((tx) => {
      if (sessions.get(session_id).ended_at_ms !== undefined) throw runErrors.session_ended({ details: { session_id } })
      const before = store.find(session_id)
      const goal = make(store.moment(session_id, tx.now))
      if (goal !== before) store.put(tx, oneVersionOn(before, goal))
    })
    consider(session_id)
  }
  const fresh = (session_id: string, { status = 'active', ...wish }: GoalWish, moment: Moment): GoalRecord =>
    created({ goal_id: ids.make('goal'), session_id, status, ...wish }, moment)
  return {
    create: (session_id, wish) =>
      write(session_id, (moment) => {
        if (isOpen(store.find(session_id))) throw goalErrors.goal_already_exists({ details: { session_id } })
        return fresh(session_id, wish, moment)
      }),
    set: (session_id, { status = 'active', objective, token_budget = null }) =>
      write(session_id, (moment) => {
        const before = store.find(session_id)
        if (before === undefined || before.status === 'complete')
          return fresh(session_id, { objective, status, token_budget: token_budget ?? undefined }, moment)
        return inStatus(redefined(before, moment, { objective, token_budget }), moment, status)
      }),
    change: (session_id, change) =>
      write(session_id, (moment) => {
        const goal = store.get(session_id)
        checkExpected(goal, change)
        if (change.require_no_active_runs === true && runs.active(session_id) !== undefined)
          throw goalErrors.goal_session_not_idle({ details: { session_id } })
        return changedBy(goal, moment, change)
      }),
    clear: (session_id) =>
      state.commit((tx) => {
        sessions.get(session_id)
        if (store.find(session_id) !== undefined) store.remove(tx, session_id)
      }),
  }
}

/** True of a goal that no other may take the place of. */
export const isOpen = (goal: GoalRecord | undefined): boolean => goal !== undefined && goal.status !== 'complete'
