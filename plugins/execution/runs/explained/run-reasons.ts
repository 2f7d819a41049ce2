/** Why a run does not go on, by its status. */
import type { ReasonSource } from '../../../operator/explanations/contract.js'
import type { ControlContext } from '../lifecycle/executor.js'
import { endReasons } from './ended.js'
import { queueReasons, requestReasons } from './waiting.js'
import { workReasons } from './working.js'

export const runReasons = (context: ControlContext): ReasonSource => ({
  id: 'runs',
  of({ kind, id }) {
    const run = kind === 'run' ? context.store.runs.find(id) : undefined
    if (run === undefined) return []
    if (run.status === 'queued') return queueReasons(context, run)
    if (run.status === 'running') return workReasons(context, run)
    return 'finished_at_ms' in run ? endReasons(context.store, run) : requestReasons(context, run)
  },
})
