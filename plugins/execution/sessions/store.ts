import type { CollectionSpec } from '../../../core/plugin.js'
import type { SessionRecord } from './contract.js'

export const sessionCollection: CollectionSpec<SessionRecord> = {
  name: 'sessions',
  version: 1,
  id: (session) => session.session_id,
  indexes: { all: { group: () => 'all' }, persona: { group: ({ persona }) => persona?.persona_id } },
}
