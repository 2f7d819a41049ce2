/** What the parts of the run engine share. */
import type { Clock, Events, Ids, Log, Tx } from '../../../core/plugin.js'
import type { Models, SystemSection } from '../models/contract.js'
import type { ToolRegistry } from '../tools/contract.js'
import type { Checks } from './completion-checks.js'
import type { RunsConfig } from './config.js'
import { type RunRecord, type StopRequest, type TraceData, Trace } from './contract.js'
import { editRun, type EditParts, type RunEdit } from './edit.js'
import type { RunObserver } from './observer.js'
import type { ReservedKey } from './origin.js'
import type { Threads } from './threads.js'

export interface EngineParts extends EditParts {
  readonly models: Models
  readonly tools: ToolRegistry
  readonly checks: Checks
  readonly threads: Threads
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly events: Events
  readonly config: RunsConfig
  /** Keeps evidence of what runs do; absent while no plugin does. */
  readonly observer: () => RunObserver | undefined
  readonly sections: () => readonly SystemSection[]
  /** Keys of metadata that callers must not write. */
  readonly reserved: () => readonly ReservedKey[]
}

/** Why an execution is told to end. */
export type Stop = StopRequest | { readonly kind: 'shutdown' | 'time_limit'; readonly reason?: string }

/** A run that is being executed in this life of the daemon. */
export interface Execution {
  readonly parts: EngineParts
  readonly run_id: string
  readonly session_id: string
  readonly agent_id: string
  readonly controller: AbortController
  /** Set once; the loop ends at its next step. */
  stop: Stop | undefined
  /** A commit that nobody waited for was undone: what is in memory must be read again. */
  undone: boolean
  /** Monotonic ms of the last failed model attempt of this life. */
  failed_at: number | undefined
  /** Ends the wait for the next model attempt; undefined while there is none. */
  wake: (() => void) | undefined
  /** Monotonic ms at which this stretch began. */
  readonly since: number
  /** Resolves when the execution has ended; never rejects. */
  done: Promise<void>
}

type Apply = (edit: RunEdit) => void | ((tx: Tx) => void)

/**
 * Changes a running run in one commit. Resolves to false, with nothing
 * changed, if it is no longer running. What `apply` returns is part of the
 * same commit and may change the run once more.
 */
export const change = (execution: Execution, apply: Apply): Promise<boolean> =>
  execution.parts.store.state.commit((tx) => {
    const run = execution.parts.store.runs.find(execution.run_id)
    if (run?.status !== 'running') return false
    const edit = editRun(execution.parts, tx, run)
    const also = apply(edit)
    edit.save()
    if (typeof also === 'function') also(tx)
    return true
  })

/** Like `change`, but the loop goes on at once: the next commit that is waited for makes it durable too. */
export const changeLazily = (execution: Execution, apply: Apply): void => {
  change(execution, apply).catch((error: unknown) => {
    execution.undone = true
    tellFailure(execution.parts, 'a change of a run was undone', { run_id: execution.run_id, error })
  })
}

/** What fails because storage refuses changes is told by storage once, and not by every run. */
export const tellFailure = (
  { store, log }: EngineParts,
  fact: string,
  { run_id, error }: { readonly run_id: string; readonly error: unknown },
): void => log[store.state.health.mode === 'ok' ? 'warn' : 'debug'](fact, { run_id, error: String(error) })

/** Milliseconds of execution so far. */
export const activeMs = (execution: Execution, run: RunRecord): number =>
  Math.round((run.active_ms ?? 0) + execution.parts.clock.elapsed() - execution.since)

/** Publishes a step for people who watch. */
export const trace = (execution: Execution, kind: TraceData): void => {
  const timestamp_ms = execution.parts.clock.now()
  const { session_id, agent_id, run_id } = execution
  execution.parts.events.emit(Trace, { session: session_id, run: run_id }, () => ({
    trace: {
      timestamp_ms,
      session_id,
      agent_id,
      run_id,
      ...('call_id' in kind && { tool_call_id: kind.call_id }),
      kind,
    },
  }))
}

/** The promise's value, or undefined if it is still open `grace_ms` after the signal aborted. */
export const within = <T>(
  clock: Clock,
  promise: Promise<T>,
  { signal, grace_ms }: { signal: AbortSignal; grace_ms: number },
): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    let cancel: (() => void) | undefined
    const abort = (): void => {
      cancel = clock.after(grace_ms, () => resolve(undefined))
    }
    const settle = (): void => {
      cancel?.()
      signal.removeEventListener('abort', abort)
    }
    promise.then(
      (value) => {
        settle()
        resolve(value)
      },
      (error: unknown) => {
        settle()
        reject(error)
      },
    )
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
