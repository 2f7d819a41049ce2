/** What is still to come of a run that has ended (explanations-7). */
import { commandLine, count } from '../../../../core/plugin.js'
import type { DeliveryView } from '../../deliveries/contract.js'
import { refusalParts, usageLine } from '../../../operator/usage/contract.js'
import type { Reason } from '../../../operator/explanations/contract.js'
import type { TerminalRun } from '../record/run-record.js'
import type { ControlContext } from '../lifecycle/executor.js'
import { lackingReasons } from './lacking.js'

const deliveryReason = (delivery: DeliveryView, now: number): readonly Reason[] => {
  const { delivery_id, status, plugin, attempts, last_error, terminal_error, next_attempt_at_ms } = delivery
  const [get, replay] = [commandLine('deliveries get', delivery_id), commandLine('deliveries replay', delivery_id)]
  if (status === 'dead_lettered')
    return delivery.dead_letter_resolved_at_ms !== undefined
      ? []
      : [
          {
            code: 'dead_letter',
            text: `An output did not arrive by ${plugin}, and is not tried again (${terminal_error ?? 'no code'}).`,
            commands: [replay, commandLine('deliveries resolve', delivery_id)],
          },
        ]
  if (status === 'delivered') return []
  const failed =
    attempts === 0 || last_error === undefined ? '' : `: ${count(attempts, 'attempt')} failed (${last_error})`
  return [
    {
      code: 'delivery',
      text: `An output is on its way by ${plugin}${failed}.`,
      ...(next_attempt_at_ms !== undefined && next_attempt_at_ms > now && { until_ms: next_attempt_at_ms }),
      commands: [get],
    },
  ]
}

type EndParts = Pick<ControlContext, 'store' | 'clock' | 'missing' | 'sessions' | 'books'>

const notCompleted = (context: EndParts, run: TerminalRun): readonly Reason[] => {
  const { run_id, kind, session_id, origin } = run
  const still = (behind = ''): Reason => ({ code: 'not_completed', text: `It does not go on by itself${behind}.` })
  if (kind === 'channel_delivery') return [still(', and a retry of it would say nothing in a channel')]
  if (origin?.project_task_id !== undefined) return [still(', and a retry of it would leave its task as it is')]
  const refused = context.books()?.refusal({ session_id })
  // A retry would be refused as well.
  if (refused !== undefined)
    return [
      { code: 'budget', text: refusalParts(refused).message, commands: [usageLine(refused, session_id)] },
      still(),
    ]
  const lacking = lackingReasons(context, session_id)
  return lacking.length > 0 ? [...lacking, still()] : [{ ...still(), commands: [commandLine('runs retry', run_id)] }]
}

export const endReasons = (context: EndParts, run: TerminalRun): readonly Reason[] => {
  const { store, clock } = context
  const { run_id, status, unacknowledged } = run
  const deliveries = run.outputs === undefined ? [] : (store.outbox()?.ofRun(run_id).views ?? [])
  return [
    ...(unacknowledged === true
      ? [
          {
            code: 'unknown_outcome',
            text: 'Of an effect of it nobody can tell whether it happened.',
            commands: [commandLine('runs actions', run_id), commandLine('runs acknowledge', run_id)],
          },
        ]
      : []),
    ...(status === 'completed' ? [] : notCompleted(context, run)),
    ...deliveries.flatMap((delivery) => deliveryReason(delivery, clock.now())),
  ]
}
