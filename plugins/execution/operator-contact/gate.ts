/** A model that may not reach the operator is not told of the tools for it (sessions-34). */
import type { ToolGate } from '../tools/contract.js'
import type { OperatorContact, Sessions } from '../sessions/contract.js'
import { mayNotify } from './contact.js'
import { contactErrors } from './errors.js'

const [ask, notify] = ['ask_operator', 'notify_operator'] as const
const both = new Set([ask, notify])
const asking = new Set([ask])
const notifying = new Set([notify])

export const mayAsk = (contact: OperatorContact | undefined): boolean =>
  contact?.enabled === true && contact.allow_questions

const hidden = (contact: OperatorContact | undefined): ReadonlySet<string> | undefined => {
  if (mayNotify(contact)) return mayAsk(contact) ? undefined : asking
  return mayAsk(contact) ? notifying : both
}

export const contactGate = (sessions: Sessions): ToolGate => ({
  id: 'operator-contact',
  hidden: (session_id) => hidden(sessions.find(session_id)?.operator),
  refusal: (name) => contactErrors.operator_contact_off({ details: { what: name === ask ? 'asked' : 'notified' } }),
})
