/** What waits in the mailbox of an agent (explanations-10). */
import { commandLine, count } from '../../../core/plugin.js'
import type { ReasonSource } from '../../operator/explanations/contract.js'
import type { MessageStore } from './store.js'

export const mailReasons = (store: MessageStore): ReasonSource => ({
  id: 'mailboxes',
  of({ kind, id }) {
    const waiting = kind === 'agent' ? store.waiting(id) : 0
    const [first] = waiting === 0 ? [] : store.pending(id, 1)
    if (first === undefined) return []
    const { created_at_ms, next_attempt_at_ms, last_error, delivery_attempts } = first
    const failed =
      last_error === undefined
        ? 'read when it has nothing else to do'
        : `tried again, for ${count(delivery_attempts, 'attempt')} failed`
    return [
      {
        code: 'mail',
        text: `${count(waiting, 'message')} in its mailbox ${waiting === 1 ? 'is' : 'are'} to be ${failed}.`,
        since_ms: created_at_ms,
        ...(next_attempt_at_ms !== undefined && { until_ms: next_attempt_at_ms }),
        commands: [commandLine('mailboxes list', id)],
      },
    ]
  },
})
