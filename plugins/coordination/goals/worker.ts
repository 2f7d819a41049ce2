/** Makes the next run of an active goal when its session has nothing else to do, and knows when to stop. */
import { Problem, tellFailure, type Log, type State, type Tx } from '../../../core/plugin.js'
import type { RunRecord, Runs } from '../../execution/runs/contract.js'
import type { Sessions } from '../../execution/sessions/contract.js'
import type { Spender } from '../../operator/usage/contract.js'
import { stopped, type GoalRecord } from './record.js'
import { lastRun, mayWrapUp, paused, refusalOf, stopOf, type Stop } from './stops.js'
import type { GoalStore } from './store.js'

export interface WorkerParts {
  readonly store: GoalStore
  readonly state: State
  readonly runs: Runs
  readonly sessions: Sessions
  readonly log: Log
  readonly config: { readonly max_turns: number }
}

export interface GoalWorker {
  /** Looks at the goal of a session; called whenever something may have changed. */
  consider(session_id: string): void
  /** From now on runs are made; gives what ends that. */
  begin(): () => void
  /** Why the continuation of a goal may not ask its model again. */
  refusal(spender: Spender): string | undefined
}

const goOn = (turn: number, most: number): string =>
  `Go on with the goal of this session: turn ${turn} of at most ${most}. Look at what is done and do what is next. ` +
  'When the objective is reached, and you have checked that it is, call update_goal with the status complete. If you ' +
  'cannot go on without a person, ask them.'
const wrapUp =
  'The token budget of the goal of this session is used up. Do no further work on it: say in a few sentences what ' +
  'is done, what is missing, and what you would do next.'

const submission = (session_id: string, content: string) => ({
  session_id,
  input: { content, source_plugin: 'goals', source_kind: 'goal_continuation', actor_id: 'goal' },
  alone: true,
})

/** What makes a run in a commit; undefined while the session has something else to do. Throws why it cannot be. */
const admit = (runs: Runs, session_id: string, content: string): ((tx: Tx) => RunRecord) | undefined => {
  try {
    return runs.admit(submission(session_id, content))
  } catch (error) {
    if (error instanceof Problem && error.code === 'session_busy') return undefined
    throw error
  }
}

const orNothing = <T>(make: () => T): T | undefined => {
  try {
    return make()
  } catch {
    return undefined
  }
}

const stop = ({ store, state, runs }: WorkerParts, goal: GoalRecord, why: Stop): Promise<void> => {
  const { session_id } = goal
  const submit = mayWrapUp(why) ? orNothing(() => admit(runs, session_id, wrapUp)) : undefined
  const by = why.status === 'budget_limited' ? runs.latest(session_id)?.run_id : undefined
  return state.commit((tx) => {
    const run = submit?.(tx)
    store.put(
      tx,
      stopped(goal, store.moment(session_id, tx.now), {
        ...why,
        ...(by !== undefined && { budget_limited_by_run_id: by }),
        ...(run !== undefined && { budget_wrapup_run_id: run.run_id }),
      }),
    )
  })
}

const goOnWith = async (parts: WorkerParts, goal: GoalRecord, last: RunRecord | undefined): Promise<void> => {
  const { store, state, runs, config } = parts
  const { session_id } = goal
  const why = stopOf(goal, { last, moment: store.moment(session_id), max_turns: config.max_turns })
  if (why !== undefined) return stop(parts, goal, why)
  const turns = goal.turns + 1
  let made
  try {
    made = admit(runs, session_id, goOn(turns, config.max_turns))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return stop(parts, goal, paused(error.code, error.message))
  }
  if (made === undefined) return
  const submit = made
  // The run and the goal that knows of it are one commit: a kill leaves both or neither.
  await state.commit((tx) =>
    store.put(tx, { ...goal, turns, last_continuation_run_id: submit(tx).run_id, updated_at_ms: tx.now }),
  )
}

export const createWorker = (parts: WorkerParts): GoalWorker => {
  const { store, state, runs, sessions, log } = parts
  let acting = false
  const look = async (session_id: string): Promise<void> => {
    const goal = store.find(session_id)
    if (goal === undefined) return
    if (sessions.find(session_id)?.ended_at_ms !== undefined) return state.commit((tx) => store.remove(tx, session_id))
    const last = lastRun(runs, goal)
    const isBusy = runs.active(session_id) !== undefined || last?.status === 'queued'
    if (acting && goal.status === 'active' && !isBusy) await goOnWith(parts, goal, last)
  }
  const consider = (session_id: string): void => {
    if (!store.collection.has(session_id)) return
    look(session_id).catch((error: unknown) =>
      tellFailure({ log, state }, 'a goal could not go on', { session_id, error }),
    )
  }
  return {
    consider,
    begin() {
      acting = true
      for (const session_id of store.all()) consider(session_id)
      return () => {
        acting = false
      }
    },
    refusal({ session_id, run_id }) {
      if (session_id === undefined || store.collection.count('active', 'all') === 0) return undefined
      const goal = store.find(session_id)
      if (goal?.status !== 'active' || run_id !== goal.last_continuation_run_id) return undefined
      return refusalOf(goal, store.moment(session_id))
    },
  }
}
