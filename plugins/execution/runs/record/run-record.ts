/** What the daemon keeps of a run. */
import { doc, literal, object, optional, string, tagged, type Infer } from '../../../../core/plugin.js'
import type { ReplyHandle } from '../../deliveries/contract.js'
import type { FailureClass } from '../../models/contract.js'
import type { ToolPins } from '../../tools/contract.js'
import type { UsageSums } from '../../../operator/usage/contract.js'
import type { Isolation } from '../../sessions/contract.js'
import type { AnswerEnd } from './answer-end.js'
import type { RunOrigin } from './origin.js'

/** What made a run. */
export const runKinds = [
  'input',
  'scheduled_input',
  'observation_materialization',
  'scheduled_observation_materialization',
  'mailbox_delivery',
  'channel_delivery',
  'parent_clarification',
  'approval_resume',
  'user_question_resume',
] as const
/** One of `runKinds`. */
export type RunKind = (typeof runKinds)[number]
/** The states of a run (runs-25). */
export const runStatuses = [
  'queued',
  'running',
  'waiting_for_approval',
  'waiting_for_user_question',
  'completed',
  'failed',
  'interrupted',
  'cancelled',
] as const
/** One of `runStatuses`. */
export type RunStatus = (typeof runStatuses)[number]

/** Those of runs that have not ended. */
export const openStatuses = [
  'queued',
  'running',
  'waiting_for_approval',
  'waiting_for_user_question',
] as const satisfies readonly RunStatus[]

/** How a run was asked to end. */
export type StopRequest = { readonly kind: 'cancel' | 'interrupt' | 'end'; readonly reason?: string }

/** What must hold before a run may complete (runs-12 and runs-13). */
export const CompletionRequirement = tagged('type', {
  workspace_file: object({
    type: literal('workspace_file'),
    path: optional(
      doc(
        string({ min: 1, max: 4096 }),
        'A file that the run must create or update, relative to the workspace; any file when absent.',
      ),
    ),
  }),
})
/** The value form of `CompletionRequirement`. */
export type CompletionRequirement = Infer<typeof CompletionRequirement>

/**
 * What must hold before a run may complete: the journal sequence of its baseline, once taken, and how often the model
 * was told what is missing.
 */
export type Completion = {
  readonly requirements: readonly CompletionRequirement[]
  readonly baseline?: number
  readonly reminders: number
}

/** The settings that a run keeps for its whole life, all of one revision: beside these its route and model. */
export type RunPins = ToolPins & { readonly revision: number }

/**
 * What every run record holds, whatever its status. Times in Unix ms; `first` and `last` bound its range of the
 * session's journal.
 */
export type RunBase = {
  readonly run_id: string
  readonly session_id: string
  readonly agent_id: string
  readonly kind: RunKind
  readonly submitted_at_ms: number
  readonly updated_at_ms: number
  readonly source_plugin: string
  readonly source_kind: string
  readonly actor_id: string
  readonly text_preview: string
  /** What made it, as the daemon knows it; absent for what a caller submitted. */
  readonly origin?: RunOrigin
  /** Route id that is pinned for the whole run. */
  readonly provider: string
  readonly model: string
  /** Takes over once when the model fails for good. */
  readonly fallback_model?: string
  /** What of the settings it keeps; absent in records of earlier versions, for which those of now hold. */
  readonly pinned?: RunPins
  readonly first: number
  readonly last: number
  /** Where its outputs go; the targets of its session when absent. */
  readonly reply_targets?: readonly ReplyHandle[]
  /** Journal sequences of outputs. */
  readonly outputs?: readonly number[]
  /** The output that is the model's last answer; 0 if none is. Absent without outputs, and in older records. */
  readonly said?: number
  /** How the answer that completed it ended, where that is not whole; absent in older records. */
  readonly answer_ended?: AnswerEnd
  /** How often its model was told that its answer does not fit the schema of the run. */
  readonly repairs?: number
  readonly approvals?: number
  readonly questions?: number
  /** Generation of the daemon that executes it. */
  readonly owner: number
  /** True when that daemon stopped in good order. */
  readonly released?: boolean
  /** Model answers, at most, where that is fewer than any run has. */
  readonly max_turns?: number
  /** What must hold before it may complete. */
  readonly completion?: Completion
  /** It works in a folder of its own; in the workspace when absent. */
  readonly isolation?: Exclude<Isolation, 'shared'>
  /** Somebody asked to end it: it ends so, whatever happens to the daemon in between. */
  readonly stopping?: StopRequest
  /** Daemon lives that ended without a good order while this run was executing. */
  readonly unclean_boots?: number
  /** The ended run that it repeats. */
  readonly retry_of?: string
  /** What its model calls used; absent before the first has ended, and in records of earlier versions. */
  readonly usage?: UsageSums
  /** Milliseconds of execution before the current stretch; waiting for people does not count. */
  readonly active_ms?: number
  /** When it began first, for one that was put back into its queue since. Unix ms. */
  readonly begun_at_ms?: number
}
/** A run that has not started. */
export type QueuedRun = RunBase & { readonly status: 'queued' }
/** Failed attempts at the current model answer, while another one is to come. Times in Unix ms. */
export type RouteWait = {
  readonly attempts: number
  readonly since_ms: number
  readonly next_attempt_at_ms: number
  /** How long it has waited for the route by now; the time without a daemon does not count. */
  readonly waited_ms: number
  readonly code: FailureClass
  readonly message: string
}
/**
 * A run that the engine executes; `route_wait` while its model route fails, `held_call` while its call is held back
 * because the server of the model asked for time. Unix ms.
 */
export type RunningRun = RunBase & {
  readonly status: 'running'
  readonly started_at_ms: number
  readonly route_wait?: RouteWait
  readonly held_call?: { readonly until_ms: number }
}
/** When a route that fails is asked again: its server may hold it back for longer. Unix ms; 0 where nothing fails. */
export const nextAttemptAt = ({ route_wait, held_call }: RunningRun): number =>
  Math.max(route_wait?.next_attempt_at_ms ?? 0, held_call?.until_ms ?? 0)
/**
 * A run that needs a person; `waiting` is the journal sequence of its requests, `pending` the ids still open,
 * `expires_at_ms` the earliest deadline of these.
 */
export type WaitingRun = RunBase & {
  readonly status: 'waiting_for_approval' | 'waiting_for_user_question'
  readonly started_at_ms: number
  readonly waiting: number
  readonly pending: readonly string[]
  readonly expires_at_ms?: number
}
/** A run that no longer changes. */
export type TerminalRun = RunBase & {
  readonly status: 'completed' | 'failed' | 'interrupted' | 'cancelled'
  readonly started_at_ms?: number
  readonly finished_at_ms: number
  readonly error?: string
  /** Of an effect of it nobody can tell whether it happened, and nobody has acknowledged that: it may not fall. */
  readonly unacknowledged?: true
}
/** What the daemon keeps of a run. */
export type RunRecord = QueuedRun | RunningRun | WaitingRun | TerminalRun

/** When a run began first; undefined if it never did. */
export const begunAt = (run: RunRecord): number | undefined =>
  run.begun_at_ms ?? ('started_at_ms' in run ? run.started_at_ms : undefined)

/**
 * A copy with changes, for what every run goes through. A spread that adds members gives each copy a hidden class of
 * its own, and an object that begins empty moves its members as they become more: some microseconds here, and for all
 * who read it.
 */
export const changed = <R extends object, C extends object>(record: R, changes: C): R & C =>
  Object.assign({ ...record }, changes)
