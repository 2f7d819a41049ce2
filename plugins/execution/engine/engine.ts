/** Executes runs, each by itself, and takes one up again from its journal when storage was lost and came back. */
import { createTurns, tellFailure, type Collection, thrownText } from '../../../core/plugin.js'
import type { Consultations } from '../consultations/contract.js'
import type { Interception } from '../interception/contract.js'
import type { SystemSection } from '../models/contract.js'
import type {
  RunContext,
  RunEngine,
  RunExecution,
  RunPins,
  RunPlace,
  RunRecord,
  RunWorkspaces,
  SessionCompaction,
  SessionCompactionWish,
} from '../runs/contract.js'
import type { SessionAgents } from '../sessions/contract.js'
import type { Settings } from '../../operator/runtime/contract.js'
import type { ToolRegistry } from '../tools/contract.js'
import type { RunObserver } from './contract.js'
import { compactSession, stopped } from './compact.js'
import { change, sharedFolder, type EngineContext, type Execution, type Stop } from './execution.js'
import { drive } from './loop.js'
import type { Assets } from '../../media/assets/contract.js'
import { createCalibration } from './prompt/budget.js'
import { createFiles } from './prompt/files.js'
import { createThreads, type ThreadStart } from './thread/threads.js'

/** Bytes of conversations kept in memory between runs. */
const restingBytes = 64 * 1024 * 1024
/** Pause before a run goes on that could not. */
const retryMs = 500
/** Bugs in a row after which a run fails. */
const mostBugs = 3

/** What the engine has of its own, for all runs. */
export interface EngineServices {
  readonly tools: ToolRegistry
  readonly settings: Settings
  readonly observers: () => readonly RunObserver[]
  readonly sections: () => readonly SystemSection[]
  /** May stop or change steps; absent while no plugin does. */
  readonly interception: () => Interception | undefined
  /** Asks models outside of turns; absent while no plugin does. */
  readonly consultations: () => Consultations | undefined
  readonly starts: Collection<ThreadStart>
  /** Keeps the files that runs are told of; absent while no plugin does. */
  readonly assets: () => Assets | undefined
  /** Keeps folders of runs' own; absent while no plugin does. */
  readonly workspaces: () => RunWorkspaces | undefined
  /** Knows agents that work in a folder of the workspace; absent while no plugin does. */
  readonly agents: () => SessionAgents | undefined
}

export const createEngine = (services: EngineServices): RunEngine => ({
  open(runs: RunContext) {
    const { store, config } = runs
    const threads = createThreads(store, {
      resting_bytes: restingBytes,
      max_bytes: config.context_max_bytes,
      starts: services.starts,
      alone: ({ provider }) => runs.models.find(provider)?.context === 'run',
    })
    const context: EngineContext = {
      ...runs,
      ...services,
      threads,
      calibration: createCalibration(),
      files: createFiles(services.assets),
      inTurn: createTurns(),
    }
    const compacting = new Map<string, Promise<SessionCompaction>>()
    const compact = async (run: RunRecord, wish: SessionCompactionWish): Promise<SessionCompaction> => {
      const { session_id } = run
      const known = compacting.get(session_id)
      if (known !== undefined) {
        const made = await known
        // It ended because the one who had asked first went away: this one is still there.
        return made === stopped && !wish.signal.aborted ? compact(run, wish) : made
      }
      const made = compactSession(context, run, wish).finally(() => {
        compacting.delete(session_id)
        threads.rest(session_id)
      })
      compacting.set(session_id, made)
      return made
    }
    return { take: (run, place) => executionOf(context, run, place), compact }
  },
  pin: createPin(services),
  missing: services.tools.missing,
})

/** Runs of one revision share what they keep of it. */
const createPin = ({ settings, tools }: EngineServices): (() => RunPins) => {
  let pins: RunPins | undefined
  return () => {
    const { revision } = settings
    if (pins?.revision !== revision) pins = { revision, ...tools.pin() }
    return pins
  }
}

const executionOf = (context: EngineContext, run: RunRecord, place: RunPlace): RunExecution => {
  const execution = createExecution(context, run, place)
  return {
    steps: () => [...execution.steps],
    run: () => execute(execution),
    stop: (request) => tellToStop(execution, request),
    finish() {
      execution.stop ??= { kind: 'shutdown' }
      execution.wake?.()
    },
    abort: () => execution.controller.abort(),
  }
}

const createExecution = (context: EngineContext, run: RunRecord, place: RunPlace): Execution => ({
  context,
  place,
  run_id: run.run_id,
  session_id: run.session_id,
  agent_id: run.agent_id,
  pins: run.pinned,
  limits: context.tools.limits(run.pinned),
  controller: new AbortController(),
  folder: sharedFolder(context),
  steps: new Set(),
  stop: run.stopping,
  undone: false,
  failed_at: undefined,
  wake: undefined,
  since: context.clock.elapsed(),
})

/** The first reason counts. */
const tellToStop = (execution: Execution, stop: Stop): void => {
  execution.stop ??= stop
  execution.controller.abort()
}

/** Drives a run, and takes it up again from the journal when storage was lost and came back. */
const execute = async (execution: Execution): Promise<void> => {
  const { store, config, clock, threads } = execution.context
  const run = store.runs.find(execution.run_id)
  const left = Math.max(1, config.run_time_limit_ms - (run?.active_ms ?? 0))
  const cancel = clock.after(left, () => tellToStop(execution, { kind: 'time_limit' }))
  try {
    for (let bugs = 0; bugs < mostBugs;) {
      const ended = await attempt(execution)
      if (ended === 'done') return
      bugs = ended === 'bug' ? bugs + 1 : 0
      threads.forget(execution.session_id)
      execution.undone = false
      // A wait that was cut short is the stop of the daemon: the run stays as it is, for the next start.
      if (execution.stop?.kind === 'shutdown' || !(await clock.sleep(retryMs))) return
    }
    await giveUp(execution)
  } finally {
    cancel()
    threads.rest(execution.session_id)
  }
}

/** `storage`: it failed on the way and may come back. `bug`: the daemon itself cannot go on. */
const attempt = async (execution: Execution): Promise<'done' | 'storage' | 'bug'> => {
  const {
    log,
    store: { state },
  } = execution.context
  if (state.health.mode === 'closed') return 'done'
  if (state.health.mode !== 'ok') return 'storage'
  try {
    await drive(execution)
    return 'done'
  } catch (error) {
    tellFailure({ log, state }, 'a run could not go on', { run_id: execution.run_id, error })
    return state.health.mode === 'ok' ? 'bug' : 'storage'
  }
}

/** A run that cannot go on, although storage works, fails instead of trying for ever. */
const giveUp = async (execution: Execution): Promise<void> => {
  const error = 'engine_fault: the daemon could not go on with this run; its log says why.'
  await change(execution, (edit) => edit.step({ to: 'failed', error }, { type: 'failed', error })).catch(
    (cause: unknown) =>
      execution.context.log.error('could not mark the run as failed', {
        run_id: execution.run_id,
        error: thrownText(cause),
      }),
  )
}
