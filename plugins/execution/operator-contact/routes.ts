/** Reply targets and operator contact (sessions-19 to sessions-25). */
import { array, defineRoute, having, jsonReply, object, type Caller, type Route } from '../../../core/plugin.js'
import { secretErrors } from '../../operator/secrets/contract.js'
import { deliveryErrors, ReplyHandle, ReplyTargetRequest } from '../deliveries/contract.js'
import { checkClear, contactOf, handlesOf, noContact, type FindOutbox } from './contact.js'
import { contactErrors } from './errors.js'
import {
  OperatorContact,
  SessionId,
  SessionReplyTargetsView,
  sessionErrors,
  shownHandle,
  type SessionRecord,
  type Sessions,
} from '../sessions/contract.js'

export interface ContactRouteParts {
  readonly sessions: Sessions
  readonly outbox: FindOutbox
}

const params = object({ session_id: SessionId })
const most = 100
const TargetsBody = object({ reply_targets: array(having('type', ReplyTargetRequest, ReplyHandle), { max: most }) })
const changed = [sessionErrors.session_not_found, sessionErrors.session_not_idle]

export const contactRoutes = (parts: ContactRouteParts): readonly Route[] => [
  ...targetRoutes(parts),
  ...operatorRoutes(parts),
]

const targetsView = ({ reply_targets = [] }: SessionRecord, caller?: Caller): { reply_targets: ReplyHandle[] } => ({
  reply_targets: reply_targets.map((handle) => shownHandle(handle, caller)),
})

/** Who changes which session. */
interface Changing {
  readonly params: { readonly session_id: string }
  readonly caller: Caller
}

const targetRoutes = (parts: ContactRouteParts): readonly Route[] => {
  const shared = { path: '/v1/sessions/:session_id/reply-targets', params, reply: jsonReply(SessionReplyTargetsView) }
  const set = async (
    { params: { session_id }, caller }: Changing,
    handles: () => readonly ReplyHandle[],
  ): Promise<{ reply_targets: ReplyHandle[] }> => {
    await parts.sessions.change(session_id, {
      name: 'reply_targets',
      next: (session) => {
        const targets = handles()
        checkClear(session, targets)
        return targets
      },
    })
    return targetsView(parts.sessions.get(session_id), caller)
  }
  const replace = (method: 'POST' | 'PUT', id: string): Route =>
    defineRoute({
      ...shared,
      id,
      method,
      summary: 'Sets where the outputs of a session go. An empty list is an explicit clear.',
      access: 'admin',
      durability: 'A',
      body: TargetsBody,
      problems: [
        ...changed,
        deliveryErrors.reply_target_invalid,
        secretErrors.secrets_key_unusable,
        contactErrors.reply_targets_needed,
      ],
      example: { body: { reply_targets: [{ type: 'http', url: 'https://example.com/outputs' }] } },
      handler: (input) => set(input, () => handlesOf(parts.outbox(), input.body.reply_targets)),
    })
  return [
    defineRoute({
      ...shared,
      id: 'sessions.reply_targets.get',
      method: 'GET',
      summary: 'Reads where the outputs of a session go.',
      access: 'read',
      problems: [sessionErrors.session_not_found],
      handler: (input) => targetsView(parts.sessions.get(input.params.session_id), input.caller),
    }),
    replace('POST', 'sessions.reply_targets.set'),
    replace('PUT', 'sessions.reply_targets.replace'),
    defineRoute({
      ...shared,
      id: 'sessions.reply_targets.clear',
      method: 'DELETE',
      summary: 'Clears the reply targets of a session, which is remembered.',
      access: 'admin',
      durability: 'A',
      problems: [...changed, contactErrors.reply_targets_needed],
      handler: (input) => set(input, () => []),
    }),
  ]
}

const operatorRoutes = (parts: ContactRouteParts): readonly Route[] => {
  const shared = { path: '/v1/sessions/:session_id/operator', params, reply: jsonReply(OperatorContact) }
  const set = async (session_id: string, contact: OperatorContact): Promise<OperatorContact> => {
    await parts.sessions.change(session_id, {
      name: 'operator',
      next: (session) => contactOf(parts.outbox(), session, contact),
    })
    return parts.sessions.get(session_id).operator ?? noContact
  }
  const replace = (method: 'POST' | 'PUT', id: string): Route =>
    defineRoute({
      ...shared,
      id,
      method,
      summary: 'Sets whether and how the model may contact the operator.',
      access: 'admin',
      durability: 'A',
      body: OperatorContact,
      problems: [...changed, contactErrors.operator_contact_unsafe, contactErrors.reply_targets_needed],
      example: { body: { enabled: true, display_name: 'Robin', allow_notify: false } },
      handler: (input) => set(input.params.session_id, input.body),
    })
  return [
    defineRoute({
      ...shared,
      id: 'sessions.operator.get',
      method: 'GET',
      summary: 'Reads whether and how the model may contact the operator.',
      access: 'read',
      problems: [sessionErrors.session_not_found],
      handler: (input) => parts.sessions.get(input.params.session_id).operator ?? noContact,
    }),
    replace('POST', 'sessions.operator.set'),
    replace('PUT', 'sessions.operator.replace'),
    defineRoute({
      ...shared,
      id: 'sessions.operator.clear',
      method: 'DELETE',
      summary: 'Lets the model contact the operator no longer.',
      access: 'admin',
      durability: 'A',
      problems: changed,
      handler: (input) => set(input.params.session_id, noContact),
    }),
  ]
}
