/** What a run is that is asked to speak, and how long its turn may take (floor-19). */
import { commandLine, count, sentence } from '../../../core/plugin.js'
import type { ReasonSource } from '../../operator/explanations/contract.js'
import { quoted } from './told.js'
import type { FloorStore } from './record/store.js'

export const floorReasons = (store: FloorStore): ReasonSource => ({
  id: 'floor',
  of({ kind, id, status }) {
    const lease = kind === 'run' ? store.ofRun(id) : undefined
    if (lease === undefined) return []
    const { channel_id, queued_candidate_session_ids: queue, expires_at_ms } = lease
    const runs = status === 'running'
    const clock = runs ? 'then the next one may be asked' : 'its time does not run while it waits'
    return [
      {
        code: 'turn',
        text: sentence(
          `It has the floor in the channel ${quoted(channel_id)}, ${count(queue.length, 'session')} behind it; ${clock}`,
        ),
        ...(runs && { until_ms: expires_at_ms }),
        commands: [commandLine('channels leases', channel_id)],
      },
    ]
  },
})
