/** What models do with the goal of their session. */
import { doc, enums, integer, object, optional, unsafeCast, type Ids, type Json } from '../../../core/plugin.js'
import type { SystemSection } from '../../execution/models/contract.js'
import { defineTool, failedCall, type Tool, type ToolCall } from '../../execution/tools/contract.js'
import { Objective } from '../../execution/sessions/contract.js'
import type { AskedGoals } from './asked.js'
import { goalToolErrors } from './errors.js'
import { created, stopped, type GoalRecord } from './record.js'
import { isOpen } from './service.js'
import type { GoalStore } from './store.js'

interface ToolParts {
  readonly store: GoalStore
  readonly asked: AskedGoals
  readonly ids: Ids
}

const shared = {
  effect: 'idempotent',
  permission: 'allow',
  parallel: false,
  timeout_ms: 10_000,
  sandbox: 'read_only',
} as const

const outputOf = (store: GoalStore, goal: GoalRecord): Json => unsafeCast<Json>({ goal: store.shown(goal) })

/** The goal as it is now. Throws if it is not the one that the model means: somebody else has changed it since. */
const meantGoal = ({ store, asked }: ToolParts, { session_id, run_id }: ToolCall): GoalRecord => {
  const goal = store.find(session_id)
  if (goal === undefined || !isOpen(goal)) throw goalToolErrors.goal_not_found({ details: { session_id } })
  const { goal_id, version } = goal
  if (!asked.isOf(run_id, goal)) throw goalToolErrors.goal_conflict({ details: { goal_id, version, session_id } })
  return goal
}

const getGoal = ({ store }: ToolParts): Tool =>
  defineTool({
    ...shared,
    effect: 'read',
    parallel: true,
    in_plan_mode: true,
    name: 'get_goal',
    description: 'Reads the goal of this session: its objective, its state, and what of its budget is used.',
    input: object({}),
    run: (_, { session_id }) => {
      const goal = store.find(session_id)
      return { type: 'result', output: goal === undefined ? { goal: null } : outputOf(store, goal) }
    },
  })

/** The goal is made in the commit of the outcome: an interrupted call has made none. */
const createGoal = ({ store, ids }: ToolParts): Tool =>
  defineTool({
    ...shared,
    name: 'create_goal',
    seldom: true,
    description:
      'Sets the goal of this session, towards which it goes on by itself, run after run, until you call it complete. ' +
      'Only when a person asks for it.',
    input: object({
      objective: doc(Objective, 'What is to be reached, so that it can be checked.'),
      token_budget: optional(doc(integer({ min: 1, max: 1_000_000_000_000 }), 'Tokens that it may use at most.')),
    }),
    run: (wish, { session_id, run_id }) => {
      if (isOpen(store.find(session_id)))
        return failedCall(goalToolErrors.goal_already_exists({ details: { session_id } }))
      const draft = {
        ...wish,
        goal_id: ids.make('goal'),
        session_id,
        status: 'active',
        created_by_run_id: run_id,
      } as const
      const make = (now?: number): GoalRecord => created(draft, store.moment(session_id, now))
      return {
        type: 'result',
        output: outputOf(store, make()),
        apply(tx) {
          if (isOpen(store.find(session_id))) throw goalToolErrors.goal_already_exists({ details: { session_id } })
          store.put(tx, make(tx.now))
        },
      }
    },
  })

const updateGoal = (parts: ToolParts): Tool =>
  defineTool({
    ...shared,
    name: 'update_goal',
    description:
      'Says that the goal of this session is complete. Only when you have checked that its objective is reached.',
    input: object({ status: enums(['complete']) }),
    run: (_, call) => {
      const { store } = parts
      const { session_id, run_id } = call
      const complete = (now?: number): GoalRecord =>
        stopped(meantGoal(parts, call), store.moment(session_id, now), {
          status: 'complete',
          completed_by_run_id: run_id,
        })
      return { type: 'result', output: outputOf(store, complete()), apply: (tx) => store.put(tx, complete(tx.now)) }
    },
  })

export const goalTools = (parts: ToolParts): readonly Tool[] => [getGoal(parts), createGoal(parts), updateGoal(parts)]

/** Without numbers that change with each call: the same text lets providers reuse what they have read. */
export const goalSection = ({ store, asked }: Pick<ToolParts, 'store' | 'asked'>): SystemSection => ({
  id: 'goal',
  rank: 33,
  text: (run) => {
    const { session_id } = run
    // Called before every model call, in the turn of the event loop that puts it together.
    asked.note(run)
    const goal = store.find(session_id)
    if (goal?.status !== 'active') return undefined
    const { objective } = goal
    return `This session works towards a goal. Its objective:\n${objective}\nget_goal tells what of its budget is used.`
  },
})
