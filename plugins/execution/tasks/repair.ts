/** What an earlier life of the daemon ran is gone with it (tasks-15). */
import type { RepairStep, State } from '../../../core/plugin.js'
import type { SessionTask } from './contract.js'
import type { TaskStore } from './store.js'

const driven = ({ tasks }: TaskStore): SessionTask[] =>
  tasks
    .groups('runner')
    .flatMap((runner) => tasks.ids('runner', runner))
    .flatMap((id) => tasks.find(id) ?? [])

export const taskRepair = (state: State, store: TaskStore): RepairStep<SessionTask> => ({
  id: 'tasks.restart',
  check: () => driven(store),
  fix: (found) =>
    state.commit((tx) => {
      for (const { session_id, id } of found) {
        const task = store.find(session_id, id)
        if (task === undefined) continue
        const { stop_requested: _, silent_since_ms: __, ...metadata } = task.metadata ?? {}
        store.put(tx, {
          ...task,
          status: 'failed',
          updated_at_ms: Math.max(tx.now, task.updated_at_ms),
          metadata: { ...metadata, terminal_reason: 'daemon_restarted', recovered_on_boot: true },
        })
      }
    }),
})
