/** Cancelling a flow: its root run, then whatever else still works for it (flows-13). */
import { inTurns, Problem } from '../../../core/plugin.js'
import { runErrors } from '../../execution/runs/contract.js'
import type { Mailboxes } from '../mailboxes/contract.js'
import type { AgentMail, AgentQuestions } from '../sidechains/contract.js'
import { flowErrors } from './errors.js'
import { look } from './projection.js'
import type { FlowRecord } from './record.js'
import type { Scope } from './scope.js'
import type { Settling, SettleParts } from './settle.js'

export interface CancelParts extends SettleParts {
  readonly mailboxes: () => Mailboxes | undefined
  readonly mail: () => AgentMail | undefined
  readonly questions: () => AgentQuestions | undefined
}

/** A run may start agents until it has ended. */
const mostRounds = 5

/** One that has ended by itself meanwhile stays as it ended. */
const cancelRun = async ({ runs }: SettleParts, run_id: string): Promise<void> => {
  try {
    await runs.cancel(run_id)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== runErrors.run_state_conflict.code) throw error
  }
}

const agentsOf = ({ sessions }: CancelParts, scope: Scope): readonly string[] =>
  scope.sessions.flatMap((id) => sessions.find(id)?.agent_id ?? [])

const whyDiscarded = 'the flow of its reader was cancelled'

/** Takes from agents of a flow what would have them go on: questions to their parents, and messages. */
const stillAgents = async (parts: CancelParts, scope: Scope): Promise<boolean> => {
  const asked = scope.sessions.flatMap((id) => parts.questions()?.askedBy(id)?.run_id ?? [])
  for (const run_id of asked) await cancelRun(parts, run_id)
  const [mail, mailboxes] = [parts.mail(), parts.mailboxes()]
  const readers = agentsOf(parts, scope).filter((agent_id) => (mail?.waiting(agent_id) ?? 0) > 0)
  if (mailboxes !== undefined && readers.length > 0)
    await parts.store.state.commit((tx) => {
      for (const agent_id of readers) mailboxes.discard(tx, agent_id, whyDiscarded)
    })
  return asked.length + readers.length > 0
}

/** One that is not over by the end of its runs is over because somebody says so. */
const mark = ({ store }: SettleParts, flow_id: string): Promise<void> =>
  store.state.commit((tx) => {
    const flow = store.get(flow_id)
    if (flow.settled === undefined && flow.cancelled_at_ms === undefined)
      store.change(tx, flow, { cancelled_at_ms: tx.now })
  })

/** Cancels the runs that go on, and takes back what would begin others; false if there was neither. */
const stopScope = async (parts: CancelParts, flow_id: string, scope: Scope): Promise<boolean> => {
  // An agent whose run is cancelled is free for what waits for it.
  const letGo = parts.mailboxes()?.hold(agentsOf(parts, scope))
  try {
    for (const run_id of scope.open) await cancelRun(parts, run_id)
    // Without its questions and messages it may look as if it had succeeded.
    await mark(parts, flow_id)
    const stilled = await stillAgents(parts, scope)
    return stilled || scope.open.length > 0
  } finally {
    letGo?.()
  }
}

/** Stops what works for a flow until nothing does; false if nothing did. */
const stopAll = async (parts: CancelParts, flow_id: string): Promise<boolean> => {
  for (let round = 0; round < mostRounds; round += 1) {
    const { scope } = await inTurns(look(parts, parts.store.get(flow_id)))
    if (!(await stopScope(parts, flow_id, scope))) return round > 0
  }
  return true
}

/** Rejects with `flow_not_found` and `flow_state_conflict`. */
export const cancelFlow = async (
  parts: CancelParts & Pick<Settling, 'settle'>,
  flow_id: string,
): Promise<FlowRecord> => {
  const { store } = parts
  await parts.settle(flow_id)
  const { settled } = store.get(flow_id)
  const stopped = await stopAll(parts, flow_id)
  if (settled !== undefined && !stopped && settled.status !== 'cancelled')
    throw flowErrors.flow_state_conflict({ details: { flow_id, status: settled.status } })
  await parts.settle(flow_id)
  return store.get(flow_id)
}
