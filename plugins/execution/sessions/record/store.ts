/** Where sessions are kept. */
import type { CollectionSpec } from '../../../../core/plugin.js'
import type { SessionSettings } from '../settings/settings.js'

/** What the daemon keeps of a session; everything else is in its journal and its runs. Times in Unix ms. */
export type SessionRecord = SessionSettings & {
  readonly session_id: string
  readonly agent_id: string
  readonly thread_id?: string
  readonly created_at_ms: number
  readonly ended_at_ms?: number
  readonly end_reason?: string
}

export const sessionCollection: CollectionSpec<SessionRecord> = {
  name: 'sessions',
  version: 2,
  id: (session) => session.session_id,
  indexes: { all: { group: () => 'all' }, persona: { group: ({ persona }) => persona?.persona_id } },
  settled: () => true,
}
