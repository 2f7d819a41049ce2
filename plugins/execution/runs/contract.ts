/** One execution attempt in a session, and the journal that it is made of. Rules: docs/rules/runs.md. */
import { defineToken, type Caller, type StreamEntry, type Token, type Tx } from '../../../core/plugin.js'
import type {
  ApprovalRequest,
  Decider,
  JournalEntry,
  OutputDraft,
  ResolvedQuestion,
  UserQuestionRequest,
} from '../sessions/contract.js'
import type { ApprovalDecision, QuestionAnswer, WaitCancellation } from './lifecycle/answers.js'
import type { AskedBeside, SettledBeside } from './lifecycle/beside.js'
import type { ReceiptKey, UsedReceipt } from './record/receipts.js'
import type { RunRecord, TerminalRun, WaitingRun } from './record/run-record.js'
import type { Submission, SubmitInputRequest } from './submission/input.js'
import type { RunView } from './views/run-view.js'

/** Problems of runs, for routes of other plugins. */
export { runErrors } from './record/errors.js'
/** What a run that is looked up by its id can lack. */
export { noRun } from './record/get-run.js'
/** How an answer of a model ended that is not whole. */
export { answerEnd } from './record/answer-end.js'
/** What a run is, and what must hold before it may complete. */
export { begunAt, CompletionRequirement, runKinds, runStatuses } from './record/run-record.js'
/** What the daemon keeps of a run, by its status. */
export type {
  QueuedRun,
  RouteWait,
  RunBase,
  RunKind,
  RunPins,
  RunningRun,
  RunRecord,
  RunStatus,
  StopRequest,
  TerminalRun,
  WaitingRun,
} from './record/run-record.js'
/** What operators set of what models are told. */
export type { PromptSettings } from './lifecycle/prompt-setting.js'
/** Where a run comes from, and the keys of metadata that only the daemon writes. */
export { keepsOutputs, ReservedKeys, RunOrigin } from './record/origin.js'
/** A key of `metadata` that a caller must not write. */
export type { ReservedKey } from './record/origin.js'
/** Names a request once; what is kept of that. */
export type { ReceiptKey, UsedReceipt } from './record/receipts.js'
/** Reads one entry of a journal, or all of a run. */
export { entryAt, ownEntries } from './record/store.js'
/** Rulings of interceptors as the journal keeps them. */
export { additionsOf, noteOf } from './record/intercepted.js'
/** Where runs and their journals are. */
export type { RunStore } from './record/store.js'

/** What a run is told (runs-5 to runs-16). */
export {
  fileBytesOf,
  InlineAsset,
  InputItem,
  inputItems,
  mostSubmissionBytes,
  SubmitInputRequest,
  submitFields,
} from './submission/input.js'
/** A run to be accepted. */
export type { Submission } from './submission/input.js'

/** Problems of calls, which models read. */
export { callErrors, lockedCall } from './lifecycle/call-errors.js'
/** What executes runs: an engine provides it. */
export { RunEngine } from './lifecycle/run-engine.js'
/** A run in the hands of the engine, and what the engine is given. */
export type {
  ChangeContext,
  OpenEngine,
  RunContext,
  RunExecution,
  RunPlace,
  RunStep,
  SessionCompaction,
  SessionCompactionWish,
} from './lifecycle/run-engine.js'
/** Changes a run in a commit. Records, entries and events are made here alone. */
export { editRun } from './lifecycle/run-changes.js'
/** A run while a commit changes it. */
export type { RunEdit } from './lifecycle/run-changes.js'
/** Folders of their own that runs work in. */
export { RunWorkspaces, RunWorktree, worktreeFields } from './record/run-workspaces.js'
/** Where the calls of one run work. */
export type { RunFolder } from './record/run-workspaces.js'
/** What a route may answer with that looks at a submission, and what one that submits. */
export { checkProblems, submitProblems } from './submission/problems.js'
/** A problem with the paths of its fields changed, for those who submit what stands elsewhere in a request. */
export { placedBy } from './submission/problems.js'
/** An input as it may be stored. */
export { keptInput } from './submission/reply.js'
/** What judges whether a run has done what it must. */
export { checkOf, CompletionChecks } from './lifecycle/completion-checks.js'
/** One check, what it keeps of the beginning of a run, and what it judges by. */
export type { CompletionCheck, CompletionEvidence, WorkPlace } from './lifecycle/completion-checks.js'
/** A question of another session, and its end. */
export type { AskedBeside, SettledBeside } from './lifecycle/beside.js'
/** What people decide and answer. */
export type { ApprovalDecision, QuestionAnswer, WaitCancellation } from './lifecycle/answers.js'

/** A run as clients see it. */
export { RouteWaitView, RunRequestSummary, RunView } from './views/run-view.js'
/** Its events as clients see them. */
export { RunEventEntry, RunEventView } from './views/run-event-view.js'
/** What waiting runs ask people for. */
export { pendingPage } from './views/pending-page.js'
/** What people who watch are told (events-16). */
export { ModelDeltas, OutputMade, RunUpdated, Trace, TraceKind } from './views/live-events.js'
/** The value form of `TraceKind`; a call of a model whose words are shown. */
export type { SpokenCall, TraceData } from './views/live-events.js'
/** What a person types as the answer to a question. */
export { answerTo, numberedAnswer } from './terminal/answer-text.js'
/** A run on the terminal, with the flags and fields of commands that follow one. */
export {
  follow as followRun,
  following as followRunFlags,
  followingFields as followRunFields,
} from './terminal/follow.js'
/** What a run asks a person for, as text for terminals, with the command lines that answer it. */
export {
  approvalLines,
  AskedApproval,
  askedFrom,
  AskedQuestions,
  askedWhere,
  questionLines,
  showApproval,
  showQuestions,
  showRequest,
} from './terminal/request-text.js'

/** Runs, for plugins that submit, answer or look at them. */
export interface Runs {
  /**
   * Accepts a run, which is durable when this resolves. Rejects with the problems of `POST
   * /v1/sessions/{session_id}/runs`.
   */
  submit(submission: Submission): Promise<RunRecord>
  /**
   * The same for a commit of the caller: checks the submission, throws the problems of `submit`, and gives what accepts
   * the run in a commit. That must be called in the same turn of the event loop, and gives the earlier run of a receipt
   * that is known. Completion requirements are not looked at, and interceptors not asked: `prepare` does both.
   */
  admit(submission: Submission): (tx: Tx) => RunRecord
  /**
   * What `submit` does before its commit, for those who `admit` what it resolves with. Rejects with the problems of
   * `submit`.
   */
  prepare(submission: Submission): Promise<Submission>
  /** Lets the first queued run of a session start if there is room: what submissions that are patient wait for. */
  wake(session_id: string): void
  /**
   * Throws what `submit` would refuse whenever it is called: wrong input, an unknown route, targets and keys that
   * cannot be, files that are not stored. For those who keep a submission for later: gives its input as it may be
   * stored.
   */
  check(submission: Pick<Submission, 'session_id' | 'input'>): SubmitInputRequest
  /**
   * The same input with the files in it stored and named by their ids, for those who keep it for later: who does names
   * them too. Rejects with the problems of assets; what was stored before stays an asset that nothing names.
   */
  keepFiles(input: SubmitInputRequest): Promise<SubmitInputRequest>
  /**
   * The same for a submission that is admitted at once, its boards too: what `prepare` does without asking
   * interceptors.
   */
  storeFiles(submission: Submission): Promise<Submission>
  find(run_id: string): RunRecord | undefined
  /** Throws `run_not_found` (404), or `run_expired` (404) for one that was here and fell. */
  get(run_id: string): RunRecord
  /** `caller` is who asks: without one, and for one who may only read, addresses of reply targets are hidden. */
  view(run: RunRecord, caller?: Caller): RunView
  /** The session that a binding key leads to; undefined if nobody bound it (runs-8). */
  sessionOfBinding(key: string): string | undefined
  /** The run of a session that is running or waits; undefined if none. */
  active(session_id: string): RunRecord | undefined
  /** The run of a session that was accepted last, but for questions of others; undefined if none. */
  latest(session_id: string): RunRecord | undefined
  /** How many runs of a session wait for their turn. */
  queued(session_id: string): number
  /** Ids of the runs of a session that have not ended: the active one, then those that wait, in order. */
  openIn(session_id: string): string[]
  /** What a run was told, and its newest output, as the journal has them: not redacted, of any length. */
  texts(run: RunRecord): { readonly request: string; readonly outcome?: string }
  /** Runs in reverse order of submission, at most `limit`: the newest, or those submitted before the run `before`. */
  newest(page: { readonly limit: number; readonly before?: string }): RunRecord[]
  /** Runs of a session in order of submission, behind the run `beyond` if one is named. */
  inSession(page: { readonly session_id: string; readonly limit: number; readonly beyond?: string }): RunRecord[]
  /** Runs that are questions of this run to other sessions, in order, also where they have ended. */
  askedBy(run_id: string): RunRecord[]
  /** Turns about a message of a person whose run failed, the newest first, at most `limit`. */
  failedTurns(human_message_id: string, limit: number): RunRecord[]
  /** What the journal has of a run behind a sequence, oldest first; some entries are in memory at a time. */
  entries(run: RunRecord, after?: number): Generator<StreamEntry<JournalEntry>>
  /** Ids of runs that have not ended. */
  open(): string[]
  /** Waiting runs in order of submission. */
  waiting(status: WaitingRun['status']): WaitingRun[]
  openApprovals(run: RunRecord): ApprovalRequest[]
  openQuestions(run: RunRecord): UserQuestionRequest[]
  /** How a question of a run was settled; undefined while it is open, or not there. Reads the run's journal. */
  resolutionOf(run: RunRecord, request_id: string): ResolvedQuestion | undefined
  /**
   * Who or what decided on a request that is no longer open; undefined if the run has no such. Reads the run's journal.
   */
  deciderOf(run: RunRecord, request_id: string): Decider | undefined
  /**
   * The run an earlier request with this key led to; undefined if the key is new. Throws `idempotency_conflict` (409),
   * and `run_expired` (404) where that run fell.
   */
  replayed(receipt: ReceiptKey | undefined): RunRecord | undefined
  /** True if an earlier request had this key, also where the run that it led to fell. */
  isUsed(receipt: ReceiptKey): boolean
  /** The run that an earlier request with this key led to, whatever it said, also where it fell: for conflicts. */
  used(named: Pick<ReceiptKey, 'scope' | 'key'>): UsedReceipt | undefined
  /**
   * Records decisions and goes on when none is open. The caller has checked that the requests are open, in the same
   * turn of the event loop.
   */
  decide(decision: ApprovalDecision): Promise<void>
  /** Records an answer and goes on when no question is open. The caller has checked as for `decide`. */
  answer(answer: QuestionAnswer): Promise<void>
  /** Ends a run that waits for an answer as `cancelled`. The caller has checked as for `decide`. */
  cancelWait(cancellation: WaitCancellation): Promise<void>
  /** Opens a run in a commit that is a question of another session. */
  askBeside(tx: Tx, asked: AskedBeside): WaitingRun
  /** Ends such a run as completed in a commit. The caller has checked that its request is open, in the same turn. */
  settleBeside(tx: Tx, settled: SettledBeside): void
  /** As `POST /v1/runs/{run_id}/cancel`, with its problems. */
  cancel(run_id: string): Promise<RunRecord>
  /** Resolves when the run has ended or waits for a person, or when the signal aborts. */
  waitFor(run_id: string, signal: AbortSignal): Promise<void>
  /**
   * Adds an output to a running run in a commit. Blank outputs are dropped; files are named from then on. Throws
   * `asset_not_found` for one that is gone.
   */
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
