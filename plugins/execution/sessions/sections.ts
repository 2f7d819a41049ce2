/** What models are told of the session: who they are (personas-8). */
import type { SystemSection } from '../models/contract.js'
import type { PersonaSource, Sessions } from './contract.js'

export const personaSection = (sessions: Sessions, personas: PersonaSource): SystemSection => ({
  id: 'persona',
  rank: 10,
  character: true,
  text({ session_id }) {
    const persona = sessions.find(session_id)?.persona
    return persona === undefined ? undefined : (persona.soul ?? personas.soul(persona.soul_sha256))
  },
})
