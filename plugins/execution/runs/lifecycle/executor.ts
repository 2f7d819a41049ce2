/** Who runs when: one run per session, a limit for all, sessions in turn. */
import type { Boards } from '../../../media/boards/contract.js'
import { TransientsByKey, tellFailure, within, thrownText, type HostView } from '../../../../core/plugin.js'
import type { Interception } from '../../interception/contract.js'
import type { ReservedKey } from '../record/origin.js'
import { editRun } from './run-changes.js'
import type { RunContext, OpenEngine, RunEngine, RunExecution, RunStep } from './run-engine.js'
import type { RunPins, RunRecord, StopRequest } from '../record/run-record.js'
import { activeLane, queuedLane } from '../record/store.js'
import { createLending } from './lending.js'

const notOpen = { compacted: false, code: 'not_ready', message: 'The daemon executes nothing now.' } as const

/** Pause before something is tried again that storage refused. */
const retryMs = 500

export interface Executor {
  /** True if a run may start now. */
  free(): boolean
  /** False while nothing is executed: until a daemon that holds is released, and when it stops. */
  acts(): boolean
  /** Executes a run that is running; when every place is taken it goes before all queued ones. */
  launch(run_id: string): void
  /** A session may have work: its first queued run starts as soon as there is room. */
  wake(session_id: string): void
  executes(run_id: string): boolean
  /** What it does for a run now. */
  standing(run_id: string): Standing
  /** Tells the execution of a run to end; resolves when it has. */
  stop(run_id: string, request: StopRequest): Promise<void>
  /** Sums up the conversation of a session: `OpenEngine.compact`. */
  compact: OpenEngine['compact']
  /** Starts what an earlier life of the daemon left. */
  begin(): void
  /** Lets steps end for a while, then stops them. Runs stay resumable. */
  end(): Promise<void>
}

/** What the executor does for a run now. */
export interface Standing {
  /** Runs that execute, but for those that lend their places. */
  readonly taken: number
  /** It runs already, and waits for a place. */
  readonly wants_place: boolean
  readonly steps: readonly RunStep[]
}

/** What accepts, answers and stops runs. */
export interface ControlContext extends RunContext {
  readonly executor: Executor
  /** Keys of metadata that callers must not write. */
  readonly reserved: () => readonly ReservedKey[]
  /** What of the settings a run that is accepted now keeps. */
  readonly pin: () => RunPins
  /** What runs of a session must have and have not. */
  readonly missing: RunEngine['missing']
  /** May refuse what runs are told; absent while no plugin does. */
  readonly interception: () => Interception | undefined
  readonly host: Pick<HostView, 'leaving'>
  /** Tells of the boards that runs are given; absent while no plugin does. */
  readonly boards: () => Boards | undefined
}

/** A run that is being executed in this life of the daemon. */
interface Active {
  readonly execution: RunExecution
  /** Resolves when the execution has ended. */
  done: Promise<void>
}

export const createExecutor = (context: RunContext, engine: RunEngine): Executor => {
  const { config, store } = context
  const active = new TransientsByKey<Active>()
  /** Runs that run already and wait for a place. */
  const resuming: string[] = []
  /** Sessions whose first queued run may start. */
  const startable = new Set<string>()
  let open: OpenEngine | undefined
  const lending = createLending(() => fill())
  const retryLater = createRetry(context, () => fill())
  const free = (): boolean => open !== undefined && active.size - lending.count() < config.max_concurrent_runs

  const launch = (run_id: string): void => {
    if (active.has(run_id)) return
    if (open === undefined || !free()) return void resuming.push(run_id)
    const run = store.runs.find(run_id)
    if (run?.status !== 'running') return
    const place: Active = { execution: open.take(run, lending.placeOf(run_id)), done: Promise.resolve() }
    active.set(run_id, place)
    place.done = place.execution.run().finally(() => {
      active.delete(run_id)
      lending.end(run_id)
      wake(run.session_id)
    })
  }
  const wake = (session_id: string): void => {
    if (mayStart(context, session_id)) startable.add(session_id)
    fill()
  }
  const fill = (): void => {
    while (free() && lending.takeBack());
    for (let next = resuming.shift(); next !== undefined; next = resuming.shift()) {
      if (!free()) return void resuming.unshift(next)
      launch(next)
    }
    for (const session_id of startable) {
      if (!free()) return
      if (store.state.health.mode !== 'ok') return retryLater()
      startable.delete(session_id)
      const run = startNext(context, session_id, () => {
        startable.add(session_id)
        retryLater()
      })
      if (run !== undefined) launch(run.run_id)
    }
  }
  return {
    free,
    acts: () => open !== undefined,
    launch,
    wake,
    executes: (run_id) => active.has(run_id),
    standing: (run_id) => ({
      taken: active.size - lending.count(),
      wants_place: resuming.includes(run_id) || lending.wantsBack(run_id),
      steps: active.get(run_id)?.execution.steps() ?? [],
    }),
    async stop(run_id, request) {
      const place = active.get(run_id)
      place?.execution.stop(request)
      await place?.done
    },
    compact: async (run, wish) => open?.compact(run, wish) ?? notOpen,
    begin() {
      open = engine.open(context)
      resuming.push(...store.runs.ids('status', 'running'))
      for (const session_id of waitingSessions(context)) startable.add(session_id)
      fill()
    },
    async end() {
      open = undefined
      const executing = active.keys()
      // What they wait for is work of others, which ends as well.
      for (const run_id of lending.lent()) active.get(run_id)?.execution.abort()
      await endAll(context, active.values())
      await release(context, [...executing, ...resuming])
    },
  }
}

/** One timer for all sessions that wait for storage, which tells itself when it takes changes again. */
const createRetry = ({ clock }: RunContext, again: () => void): (() => void) => {
  let waits = false
  return () => {
    if (waits) return
    waits = true
    clock.after(retryMs, () => {
      waits = false
      again()
    })
  }
}

const isFree = ({ store }: RunContext, session_id: string): boolean =>
  store.runs.count('lane', activeLane(session_id)) === 0

const mayStart = (context: RunContext, session_id: string): boolean =>
  context.store.runs.count('lane', queuedLane(session_id)) > 0 && isFree(context, session_id)

/** Sessions with a queued run and nothing in their slot, in the order of these runs. */
const waitingSessions = (context: RunContext): string[] =>
  context.store.runs.ids('status', 'queued').flatMap((id) => {
    const run = context.store.runs.find(id)
    return run !== undefined && isFree(context, run.session_id) ? [run.session_id] : []
  })

/**
 * Starts the first queued run of an idle session. Nobody waits for this commit: the run's acceptance is durable
 * already.
 */
const startNext = (context: RunContext, session_id: string, again: () => void): RunRecord | undefined => {
  const { runs, state } = context.store
  const next = runs.list({ index: 'lane', group: queuedLane(session_id), limit: 1 })[0]
  if (next === undefined || !isFree(context, session_id)) return undefined
  let started: RunRecord | undefined
  const commit = state.commit((tx) => {
    const edit = editRun(context, tx, { ...next, owner: state.health.generation })
    edit.step({ to: 'running' }, { type: 'started' })
    started = edit.save()
  })
  commit.catch((error: unknown) => {
    tellFailure({ log: context.log, state }, 'a run could not be started', { run_id: next.run_id, error })
    again()
  })
  return started
}

const endAll = async ({ clock, config }: RunContext, left: readonly Active[]): Promise<void> => {
  if (left.length === 0) return
  for (const { execution } of left) execution.finish()
  const ended = Promise.all(left.map(({ done }) => done))
  await within(clock, config.drain_ms, ended)
  for (const { execution } of left) execution.abort()
  await within(clock, config.stop_grace_ms, ended)
}

/** Says of runs that go on in the next life, also of those that wait for a place, that no kill cut them off. */
const release = async ({ store, log }: RunContext, run_ids: readonly string[]): Promise<void> => {
  const running = run_ids.flatMap((id) => store.runs.find(id) ?? []).filter(({ status }) => status === 'running')
  if (running.length === 0) return
  await store.state
    .commit((tx) => {
      for (const run of running) tx.put(store.runs, { ...run, released: true })
    })
    .catch((error: unknown) => log.warn('runs could not be released', { error: thrownText(error) }))
}
