/** What models are told of the session: who they are (personas-8). */
import type { SystemSection } from '../models/contract.js'
import type { Sessions } from './contract.js'

export const personaSection = (sessions: Sessions): SystemSection => ({
  id: 'persona',
  rank: 10,
  text: ({ session_id }) => sessions.find(session_id)?.persona?.soul,
})
