/** Hooks of operators, and what plugins lend them. Rules: docs/rules/hooks.md. */
import { awaitedByCaller, definePoint, hasMembers, withAnswers, type Json, type Point } from '../../../core/plugin.js'
import type { Invocation } from '../../execution/interception/contract.js'
import { takenOutcome } from './outcome/outcome.js'

/** A function of a plugin that operators can name as the executor of a hook: `{"type":"callback","name":…}`. */
export interface HookCallback {
  readonly name: string
  /**
   * Answers with an outcome as a command prints it, or nothing. Must end within a second when the signal aborts; a
   * throw, and what is no outcome, is a failure of the hook, and may be followed by another call.
   */
  call(invocation: Invocation, signal: AbortSignal): Promise<Json | undefined>
}
/** Callbacks by name. */
export const HookCallbacks: Point<HookCallback> = withAnswers(
  definePoint<HookCallback>(
    'hook-callbacks@1',
    ({ name }) => name,
    hasMembers('a callback for hooks', { name: 'id', call: 'function' }),
  ),
  { call: awaitedByCaller({ take: takenOutcome, otherwise: undefined }) },
)
