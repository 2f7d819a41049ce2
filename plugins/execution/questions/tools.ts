import {
  array,
  boolean,
  defaulted,
  doc,
  integer,
  latestTime,
  object,
  optional,
  string,
  type Clock,
  type Infer,
} from '../../../core/plugin.js'
import { type Sessions } from '../sessions/contract.js'
import { contactErrors } from '../operator-contact/contract.js'
import { defineTool, failedCall, type Tool, type ToolOutcome } from '../tools/contract.js'
import { questionErrors } from './errors.js'

export const AskInput = object({
  questions: array(
    object({
      header: defaulted(doc(string({ max: 200 }), 'A few words that name the matter.'), ''),
      question: string({ min: 1, max: 4000 }),
      options: array(
        object({
          label: string({ min: 1, max: 400 }),
          description: optional(string({ max: 4000 })),
          preview: optional(string({ max: 20_000 })),
        }),
        { min: 2, max: 4 },
      ),
      multi_select: defaulted(boolean(), false),
    }),
    { min: 1, max: 4 },
  ),
  expires_at_ms: optional(
    doc(
      integer({ min: 1, max: latestTime }),
      'When the question expires, Unix milliseconds: then nobody can answer it any more.',
    ),
  ),
  expires_after_ms: optional(doc(integer({ min: 1, max: 365 * 86_400_000 }), 'The same, from now on.')),
})

/** Asking changes nothing outside, so it may be repeated until the question is recorded. */
const asking = { input: AskInput, effect: 'read', parallel: false, timeout_ms: 10_000, sandbox: 'inherited' } as const

/** The outcome of a call that asks. */
export const ask = (
  clock: Clock,
  { questions, expires_at_ms, expires_after_ms }: Infer<typeof AskInput>,
): ToolOutcome => {
  if (expires_at_ms !== undefined && expires_after_ms !== undefined)
    return failedCall(questionErrors.question_expiry_ambiguous())
  if (expires_at_ms !== undefined && expires_at_ms <= clock.now())
    return failedCall(questionErrors.question_expiry_past())
  const expires = expires_at_ms ?? (expires_after_ms === undefined ? undefined : clock.now() + expires_after_ms)
  const drafts = questions.map(({ options, ...question }) => ({ ...question, options: options.map(withoutGaps) }))
  return { type: 'ask', ask: { questions: drafts, ...(expires !== undefined && { expires_at_ms: expires }) } }
}

/** The tool by which a model asks whoever uses the session. */
export const askUserQuestion = (clock: Clock): Tool =>
  defineTool({
    ...asking,
    name: 'ask_user_question',
    description: 'Asks the user one to four questions with options and waits for the answers.',
    run: (input) => ask(clock, input),
  })

/**
 * The tool by which a model asks the operator: an ordinary question, if the session's contact lets it ask
 * (sessions-27).
 */
export const askOperator = (clock: Clock, sessions: Sessions): Tool =>
  defineTool({
    ...asking,
    name: 'ask_operator',
    seldom: true,
    description: 'Asks the operator of this session one to four questions with options and waits for the answers.',
    run: (input, { session_id }) => {
      const contact = sessions.find(session_id)?.operator
      return contact?.enabled === true && contact.allow_questions
        ? ask(clock, input)
        : failedCall(contactErrors.operator_contact_off({ details: { what: 'asked' } }))
    },
  })

const withoutGaps = ({
  label,
  description,
  preview,
}: {
  label: string
  description?: string | undefined
  preview?: string | undefined
}) => ({
  label,
  ...(description !== undefined && { description }),
  ...(preview !== undefined && { preview }),
})
