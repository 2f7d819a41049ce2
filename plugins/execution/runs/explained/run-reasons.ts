/** Why a run does not go on, by its status. */
import type { ReasonSource } from '../../../operator/explanations/contract.js'
import type { ControlContext } from '../lifecycle/executor.js'
import { activeLane, queuedLane } from '../record/store.js'
import { endReasons } from './ended.js'
import { lackingReasons } from './lacking.js'
import { daemonReasons, queueReasons, requestReasons } from './waiting.js'
import { workReasons } from './working.js'

/** Its open runs say what keeps every run from executing. */
const hasOpen = ({ store: { runs } }: ControlContext, session_id: string): boolean =>
  runs.count('lane', activeLane(session_id)) + runs.count('lane', queuedLane(session_id)) > 0

export const runReasons = (context: ControlContext): ReasonSource => ({
  id: 'runs',
  of({ kind, id, session_id }) {
    if (kind === 'agent')
      return hasOpen(context, session_id) ? [] : [...daemonReasons(context), ...lackingReasons(context, session_id)]
    const run = kind === 'run' ? context.store.runs.find(id) : undefined
    if (run === undefined) return []
    if (run.status === 'queued') return queueReasons(context, run)
    if (run.status === 'running') return workReasons(context, run)
    return 'finished_at_ms' in run ? endReasons(context, run) : requestReasons(context, run)
  },
})
