/** Which refusals of updates are for good (telegram-22). */
import { Problem } from '../../../../core/plugin.js'

/** Reasons of refusals that a repetition does not mend: the update is passed over (telegram-22). */
const lasting: ReadonlySet<unknown> = new Set([
  'session_missing',
  'session_policy',
  'session_bound',
  'other_payload',
  'event_expired',
  'session_unresolved',
  'persona_missing',
])
const passing: ReadonlySet<unknown> = new Set(['not_set_up', 'not_possible'])

/** Whether an update that was refused would be refused again. */
export const isLasting = (error: unknown): boolean => {
  if (!(error instanceof Problem)) return false
  const { status } = error.spec
  const reason = error.occurrence.members?.['reason']
  if (passing.has(reason)) return false
  return lasting.has(reason) || status === 400 || status === 404 || status === 413 || status === 422
}
