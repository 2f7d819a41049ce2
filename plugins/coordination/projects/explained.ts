/** What a run is there for, where a task of a project is. */
import { commandLine } from '../../../core/plugin.js'
import type { ReasonSource } from '../../operator/explanations/contract.js'
import type { ProjectStore } from './record/store.js'

/** Tasks that are named of one run. */
const mostNamed = 3

export const taskReasons = ({ tasks }: ProjectStore): ReasonSource => ({
  id: 'projects',
  of({ kind, id }) {
    if (kind !== 'run' || tasks.count('run', id) === 0) return []
    return tasks
      .list({ index: 'run', group: id, limit: mostNamed })
      .filter(({ follows }) => follows === true)
      .map(({ project_id, project_task_id, title }) => ({
        code: 'project_task',
        text: `It does the task ${JSON.stringify(title)} of the project ${project_id}, which follows it.`,
        commands: [commandLine('projects tasks get', project_id, project_task_id)],
      }))
  },
})
