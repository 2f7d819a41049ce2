/** Who runs when: one run per session, a limit for all, sessions in turn. */
import { change, tellFailure, type Execution, type EngineParts, type Stop } from './parts.js'
import { drive } from './engine.js'
import { editRun } from './edit.js'
import type { RunRecord } from './contract.js'
import { activeLane, queuedLane } from './store.js'

/** Pause before something is tried again that storage refused. */
const retryMs = 500
/** Faults in a row after which a run fails. */
const mostFaults = 3

export interface Executor {
  /** True if a run may start now. */
  free(): boolean
  /** Executes a run that is running; when every place is taken it goes before all queued ones. */
  launch(run_id: string): void
  /** A session may have work: its first queued run starts as soon as there is room. */
  offer(session_id: string): void
  find(run_id: string): Execution | undefined
  /** Starts what an earlier life of the daemon left. */
  begin(): void
  /** Lets steps end for a while, then stops them. Runs stay resumable. */
  end(): Promise<void>
}

/** What it takes to change runs from outside. */
export interface Desk {
  readonly parts: EngineParts
  readonly executor: Executor
}

export const createExecutor = (parts: EngineParts): Executor => {
  const executions = new Map<string, Execution>()
  const urgent: string[] = []
  const hungry = new Set<string>()
  let open = false
  let looking = false
  const free = (): boolean => open && executions.size < parts.config.max_concurrent_runs

  const launch = (run_id: string): void => {
    if (executions.has(run_id)) return
    if (!free()) return void urgent.push(run_id)
    const run = parts.store.runs.find(run_id)
    if (run?.status !== 'running') return
    const execution = createExecution(parts, run)
    executions.set(run_id, execution)
    execution.done = execute(execution).finally(() => {
      executions.delete(run_id)
      offer(run.session_id)
    })
  }
  const offer = (session_id: string): void => {
    const { runs } = parts.store
    if (runs.count('lane', queuedLane(session_id)) > 0 && runs.count('lane', activeLane(session_id)) === 0)
      hungry.add(session_id)
    pump()
  }
  const pump = (): void => {
    for (let next = urgent.shift(); next !== undefined; next = urgent.shift()) {
      if (!free()) return void urgent.unshift(next)
      launch(next)
    }
    for (const session_id of hungry) {
      if (!free()) return
      if (parts.store.state.health.mode !== 'ok') return lookLater()
      hungry.delete(session_id)
      const run = startNext(parts, session_id, () => {
        hungry.add(session_id)
        lookLater()
      })
      if (run !== undefined) launch(run.run_id)
    }
  }
  /**
   * One timer for all sessions that wait for storage, which itself tells when it refuses changes and takes them
   * again.
   */
  const lookLater = (): void => {
    if (looking || !open) return
    looking = true
    parts.clock.after(retryMs, () => {
      looking = false
      pump()
    })
  }
  return {
    free,
    launch,
    offer,
    find: (run_id) => executions.get(run_id),
    begin() {
      open = true
      const { runs } = parts.store
      urgent.push(...runs.ids('status', 'running'))
      for (const id of runs.ids('status', 'queued')) {
        const run = runs.find(id)
        if (run !== undefined && runs.count('lane', activeLane(run.session_id)) === 0) hungry.add(run.session_id)
      }
      pump()
    },
    async end() {
      open = false
      await endAll(parts, [...executions.values()])
    },
  }
}

const createExecution = (parts: EngineParts, run: RunRecord): Execution => ({
  parts,
  run_id: run.run_id,
  session_id: run.session_id,
  agent_id: run.agent_id,
  controller: new AbortController(),
  stop: run.stopping,
  undone: false,
  failed_at: undefined,
  wake: undefined,
  since: parts.clock.elapsed(),
  done: Promise.resolve(),
})

/** Tells an execution to end; the first reason counts. */
export const tellToStop = (execution: Execution, stop: Stop): void => {
  execution.stop ??= stop
  execution.controller.abort()
}

/**
 * Starts the first queued run of an idle session. Nobody waits for this commit: the run's acceptance is durable
 * already.
 */
const startNext = (parts: EngineParts, session_id: string, again: () => void): RunRecord | undefined => {
  const { runs, state } = parts.store
  const next = runs.list({ index: 'lane', group: queuedLane(session_id), limit: 1 })[0]
  if (next === undefined || runs.count('lane', activeLane(session_id)) > 0) return undefined
  let started: RunRecord | undefined
  const commit = state.commit((tx) => {
    const edit = editRun(parts, tx, { ...next, owner: state.health.generation })
    edit.step({ to: 'running' }, { type: 'started' })
    started = edit.save()
  })
  commit.catch((error: unknown) => {
    tellFailure(parts, 'a run could not be started', { run_id: next.run_id, error })
    again()
  })
  return started
}

/** Drives a run, and takes it up again from the journal when storage was lost and came back. */
const execute = async (execution: Execution): Promise<void> => {
  const run = execution.parts.store.runs.find(execution.run_id)
  const left = Math.max(1, execution.parts.config.run_time_limit_ms - (run?.active_ms ?? 0))
  const cancel = execution.parts.clock.after(left, () => tellToStop(execution, { kind: 'time_limit' }))
  try {
    for (let faults = 0; faults < mostFaults;) {
      const ended = await attempt(execution)
      if (ended === 'done') return
      faults = ended === 'fault' ? faults + 1 : 0
      execution.parts.threads.forget(execution.session_id)
      execution.undone = false
      // A wait that was cut short is the stop of the daemon: the run stays as it is, for the next start.
      if (execution.stop?.kind === 'shutdown' || !(await execution.parts.clock.sleep(retryMs))) return
    }
    await giveUp(execution)
  } finally {
    cancel()
  }
}

/** `storage`: it failed on the way and may come back. `fault`: the daemon itself is at fault. */
const attempt = async (execution: Execution): Promise<'done' | 'storage' | 'fault'> => {
  const { health } = execution.parts.store.state
  if (health.mode === 'closed') return 'done'
  if (health.mode !== 'ok') return 'storage'
  try {
    await drive(execution)
    return 'done'
  } catch (error) {
    tellFailure(execution.parts, 'a run could not go on', { run_id: execution.run_id, error })
    return execution.parts.store.state.health.mode === 'ok' ? 'fault' : 'storage'
  }
}

/** A run that cannot go on, although storage works, fails instead of trying for ever. */
const giveUp = async (execution: Execution): Promise<void> => {
  const error = 'engine_fault: the daemon could not go on with this run; its log says why.'
  await change(execution, (edit) => edit.step({ to: 'failed', error }, { type: 'failed', error })).catch(
    (fault: unknown) =>
      execution.parts.log.error('a run could not be failed', { run_id: execution.run_id, error: String(fault) }),
  )
}

const endAll = async (parts: EngineParts, executions: readonly Execution[]): Promise<void> => {
  if (executions.length === 0) return
  for (const execution of executions) {
    execution.stop ??= { kind: 'shutdown' }
    execution.wake?.()
  }
  const ended = Promise.all(executions.map(({ done }) => done))
  const whole = new AbortController()
  await Promise.race([ended, parts.clock.sleep(parts.config.drain_ms, whole.signal)])
  for (const execution of executions) execution.controller.abort()
  await Promise.race([ended, parts.clock.sleep(parts.config.stop_grace_ms, whole.signal)])
  whole.abort()
  await parts.store.state
    .commit((tx) => {
      for (const { run_id } of executions) {
        const run = parts.store.runs.find(run_id)
        if (run?.status === 'running') tx.put(parts.store.runs, { ...run, released: true })
      }
    })
    .catch((error: unknown) => parts.log.warn('runs could not be released', { error: String(error) }))
}
