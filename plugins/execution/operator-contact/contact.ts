/**
 * Whether and how the model may contact the operator, and where outputs go: the two settings that bind each other
 * (sessions-25).
 */
import { Problem } from '../../../core/plugin.js'
import { deliveryErrors, type Outbox, type ReplyHandle, type ReplyTargetRequest } from '../deliveries/contract.js'
import type { OperatorContact, SessionRecord } from '../sessions/contract.js'
import { contactErrors } from './errors.js'
import { unsafeText } from './operator-text.js'

export type FindOutbox = () => Outbox | undefined

/** What holds for a session without a contact. */
export const noContact: OperatorContact = { enabled: false, allow_notify: true, allow_questions: true }

/** Requested targets as handles. Without a plugin that delivers, no target is known. */
export const handlesOf = (
  outbox: Outbox | undefined,
  targets: readonly (ReplyTargetRequest | ReplyHandle)[],
): ReplyHandle[] => {
  if (outbox !== undefined || targets.length === 0) return outbox?.normalize(targets, 'body.reply_targets') ?? []
  throw deliveryErrors.reply_target_invalid({
    errors: [{ path: 'body.reply_targets.0', rule: 'must be for a plugin that takes replies' }],
  })
}

const isDeliverable = (outbox: Outbox, handle: ReplyHandle): boolean => {
  try {
    return outbox.normalize([handle], '').length > 0
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}

/** The targets that a plugin of this daemon delivers to, as far as their addresses tell. */
export const deliverable = (outbox: Outbox | undefined, { reply_targets = [] }: SessionRecord): ReplyHandle[] =>
  outbox === undefined ? [] : reply_targets.filter((handle) => isDeliverable(outbox, handle))

export const mayNotify = (contact: OperatorContact | undefined): boolean =>
  contact?.enabled === true && contact.allow_notify

/** Targets must not go while the model may notify through them. */
export const checkClear = ({ session_id, operator }: SessionRecord, targets: readonly ReplyHandle[]): void => {
  if (targets.length > 0 || !mayNotify(operator)) return
  throw contactErrors.reply_targets_needed({
    details: { session_id },
    errors: [{ path: 'body.reply_targets', rule: 'must not be empty while allow_notify is on' }],
  })
}

const shownField = (
  contact: OperatorContact,
  field: 'display_name' | 'communication_style',
): { [F in typeof field]?: string } => {
  const text = contact[field]?.trim()
  if (text === undefined || text === '') return {}
  const what = unsafeText(text)
  if (what !== undefined)
    throw contactErrors.operator_contact_unsafe({
      details: { field, what },
      errors: [{ path: `body.${field}`, rule: `must not hold ${what}` }],
    })
  return { [field]: text }
}

/** A contact as it is stored: checked, blank texts left out; undefined if it is off. */
export const contactOf = (
  outbox: Outbox | undefined,
  session: SessionRecord,
  contact: OperatorContact,
): OperatorContact | undefined => {
  const { enabled, allow_notify, allow_questions } = contact
  const stored: OperatorContact = {
    enabled,
    ...shownField(contact, 'display_name'),
    ...shownField(contact, 'communication_style'),
    allow_notify,
    allow_questions,
  }
  if (!enabled) return undefined
  if (!mayNotify(stored) || deliverable(outbox, session).length > 0) return stored
  throw contactErrors.reply_targets_needed({
    details: { session_id: session.session_id },
    errors: [
      {
        path: 'body.allow_notify',
        rule: 'must be false while the session has no reply target that can be delivered to',
      },
    ],
  })
}
