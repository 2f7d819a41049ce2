/** What executes runs, and what it is given. Runs say which executes when, an engine how. */
import { defineToken, type Clock, type Events, type Ids, type Log, type Token } from '../../../../core/plugin.js'
import type { Assets } from '../../../media/assets/contract.js'
import type { ExternalActions } from '../../external-actions/contract.js'
import type { UsageBooks } from '../../../operator/usage/contract.js'
import type { Models } from '../../models/contract.js'
import type { Sessions } from '../../sessions/contract.js'
import type { Checks } from './completion-checks.js'
import type { RunsConfig } from './config.js'
import type { PromptSettings } from './prompt-setting.js'
import type { RunPins, RunRecord, StopRequest } from '../record/run-record.js'
import type { RunStore } from '../record/store.js'

/** What a change of a run reaches. */
export interface ChangeContext {
  readonly store: RunStore
  readonly sessions: Sessions
  /** Knows what was done outside; absent while no plugin keeps it. */
  readonly ledger: () => ExternalActions | undefined
  /** Keeps what model calls use; absent while no plugin does. */
  readonly books: () => UsageBooks | undefined
  /** Keeps the files that runs are given and put out; absent while no plugin does. */
  readonly assets: () => Assets | undefined
  /** Called when a commit is durable that made this run wait or end. */
  readonly halted: (run: RunRecord) => void
}

/** What the plugin that keeps the runs lends to those who accept, execute and stop them. */
export interface RunContext extends ChangeContext {
  readonly models: Models
  readonly checks: Checks
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly events: Events
  readonly config: RunsConfig
  /** What operators set of what models are told. */
  readonly prompt: () => PromptSettings
}

/** What an execution is at now. */
export interface RunStep {
  /** `turn` and `wait`: the call of a model, or of a tool, under way waits for others. */
  readonly kind: 'model' | 'turn' | 'tool' | 'wait' | 'arrival' | 'compaction' | 'folder'
  /** Of the model or the tool; empty for others. */
  readonly name: string
  readonly tool_call_id?: string
  /** Unix ms. */
  readonly since_ms: number
}

/** One run in the hands of the engine. */
export interface RunExecution {
  /** What it is at now: several calls where they are made side by side. */
  steps(): readonly RunStep[]
  /** Executes it until it waits, ends or is stopped; called once. Must not reject. */
  run(): Promise<void>
  /** Tells it to end now. The first reason counts. */
  stop(request: StopRequest): void
  /** Tells it that the daemon stops: it ends after the step under way, and the run stays resumable. */
  finish(): void
  /** Cuts the step under way short. */
  abort(): void
}

/** How somebody wants a conversation to be summed up. */
export interface SessionCompactionWish {
  /** What the model that sums up is told beside. */
  readonly wish?: string | undefined
  readonly signal: AbortSignal
}

/** What became of it. */
export type SessionCompaction =
  | {
      readonly compacted: true
      readonly tokens_before: number
      readonly tokens_after: number
      readonly messages: number
    }
  | { readonly compacted: false; readonly code: string; readonly message: string }

/** The place of a run among those that are executed at a time. */
export interface RunPlace {
  /**
   * Lets others have it while the run waits for what they do. Resolves behind `wait`, when the run has one again, or
   * when it is told to stop; rejects with what `wait` rejects with.
   */
  lend<T>(wait: () => Promise<T>, stopped: AbortSignal): Promise<T>
}

/** An engine that has the runs of one start of the daemon. */
export interface OpenEngine {
  /** Takes a running run; nothing is done for it yet. */
  take(run: RunRecord, place: RunPlace): RunExecution
  /**
   * Sums up the conversation of a session, as its last run saw it. Rejects with the problems of `Models.ready`. Whoever
   * asks while it is done is given the same answer.
   */
  compact(run: RunRecord, wish: SessionCompactionWish): Promise<SessionCompaction>
}

/** Executes runs. */
export interface RunEngine {
  /** Called when runs may be executed, once a start. */
  open(context: RunContext): OpenEngine
  /** What of the settings a run that is accepted now keeps. */
  pin(): RunPins
  /** What runs of a session must have and have not, as a sentence without its full stop. */
  missing(session_id: string): string | undefined
}
/** Provided by an engine, for the plugin that keeps the runs. */
export const RunEngine: Token<RunEngine> = defineToken<RunEngine>('run-engine@1')
