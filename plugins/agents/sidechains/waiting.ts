/** A call that waits for agents, and what it is told of them (agents-14). */
import { beginningOf } from '../../../core/plugin.js'
import type { SessionRecord } from '../../execution/sessions/contract.js'
import type { ToolCall } from '../../execution/tools/contract.js'
import type { SpawnParts } from './spawn.js'
import type { AgentEnd } from './contract.js'
import type { AgentWait, AgentWaits } from './waits.js'

export interface WaitParts extends SpawnParts {
  readonly waits: AgentWaits
}

/** Resolves when they are at rest, or the time is over; the place of the run is others' meanwhile. */
export const waitFor = async (
  { waits, clock }: WaitParts,
  call: Pick<ToolCall, 'run_id' | 'signal' | 'waitFor'>,
  { timeout_ms, ...wanted }: Pick<AgentWait, 'session_ids' | 'how'> & { readonly timeout_ms: number },
): Promise<void> => {
  const over = new AbortController()
  const cancel = clock.after(timeout_ms, () => over.abort())
  const signal = AbortSignal.any([call.signal, over.signal])
  const until_ms = clock.now() + timeout_ms
  const wait = (): Promise<void> => waits.settled({ ...wanted, run_id: call.run_id, until_ms }, signal)
  try {
    await (call.waitFor === undefined ? wait() : call.waitFor(wait))
  } finally {
    cancel()
  }
  call.signal.throwIfAborted()
}

/** Characters of an answer that a call is given. */
const mostAnswer = 32_768

/** How an agent stands, and what it ended with. */
export const endOf = ({ store, sessions, runs }: WaitParts, session: SessionRecord): AgentEnd => {
  const has_runtime = store.isLive(session)
  const standing = { status: sessions.state(session).status, has_runtime }
  const last = has_runtime ? undefined : runs.latest(session.session_id)
  if (last === undefined) return standing
  const { outcome } = runs.texts(last)
  return {
    ...standing,
    last_run_status: last.status,
    ...(outcome !== undefined && { final_output: beginningOf(outcome, mostAnswer) }),
    ...(outcome !== undefined && outcome.length > mostAnswer && { is_cut: true }),
    ...('error' in last && last.error !== undefined && { last_error: last.error }),
  }
}
