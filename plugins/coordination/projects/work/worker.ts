/** Has tasks follow their runs: whenever one may have changed, and at a start for what an earlier life left. */
import { canonical, createPause, tellFailure, type Clock, type Events, type Log } from '../../../../core/plugin.js'
import type { Runs } from '../../../execution/runs/contract.js'
import { SessionStateChanged } from '../../../execution/sessions/contract.js'
import type { ProjectStore } from '../record/store.js'
import { caughtUp } from './projection.js'

export interface WorkerParts {
  readonly store: ProjectStore
  readonly runs: Runs
  readonly events: Events
  readonly log: Log
  readonly clock: Clock
}

/** Pause before what could not be kept is looked at again, milliseconds. */
const againMs = 1000

/** Writes what its run has made of a task. No commit where that is how it is. */
export const catchUp = async ({ store, runs }: Pick<WorkerParts, 'store' | 'runs'>, key: string): Promise<void> => {
  const task = store.tasks.find(key)
  if (task?.follows !== true || canonical(caughtUp(runs, task)) === canonical(task)) return
  await store.state.commit((tx) => {
    const now = store.tasks.find(key)
    const next = now === undefined ? undefined : caughtUp(runs, now)
    if (next !== undefined && canonical(next) !== canonical(now)) store.putTask(tx, next)
  })
}

/** Returns its end, which waits for what is being written. */
export const beginFollowing = (parts: WorkerParts): (() => Promise<void>) => {
  const { store, runs, events, log, clock } = parts
  const { tasks, state } = store
  const busy = new Set<Promise<void>>()
  let isOver = false
  const consider = (key: string): Promise<void> => {
    const done = catchUp(parts, key)
      .catch((error: unknown) => {
        tellFailure({ log, state }, 'a task could not follow its run', { project_task: key, error })
        if (!isOver) clock.after(againMs, () => consider(key))
      })
      .finally(() => busy.delete(done))
    busy.add(done)
    return done
  }
  const look = (index: string, group: string): void => {
    if (isOver || tasks.count('follows', 'all') === 0) return
    for (const key of tasks.ids(index, group)) void consider(key)
  }
  const sweep = async (): Promise<void> => {
    const pause = createPause(1)
    for (const key of tasks.ids('follows', 'all')) {
      if (isOver) return
      await consider(key)
      await pause()
    }
  }
  const undo = [
    runs.onEnded(({ run_id }) => look('run', run_id)),
    events.on(SessionStateChanged, ({ session_id }) => look('follows_session', session_id)),
  ]
  const swept = sweep()
  return async () => {
    isOver = true
    for (const one of undo) one()
    await Promise.allSettled([swept, ...busy])
  }
}
