/**
 * What runs behind a session ends with it. A daemon that dies in between leaves nothing running, so its next start has
 * nothing to stop.
 */
import { tellFailure, type Events, type Log } from '../../../core/plugin.js'
import { SessionStateChanged, type Sessions } from '../sessions/contract.js'
import { stopTask, type StopParts } from './stop.js'

export interface SessionEndParts extends StopParts {
  readonly sessions: Sessions
  readonly events: Events
  readonly log: Log
}

export const watchSessionEnds = (parts: SessionEndParts): (() => void) =>
  parts.events.on(SessionStateChanged, ({ session_id }) =>
    parts.sessions.find(session_id)?.ended_at_ms === undefined ? undefined : stopTasks(parts, session_id),
  )

const stopTasks = async (parts: SessionEndParts, session_id: string): Promise<void> => {
  const running = parts.store.openIn(session_id).filter(({ runner }) => runner !== undefined)
  await Promise.all(
    running.map(({ id: task_id }) =>
      stopTask(parts, { session_id, task_id, reason: 'the session was ended' }).catch((error: unknown) =>
        tellFailure(parts, 'a task of an ended session could not be stopped', { task_id, error }),
      ),
    ),
  )
}
