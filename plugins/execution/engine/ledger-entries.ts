/** Tool calls in the ledger of effects: what let them act, what is about to be done, and what came of it. */
import { digest, isJsonObject, type Json, type Tx } from '../../../core/plugin.js'
import type { ActionIntent, ActionOutcome } from '../external-actions/contract.js'
import type { OutcomeState } from '../sessions/contract.js'
import type { Execution } from './execution.js'
import type { Ready } from './tool-call.js'
import type { Call } from './thread/turn.js'

/** One attempt of a call, as the ledger names it. */
export interface Attempt {
  readonly action_id: string
  readonly attempt: number
}

/** The key of a call: the same for a repetition after a restart, and for no other call. */
export const keyOf = (run_id: string, turn: number, { part }: Call): string => `${run_id}/${turn}/${part.id}`

/** The latest attempt of a call. */
export const attemptOf = (run_id: string, turn: number, call: Call): Attempt => ({
  action_id: keyOf(run_id, turn, call),
  attempt: call.state.type === 'intended' ? call.state.attempts : 1,
})

/** Adds the intent of a call to the commit that is durable before it is made. */
export const intendCall = (
  { context, run_id, session_id, agent_id }: Execution,
  tx: Tx,
  { call, tool, input, key, attempt }: Ready,
): void => {
  const intent: ActionIntent = {
    action_id: key,
    kind: 'tool',
    session_id,
    agent_id,
    run_id,
    tool_call_id: call.part.id,
    target: tool.name,
    request_digest: digest(input),
    attempt,
    approved_by: call.grounds ?? { type: 'configuration', id: 'default' },
  }
  context.ledger()?.intend(tx, intent)
}

const codes = /^[a-z][a-z0-9_]{0,63}$/u
const codeOf = (output: Json): string | undefined => {
  const error = isJsonObject(output) ? output['error'] : undefined
  const code = isJsonObject(error) ? error['code'] : undefined
  return typeof code === 'string' && codes.test(code) ? code : undefined
}

/** Adds what came of a call to the commit of its outcome. */
export const concludeCall = (
  { context, session_id }: Execution,
  tx: Tx,
  { state, output, ...attempt }: Attempt & { readonly state: OutcomeState; readonly output: Json },
): void => {
  const outcome: ActionOutcome['outcome'] = state === 'refused' ? 'failed' : state
  const code = outcome === 'done' ? undefined : codeOf(output)
  context.ledger()?.conclude(tx, {
    ...attempt,
    session_id,
    outcome,
    ...(outcome !== 'unknown' && { response_digest: digest(output) }),
    ...(code !== undefined && { code }),
  })
}
