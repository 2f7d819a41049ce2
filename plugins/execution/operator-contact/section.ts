/** What models are told of the operator: how to speak to them, and how to reach them (sessions-23). */
import type { SystemSection } from '../models/contract.js'
import type { OperatorContact, Sessions } from '../sessions/contract.js'

const describe = ({
  display_name,
  communication_style,
  allow_notify,
  allow_questions,
}: OperatorContact): string | undefined => {
  if (!allow_notify && !allow_questions) return undefined
  return [
    `${display_name ?? 'A person'} operates this session.`,
    ...(communication_style === undefined ? [] : [`How to speak to them: ${communication_style}`]),
    ...(allow_notify ? ['Use notify_operator to tell them something that cannot wait for the end.'] : []),
    ...(allow_questions ? ['Use ask_operator when you need a decision from them.'] : []),
  ].join('\n')
}

export const contactSection = (sessions: Sessions): SystemSection => ({
  id: 'operator',
  rank: 20,
  text: ({ session_id }) => {
    const contact = sessions.find(session_id)?.operator
    return contact === undefined ? undefined : describe(contact)
  },
})
