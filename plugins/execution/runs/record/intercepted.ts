/** Rulings as the journal keeps them. */
import type { InterceptedNote } from '../../sessions/contract.js'
import type { Moment, Ruling, RulingPart } from '../../interception/contract.js'

type InterceptedPart = NonNullable<InterceptedNote['parts']>[number]

/** The ruling as the journal keeps it; undefined if it changes nothing, and nobody failed who should have ruled. */
export const noteOf = (
  event: Moment,
  tool_call_id: string | undefined,
  { by, parts = [], block, permission, updated_input, updated_output, contexts = [], gave_rules }: Ruling,
): InterceptedNote | undefined => {
  const changes: Partial<InterceptedNote> = {
    ...(block !== undefined && { blocked: block }),
    ...(permission !== undefined && { permission }),
    ...(updated_input !== undefined && { input: updated_input }),
    ...(updated_output !== undefined && { output_changed: true }),
    ...(contexts.length > 0 && { contexts: [...contexts] }),
    ...(gave_rules === true && { gave_rules }),
  }
  const counted = parts.flatMap((part) => countedOf(part, changes))
  if (Object.keys(changes).length + counted.length === 0) return undefined
  return {
    event,
    by: [...by],
    ...(tool_call_id !== undefined && { tool_call_id }),
    ...changes,
    ...(counted.length > 0 && { parts: counted }),
  }
}

/** Of what somebody did, what this moment can use. */
const countedOf = ({ by, did, reason }: RulingPart, changes: Partial<InterceptedNote>): InterceptedPart[] => {
  const { blocked, permission, input, output_changed, contexts, gave_rules } = changes
  const counts: Readonly<Record<RulingPart['did'][number], unknown>> = {
    block: blocked,
    allow: permission,
    deny: permission,
    ask: permission,
    input,
    output: output_changed,
    context: contexts,
    rules: gave_rules,
    failed: true,
  }
  const left = did.filter((one) => counts[one] !== undefined)
  const isWhy = left.some((one) => one !== 'context')
  return left.length === 0 ? [] : [{ by, did: left, ...(isWhy && reason !== undefined && { reason }) }]
}

/** Of a ruling at a moment that decides nothing else, or is decided already: what it adds. */
export const additionsOf = ({ by, parts, contexts = [], gave_rules }: Ruling): Ruling =>
  Object.assign({ by, contexts }, parts !== undefined && { parts }, gave_rules !== undefined && { gave_rules })
