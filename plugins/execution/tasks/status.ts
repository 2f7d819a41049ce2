import { integer, object } from '../../../core/plugin.js'
import type { StatusSection } from '../../operator/status/contract.js'
import { taskStatuses } from './contract.js'
import type { TaskStore } from './store.js'

const count = () => integer({ min: 0 })

/** The section `tasks` of the status (tasks-5). */
export const tasksSection = ({ tasks }: TaskStore): StatusSection => ({
  name: 'tasks',
  schema: object({
    live_background_shell_task_count: count(),
    total: count(),
    pending: count(),
    in_progress: count(),
    blocked: count(),
    completed: count(),
    failed: count(),
    cancelled: count(),
  }),
  collect: () => {
    const counts = taskStatuses.map((status): [string, number] => [status, tasks.count('status', status)])
    return {
      live_background_shell_task_count: tasks.count('runner', 'background_shell'),
      total: counts.reduce((sum, [, n]) => sum + n, 0),
      ...Object.fromEntries(counts),
    }
  },
})
