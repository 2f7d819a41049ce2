import { array, digest, doc, notBlank, object, optional, string } from '../../../core/plugin.js'
import { defineTool, failedCall, type Tool } from '../../execution/tools/contract.js'
import type { Assets } from '../../media/assets/contract.js'
import { agentErrors, type Agents } from '../sidechains/contract.js'
import type { Sessions } from '../../execution/sessions/contract.js'
import type { Mailboxes } from './contract.js'
import { mailboxErrors } from './errors.js'
import { checkFiles } from './files.js'
import { MailItem } from './mail-item.js'

export interface MailToolParts {
  readonly agents: Agents
  readonly sessions: Pick<Sessions, 'get'>
  readonly assets: () => Assets | undefined
  readonly post: Mailboxes['post']
}

const isEmpty = (message = '', more: readonly (string | MailItem)[]): boolean =>
  [message, ...more].every(
    (one) => (typeof one === 'string' ? one : one.type === 'text' ? one.text : 'named').trim() === '',
  )

/** The message is sent in the commit of the call's outcome: a call that is made again has sent none. */
export const messageTool = ({ agents, sessions, assets, post }: MailToolParts): Tool =>
  defineTool({
    name: 'message_agent',
    seldom: true,
    description:
      'Sends a message to another agent of your tree. It reads it in a run of its own as soon as it has nothing else ' +
      'to do; an answer comes to you the same way.',
    input: object({
      agent_id: string({ min: 1, max: 400 }),
      subject: string({ min: 1, max: 400, pattern: notBlank }),
      message: optional(doc(string({ max: 32_768 }), 'What you have to say.')),
      asset_ids: optional(doc(array(string({ min: 1, max: 400 }), { max: 100 }), 'Stored files that it is about.')),
      input_items: optional(doc(array(MailItem, { max: 100 }), 'Texts, and stored files that it is about.')),
      message_type: optional(string({ min: 1, max: 200 })),
    }),
    effect: 'idempotent',
    permission: 'allow',
    parallel: false,
    in_plan_mode: true,
    timeout_ms: 10_000,
    sandbox: 'read_only',
    run: ({ agent_id, subject, message, asset_ids, input_items, message_type }, call) => {
      const from = agents.get(sessions.get(call.session_id).agent_id)
      if (agents.get(agent_id).root_agent_id !== from.root_agent_id)
        return failedCall(agentErrors.agent_not_found({ details: { agent_id } }))
      if (isEmpty(message, [...(asset_ids ?? []), ...(input_items ?? [])]))
        return failedCall(mailboxErrors.message_empty())
      const message_id = `message_${digest(call.key).slice(0, 26)}`
      const payload = {
        ...(message_type !== undefined && { type: message_type }),
        ...(message !== undefined && { text: message }),
        ...(asset_ids !== undefined && { asset_ids }),
        ...(input_items !== undefined && { input_items }),
      }
      checkFiles(assets(), payload, '')
      const letter = { from_agent_id: from.session.agent_id, to_agent_id: agent_id, subject, message_id, payload }
      return {
        type: 'result',
        output: { message_id, to: agent_id },
        apply: (tx) => void post(tx, letter),
      }
    },
  })
