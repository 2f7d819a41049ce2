import {
  array,
  defineRoute,
  doc,
  jsonReply,
  object,
  optional,
  string,
  unsafeCast,
  type Route,
  type State,
} from '../../../core/plugin.js'
import { DeadLetter, mostDeadLetters, type DeadLetters } from './dead-letters.js'
import { HookMap } from './definitions.js'
import { hookErrors } from './errors.js'

export interface HookRouteParts {
  readonly state: State
  readonly letters: DeadLetters
  readonly hooks: () => HookMap
}

const base = '/v1/runtime/hooks'

export const hookRoutes = ({ state, letters, hooks }: HookRouteParts): readonly Route[] => [
  defineRoute({
    id: 'hooks.get',
    method: 'GET',
    path: base,
    summary: 'The hooks in force, with their secrets.',
    access: 'admin',
    reply: jsonReply(object({ hooks: HookMap })),
    handler: () => ({ hooks: hooks() }),
  }),
  defineRoute({
    id: 'hooks.dead_letters',
    method: 'GET',
    path: `${base}/dead-letter`,
    summary: `Invocations that failed for good, the newest first; ${mostDeadLetters} are kept.`,
    access: 'admin',
    reply: jsonReply(object({ dead_letters: array(DeadLetter) })),
    handler: () => ({ dead_letters: letters.list() }),
  }),
  defineRoute({
    id: 'hooks.resolve_dead_letter',
    method: 'POST',
    path: `${base}/dead-letter/:dead_letter_id/resolve`,
    summary: 'Says that somebody has looked at a failed invocation; a second time changes nothing.',
    access: 'admin',
    params: object({ dead_letter_id: doc(string({ min: 1, max: 200 }), 'Id of the dead letter.') }),
    body: object({ reason: optional(doc(string({ max: 4_000 }), 'What was found.')) }),
    bodyOptional: true,
    reply: jsonReply(DeadLetter),
    problems: [hookErrors.dead_letter_not_found],
    durability: 'A',
    example: { body: { reason: 'The script is mended.' } },
    handler: async ({ params: { dead_letter_id }, body: { reason } }) => {
      await state.commit((tx) => {
        const letter = letters.collection.find(dead_letter_id)
        if (letter === undefined) throw hookErrors.dead_letter_not_found({ details: { dead_letter_id } })
        if (letter.resolved_at_ms === undefined) letters.resolve(tx, letter, reason)
      })
      const resolved = letters.collection.find(dead_letter_id)
      if (resolved === undefined) throw hookErrors.dead_letter_not_found({ details: { dead_letter_id } })
      return unsafeCast<DeadLetter>(resolved)
    },
  }),
]
