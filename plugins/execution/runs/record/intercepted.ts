/** Rulings as the journal keeps them. */
import type { InterceptedNote } from '../../sessions/contract.js'
import type { Moment, Ruling } from '../../interception/contract.js'

/** The ruling as the journal keeps it; undefined if it changes nothing. */
export const noteOf = (
  event: Moment,
  tool_call_id: string | undefined,
  { by, block, permission, updated_input, updated_output, contexts = [] }: Ruling,
): InterceptedNote | undefined => {
  const changes: Partial<InterceptedNote> = {
    ...(block !== undefined && { blocked: block }),
    ...(permission !== undefined && { permission }),
    ...(updated_input !== undefined && { input: updated_input }),
    ...(updated_output !== undefined && { output_changed: true }),
    ...(contexts.length > 0 && { contexts: [...contexts] }),
  }
  if (Object.keys(changes).length === 0) return undefined
  return { event, by: [...by], ...(tool_call_id !== undefined && { tool_call_id }), ...changes }
}

/** Of a ruling at a moment that decides nothing else, or is decided already: what it adds. */
export const additionsOf = ({ by, contexts = [] }: Ruling): Ruling => ({ by, contexts })
