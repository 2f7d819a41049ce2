/** One execution attempt in a session, and the journal that it is made of. Rules: docs/rules/runs.md. */
import {
  doc,
  array,
  defineToken,
  integer,
  literal,
  named,
  object,
  optional,
  string,
  tagged,
  timestamp,
  type Caller,
  type Infer,
  type Json,
  type Token,
  type Tx,
} from '../../../core/plugin.js'
import {
  DaemonOutputRecord,
  ApprovalRequestView,
  ResolvedApproval,
  type ApprovalRequest,
  type Decider,
  ResolvedQuestionView,
  UserQuestionRequestView,
  type OutputDraft,
  type ResolvedQuestion,
  type UserQuestionRequest,
} from '../sessions/contract.js'
import type { RunRecord, TerminalRun, WaitingRun } from './run-record.js'
import type { RunOrigin } from './origin.js'
import { runStepFields, RunView, type RunKind } from './run-view.js'
import type { SubmitInputRequest } from './submission.js'

/** Problems of calls, which models read. */
export { callErrors } from './call-errors.js'
/** Problems of runs, for routes of other plugins. */
export { runErrors } from './errors.js'
/** What a run is told (runs-5 to runs-16). */
export { CompletionRequirement, InlineAsset, InputItem, SubmitInputRequest, submitFields } from './submission.js'
/** What a run asks a person for, as text for terminals, with the command lines that answer it. */
export {
  approvalLines,
  AskedApproval,
  AskedQuestions,
  questionLines,
  showApproval,
  showQuestions,
  showRequest,
} from './run-text.js'

/** What judges whether a run has done what it must. */
export { checkOf, CompletionChecks } from './completion-checks.js'
/** One check, what it keeps of the beginning of a run, and what it judges by. */
export type { CompletionCheck, CompletionEvidence } from './completion-checks.js'

/** What a run is and how it is shown. */
export { RouteWaitView, RunRequestSummary, runKinds, runStatuses } from './run-view.js'
/** Its kinds and statuses. */
export type { RunKind, RunStatus } from './run-view.js'
/** A run as clients see it. */
export { RunView }

/** What the daemon keeps of a run, by its status. */
export type {
  QueuedRun,
  RouteWait,
  RunBase,
  RunningRun,
  RunRecord,
  TerminalRun,
  StopRequest,
  WaitingRun,
} from './run-record.js'

const projected = { run: optional(RunView) }
/** The persisted run event variants on the wire (runs-20). */
export const RunEventView = tagged('type', {
  accepted: object({ type: literal('accepted'), ...projected }),
  queued: object({ type: literal('queued'), position: integer(), ...projected }),
  started: object({ type: literal('started'), ...projected }),
  waiting_for_approval: object({
    type: literal('waiting_for_approval'),
    request_ids: doc(array(string()), 'Ids of the requests.'),
    requests: doc(array(ApprovalRequestView), 'The requests in full.'),
  }),
  approval_resolved: object({ type: literal('approval_resolved'), resolutions: array(ResolvedApproval) }),
  waiting_for_user_question: object({
    type: literal('waiting_for_user_question'),
    request_ids: doc(array(string()), 'Ids of the requests.'),
    requests: doc(array(UserQuestionRequestView), 'The requests in full.'),
  }),
  user_question_resolved: object({ type: literal('user_question_resolved'), resolution: ResolvedQuestionView }),
  output: object({ type: literal('output'), output: DaemonOutputRecord }),
  completed: object({ type: literal('completed'), ...projected }),
  failed: object({ type: literal('failed'), error: string() }),
  interrupted: object({ type: literal('interrupted'), ...projected }),
  cancelled: object({ type: literal('cancelled'), ...projected }),
  ...runStepFields,
})
/** One entry of `GET /v1/runs/{run_id}/events`. */
export const RunEventEntry = named(
  'RunEventEntry',
  object({
    timestamp_ms: timestamp(),
    run_id: doc(string(), 'Id of the run.'),
    session_id: doc(string(), 'Id of the session.'),
    agent_id: doc(string(), 'Id of the agent.'),
    event: RunEventView,
  }),
)
/** The value form of `RunEventEntry`. */
export type RunEventEntry = Infer<typeof RunEventEntry>

/**
 * Names a request once: the same key with the same digest gives the same run (http-17 and runs-15).
 */
export interface ReceiptKey {
  readonly scope: string
  readonly key: string
  readonly digest: string
}

/** Decisions on one waiting run, all or none. */
export interface ApprovalDecision {
  readonly run_id: string
  readonly resolutions: readonly ResolvedApproval[]
  readonly receipt?: ReceiptKey | undefined
}
/** An answer to one request, and what the model is given as the result of its call. */
export interface QuestionAnswer {
  readonly run_id: string
  readonly resolution: ResolvedQuestion
  readonly result: { readonly output: Json; readonly is_error: boolean }
  readonly receipt?: ReceiptKey | undefined
}
/** The end of a waiting run instead of an answer. */
export interface WaitCancellation {
  readonly run_id: string
  readonly resolution: ResolvedQuestion
  /** Goes into the run's `error`. */
  readonly error?: string
  readonly receipt?: ReceiptKey | undefined
}

/** A run to be accepted, by a route or by a plugin. */
export interface Submission {
  readonly session_id: string
  readonly input: SubmitInputRequest
  /** `input` when absent. */
  readonly kind?: RunKind
  /** What made the run, if that is no caller. */
  readonly origin?: RunOrigin
  /** A repeated submission with this key gives the run of the first. */
  readonly receipt?: ReceiptKey
  /** True to refuse with `session_busy` instead of queueing. */
  readonly alone?: boolean
  /** The ended run that this one repeats. */
  readonly retry_of?: string
}

/** Where a run comes from, and the keys of metadata that only the daemon writes. */
export { ReservedKeys, RunOrigin } from './origin.js'
/** A key of `metadata` that a caller must not write. */
export type { ReservedKey } from './origin.js'

/** Runs, for plugins that submit, answer or look at them. */
export interface Runs {
  /**
   * Accepts a run, which is durable when this resolves. Rejects with the problems of `POST
   * /v1/sessions/{session_id}/runs`.
   */
  submit(submission: Submission): Promise<RunRecord>
  /**
   * Throws what `submit` would refuse whenever it is called: wrong input, an unknown route, targets and keys that
   * cannot be. For those who keep a submission for later.
   */
  check(submission: Pick<Submission, 'session_id' | 'input'>): void
  find(run_id: string): RunRecord | undefined
  /** Throws `run_not_found` (404). */
  get(run_id: string): RunRecord
  /** `caller` is who asks: without one, and for one who may only read, addresses of reply targets are hidden. */
  view(run: RunRecord, caller?: Caller): RunView
  /** The session that a binding key leads to; undefined if nobody bound it (runs-8). */
  sessionOfBinding(key: string): string | undefined
  /** The run of a session that is running or waits; undefined if none. */
  active(session_id: string): RunRecord | undefined
  /** The run of a session that was accepted last; undefined if none. */
  latest(session_id: string): RunRecord | undefined
  /** What a run was told, and its newest output, as the journal has them: not redacted, of any length. */
  texts(run: RunRecord): { readonly request: string; readonly outcome?: string }
  /** Runs in reverse order of submission, at most `limit`: the newest, or those submitted before the run `before`. */
  newest(page: { readonly limit: number; readonly before?: string }): RunRecord[]
  /** Ids of runs that have not ended. */
  open(): string[]
  /** Waiting runs in order of submission. */
  waiting(status: WaitingRun['status']): WaitingRun[]
  openApprovals(run: RunRecord): ApprovalRequest[]
  openQuestions(run: RunRecord): UserQuestionRequest[]
  /**
   * Who or what decided on a request that is no longer open; undefined if the run has no such. Reads the run's journal.
   */
  deciderOf(run: RunRecord, request_id: string): Decider | undefined
  /**
   * The run an earlier request with this key led to; undefined if the key is new. Throws `idempotency_conflict` (409).
   */
  replayed(receipt: ReceiptKey | undefined): RunRecord | undefined
  /**
   * Records decisions and goes on when none is open. The caller has checked that the requests are open, in the same
   * turn of the event loop.
   */
  decide(decision: ApprovalDecision): Promise<void>
  /** Records an answer and goes on when no question is open. The caller has checked as for `decide`. */
  answer(answer: QuestionAnswer): Promise<void>
  /** Ends a run that waits for an answer as `cancelled`. The caller has checked as for `decide`. */
  cancelWait(cancellation: WaitCancellation): Promise<void>
  /** Resolves when the run has ended or waits for a person, or when the signal aborts. */
  waitFor(run_id: string, signal: AbortSignal): Promise<void>
  /** Adds an output to a running run in a commit. Blank outputs are dropped. */
  output(tx: Tx, run_id: string, output: OutputDraft): void
  /**
   * Has runs that wait so settled when their deadline is over, by the wall clock and over restarts. `expire` must check
   * and commit in the turn of the event loop in which it is called, and is called again while the run stays due.
   * Returns the undo.
   */
  onDue(status: WaitingRun['status'], expire: (run: WaitingRun) => Promise<void>): () => void
  /**
   * Listens for runs that have ended; called after that is durable. A daemon that died in between does not call it
   * again: check at the start. Must not throw. Returns the undo.
   */
  onEnded(listener: (run: TerminalRun) => void): () => void
}
/** The runs of this daemon. */
export const Runs: Token<Runs> = defineToken<Runs>('runs@1')

/** What people who watch are told (events-16). */
export { OutputMade, RunUpdated, Trace, TraceKind } from './live-events.js'
/** The value form of `TraceKind`. */
export type { TraceData } from './live-events.js'

/** What executes runs: an engine provides it. */
export { RunEngine } from './run-engine.js'
/** A run in the hands of the engine, and what the engine is given. */
export type { ChangeContext, OpenEngine, RunContext, RunExecution } from './run-engine.js'
/** Changes a run in a commit, and tells that a change failed. Records, entries and events are made here alone. */
export { editRun, tellFailure } from './run-changes.js'
/** A run while a commit changes it. */
export type { RunEdit } from './run-changes.js'
/** Reads one entry of a journal. */
export { entryAt } from './store.js'
/** Where runs and their journals are. */
export type { RunStore } from './store.js'
