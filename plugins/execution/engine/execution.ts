/** One run in the hands of the engine: what it knows, and how it changes the run. */
import { innerFolder, Problem, tellFailure, type Clock, type Tx } from '../../../core/plugin.js'
import {
  editRun,
  runErrors,
  Trace,
  type RunContext,
  type RunEdit,
  type RunFolder,
  type RunPins,
  type RunPlace,
  type RunRecord,
  type RunStep,
  type RunWorkspaces,
  type StopRequest,
  type TraceData,
} from '../runs/contract.js'
import type { Consultations } from '../consultations/contract.js'
import type { Interception } from '../interception/contract.js'
import type { SystemSection } from '../models/contract.js'
import type { SessionAgents } from '../sessions/contract.js'
import type { ToolCall, ToolLimits, ToolRegistry } from '../tools/contract.js'
import type { RunObserver } from './contract.js'
import type { Calibration } from './prompt/budget.js'
import type { ShownFiles } from './prompt/files.js'
import type { Threads } from './thread/threads.js'

/** What all executions share. */
export interface EngineContext extends RunContext {
  readonly tools: ToolRegistry
  readonly threads: Threads
  /** What calls have told of the tokens of their models. */
  readonly calibration: Calibration
  /** A turn of the event loop of one's own, for what takes milliseconds. */
  readonly inTurn: () => Promise<void>
  readonly observers: () => readonly RunObserver[]
  readonly sections: () => readonly SystemSection[]
  /** May stop or change steps; absent while no plugin does. */
  readonly interception: () => Interception | undefined
  readonly files: ShownFiles
  /** Keeps folders of runs' own; absent while no plugin does. */
  readonly workspaces: () => RunWorkspaces | undefined
  /** Knows agents that work in a folder of the workspace; absent while no plugin does. */
  readonly agents: () => SessionAgents | undefined
  /** Asks models outside of turns; absent while no plugin does. */
  readonly consultations: () => Consultations | undefined
}

/** Why an execution is told to end. */
export type Stop = StopRequest | { readonly kind: 'shutdown' | 'time_limit'; readonly reason?: string }

/** A run that is being executed in this life of the daemon. */
export interface Execution {
  readonly context: EngineContext
  readonly place: RunPlace
  readonly run_id: string
  readonly session_id: string
  readonly agent_id: string
  /** What of the settings it keeps. */
  readonly pins: RunPins | undefined
  readonly limits: ToolLimits
  readonly controller: AbortController
  /** Where its calls work. */
  folder: RunFolder
  /** What it is at now, for those who ask. */
  readonly steps: Set<RunStep>
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
}

/**
 * True if what a step gives no longer counts: somebody ended the run, or the stop of the daemon cut the step short.
 * What ended by itself while the daemon stops is kept.
 */
export const isCut = ({ stop, controller }: Execution): boolean =>
  stop !== undefined && (stop.kind !== 'shutdown' || controller.signal.aborted)

type Apply = (edit: RunEdit) => void | ((tx: Tx) => void)

/**
 * Changes a running run in one commit. Resolves to false, with nothing
 * changed, if it is no longer running. What `apply` returns is part of the
 * same commit and may change the run once more.
 */
export const change = (execution: Execution, apply: Apply): Promise<boolean> =>
  execution.context.store.state.commit((tx) => {
    const run = execution.context.store.runs.find(execution.run_id)
    if (run?.status !== 'running') return false
    const edit = editRun(execution.context, tx, run)
    const also = apply(edit)
    edit.save()
    execution.context.threads.keep(tx, execution.session_id)
    if (typeof also === 'function') also(tx)
    return true
  })

/** Like `change`, but the loop goes on at once: the next commit that is waited for makes it durable too. */
export const changeLazily = (execution: Execution, apply: Apply): void => {
  change(execution, apply).catch((error: unknown) => {
    execution.undone = true
    const { log, store } = execution.context
    tellFailure({ log, state: store.state }, 'a change of a run was undone', { run_id: execution.run_id, error })
  })
}

/** Has the execution say what it is at until the end is called. */
export const begin = ({ steps, context }: Execution, what: Omit<RunStep, 'since_ms'>): (() => void) => {
  const step = { since_ms: context.clock.now(), ...what }
  steps.add(step)
  return () => void steps.delete(step)
}

/** Has the execution say what it is at until the work is over. */
export const during = async <T>(
  execution: Execution,
  what: Omit<RunStep, 'since_ms'>,
  work: () => Promise<T>,
): Promise<T> => {
  const end = begin(execution, what)
  try {
    return await work()
  } finally {
    end()
  }
}

/** Ends the run as failed. */
export const failRun = async (execution: Execution, error: string): Promise<void> => {
  await change(execution, (edit) => edit.step({ to: 'failed', error }, { type: 'failed', error }))
}

/** Where calls of runs work that share it. */
export const sharedFolder = ({ tools }: Pick<EngineContext, 'tools'>): RunFolder => ({
  path: tools.workspace,
  beside: [],
})

const ownFolder = async (execution: Execution, run: RunRecord): Promise<RunFolder> => {
  const { context, controller, session_id } = execution
  if (run.isolation === undefined) return execution.folder
  const workspaces = context.workspaces()
  if (workspaces === undefined)
    throw runErrors.isolation_unavailable({ details: { reason: 'the plugin worktrees is off', session_id } })
  return during(execution, { kind: 'folder', name: '' }, () => workspaces.open(run, controller.signal))
}

/** Throws `run_folder_not_found` where it is not there, or is a link that leads out. */
const folderWithin = ({ path, beside }: RunFolder, folder: string): RunFolder => {
  const inner = innerFolder(path, folder)
  if (inner === undefined) throw runErrors.run_folder_not_found({ details: { folder } })
  return { ...inner, beside }
}

/** As tools and checks are told it. */
export const workspaceOf = ({ path, within }: RunFolder): Pick<ToolCall, 'workspace' | 'within'> => ({
  workspace: path,
  ...(within !== undefined && { within }),
})

/** Opens the folder that a run works in where it is not the workspace; the run fails where it cannot have it. */
export const enterFolder = async (execution: Execution): Promise<void> => {
  const { context, run_id, session_id } = execution
  const run = context.store.runs.find(run_id)
  const folder = context.agents()?.folder(session_id)
  if (run?.status !== 'running' || execution.stop !== undefined) return
  if (run.isolation === undefined && folder === undefined) return
  try {
    const own = await ownFolder(execution, run)
    execution.folder = folder === undefined ? own : folderWithin(own, folder)
  } catch (error) {
    // A storage that refuses comes back; a run that is told to stop ends in the loop.
    if (!(error instanceof Problem) || error.spec.status >= 500) throw error
    if (execution.stop === undefined) await failRun(execution, `${error.code}: ${error.message}`)
  }
}

/** Milliseconds of execution so far. */
export const activeMs = (execution: Execution, run: RunRecord): number =>
  Math.round((run.active_ms ?? 0) + execution.context.clock.elapsed() - execution.since)

/** Publishes a step for people who watch. */
export const trace = (execution: Execution, kind: TraceData): void => {
  const timestamp_ms = execution.context.clock.now()
  const { session_id, agent_id, run_id } = execution
  execution.context.events.emit(Trace, { session: session_id, run: run_id }, () => ({
    trace: {
      timestamp_ms,
      session_id,
      agent_id,
      run_id,
      kind,
      ...('call_id' in kind && { tool_call_id: kind.call_id }),
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
