import { doc, object, optional, string, type Clock, type Ids, type Json, notBlank } from '../../../core/plugin.js'
import type { Tasks } from '../tasks/contract.js'
import { defineTool, failedCall, type PermissionMode, type Tool } from '../tools/contract.js'
import { planErrors } from './errors.js'
import type { ControlState, PlanArtifact, PlanStore } from './store.js'

export interface PlanParts {
  readonly store: PlanStore
  readonly tasks: Tasks
  readonly clock: Clock
  readonly ids: Ids
  /** The mode that holds for sessions without one of their own. */
  readonly daemonMode: () => PermissionMode
}

/** What a session has to do, for a model that begins or ends a plan. */
export const agenda = (
  { tasks }: Pick<PlanParts, 'tasks'>,
  session_id: string,
): { todos: readonly Json[]; tasks: readonly Json[] } => ({
  todos: tasks.todos(session_id),
  tasks: tasks.listOpen({ session_id }).map((task) => tasks.view(task)),
})

/** The state changes in the commit of the outcome, so that a repetition after a crash finds nothing done. */
const own = { effect: 'read', parallel: false, timeout_ms: 10_000, sandbox: 'inherited' } as const

export const planTools = (parts: PlanParts): readonly Tool[] => [enter(parts), exit(parts)]

/** A session that plans already goes on as it was. */
const begun = (
  before: ControlState | undefined,
  session_id: string,
  { mode, note }: { mode: PermissionMode; note: string | undefined },
): ControlState => ({
  ...before,
  session_id,
  plan_mode: true,
  pre_plan_mode: before?.pre_plan_mode ?? mode,
  ...(note !== undefined && { note }),
})

const enter = (parts: PlanParts): Tool =>
  defineTool({
    name: 'enter_plan_mode',
    description:
      'Begins to plan: from now on nothing can be changed, only looked at and asked, until exit_plan_mode is approved.',
    input: object({ note: optional(doc(string({ max: 4_000 }), 'What is to be planned.')) }),
    ...own,
    run: ({ note }, { session_id }) => {
      const next = (): ControlState =>
        begun(parts.store.find(session_id), session_id, { mode: parts.daemonMode(), note })
      const { pre_plan_mode } = next()
      return {
        type: 'result',
        output: {
          plan_mode: true,
          pre_plan_mode: pre_plan_mode ?? parts.daemonMode(),
          note: note ?? null,
          ...agenda(parts, session_id),
        },
        apply: (tx) => tx.put(parts.store.states, next()),
      }
    },
  })

interface Draft {
  readonly id: string
  readonly now: number
  readonly plan: string
  readonly summary: string | undefined
}

/** A session has one plan; a later one replaces what it says. */
const revised = (before: PlanArtifact | undefined, { id, now, plan, summary }: Draft): PlanArtifact => ({
  id: before?.id ?? id,
  content: plan,
  ...(summary !== undefined && { summary }),
  created_at_ms: before?.created_at_ms ?? now,
  updated_at_ms: Math.max(now, before?.updated_at_ms ?? 0),
})

const exit = (parts: PlanParts): Tool =>
  defineTool({
    name: 'exit_plan_mode',
    description: 'Ends plan mode with the plan, which a person approves first. The permissions of before hold again.',
    input: object({
      plan: doc(string({ min: 1, max: 100_000, pattern: notBlank }), 'The whole plan.'),
      summary: optional(string({ max: 4_000 })),
    }),
    ...own,
    run: ({ plan, summary }, { session_id }) => {
      const { store } = parts
      if (!store.planning(session_id)) return failedCall(planErrors.plan_mode_not_active())
      const draft = { id: parts.ids.make('plan'), now: parts.clock.now(), plan, summary }
      const next = (): ControlState => ({
        session_id,
        plan_mode: false,
        plan_artifact: revised(store.find(session_id)?.plan_artifact, draft),
      })
      return {
        type: 'result',
        output: {
          plan_mode: false,
          restored_permission_mode: parts.daemonMode(),
          plan_artifact: next().plan_artifact,
          ...agenda(parts, session_id),
        },
        apply: (tx) => tx.put(store.states, next()),
      }
    },
  })
