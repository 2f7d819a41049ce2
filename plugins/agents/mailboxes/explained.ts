/** What waits in the mailbox of an agent, and what it never read (explanations-10). */
import { commandLine, count, cutAtWord, sentence, visibleLine } from '../../../core/plugin.js'
import type { Reason, ReasonSource } from '../../operator/explanations/contract.js'
import type { MessageStore } from './store.js'

/** Characters of a failure that are told. */
const mostText = 300

const waitingReason = (store: MessageStore, id: string): readonly Reason[] => {
  const waiting = store.waiting(id)
  const [first] = waiting === 0 ? [] : store.pending(id, 1)
  if (first === undefined) return []
  const { message_id, created_at_ms, next_attempt_at_ms, last_error, delivery_attempts } = first
  const failed =
    last_error === undefined
      ? 'read when it has nothing else to do'
      : `tried again; ${count(delivery_attempts, 'attempt')} failed: ${visibleLine(cutAtWord(last_error, mostText))}`
  return [
    {
      code: 'mail',
      text: sentence(`${count(waiting, 'message')} in its mailbox ${waiting === 1 ? 'is' : 'are'} to be ${failed}`),
      since_ms: created_at_ms,
      ...(next_attempt_at_ms !== undefined && { until_ms: next_attempt_at_ms }),
      commands: [
        commandLine('mailboxes list', id),
        ...(last_error === undefined ? [] : [commandLine('mailboxes ack', id, message_id)]),
      ],
    },
  ]
}

const deadReason = (store: MessageStore, id: string): readonly Reason[] => {
  const dead = store.dead(id)
  if (dead === 0) return []
  const were = dead === 1 ? 'was never read and is a dead letter' : 'were never read and are dead letters'
  const text = `${count(dead, 'message')} to it ${were}.`
  return [{ code: 'dead_letters', text, commands: [commandLine('mailboxes dead-letter', id)] }]
}

export const mailReasons = (store: MessageStore): ReasonSource => ({
  id: 'mailboxes',
  of: ({ kind, id }) => (kind === 'agent' ? [...waitingReason(store, id), ...deadReason(store, id)] : []),
})
