/** Starting an agent: its session, its record and its first run in one commit (agents-1 and agents-2). */
import {
  fault,
  idempotencyErrors,
  Problem,
  type Clock,
  type Ids,
  type Observers,
  type State,
  type Tx,
} from '../../../core/plugin.js'
import type { Interception } from '../../execution/interception/contract.js'
import { Trace, type Submission } from '../../execution/runs/contract.js'
import type { SessionRecord } from '../../execution/sessions/contract.js'
import type { UsageBooks } from '../../operator/usage/contract.js'
import { agentErrors } from './bounds/errors.js'
import { planAgent, toldBy, type PlanParts, type WantedAgent } from './plan.js'
import type { AgentRecord } from './record.js'
import type { AgentMail, AgentQuestions, SpawnObserver, SubtaskRequest } from './contract.js'
import type { AgentAuditDraft, AgentAuditStore } from './supervision/audit.js'

export interface SpawnParts extends PlanParts {
  readonly state: State
  readonly clock: Clock
  readonly ids: Ids
  readonly audit: AgentAuditStore
  readonly interception: () => Interception | undefined
  readonly mail: () => AgentMail | undefined
  readonly questions: () => AgentQuestions | undefined
  readonly books: () => UsageBooks | undefined
  readonly observers: Pick<Observers<SpawnObserver>, 'tell'>
}

/**
 * The agent, which is durable when this resolves; one that was started by the same request before is that one. Rejects
 * with the problems of `planAgent` and of submissions, and then nothing has changed.
 */
export const spawnAgent = (parts: SpawnParts, wanted: WantedAgent): Promise<AgentRecord> =>
  recordingRefusal(parts, wanted, () => startOnce(parts, wanted))

type Starting = Pick<WantedAgent, 'parent_agent_id' | 'run_id'>

/** A problem with which a start is refused is in the audit (agents-20). */
export const recordingRefusal = async <T>(parts: SpawnParts, by: Starting, act: () => T | Promise<T>): Promise<T> => {
  try {
    return await act()
  } catch (error) {
    if (error instanceof Problem) await tellRefusal(parts, by, error)
    throw error
  }
}

/** A start below an agent that is not there concerns none. */
const tellRefusal = async (
  { audit, sessions }: SpawnParts,
  { parent_agent_id: agent_id, run_id }: Starting,
  { code, message }: Problem,
): Promise<void> => {
  const session = sessions.ofAgent(agent_id)
  if (session === undefined) return
  const { session_id } = session
  const by = run_id === undefined ? {} : { run_id }
  await audit.tell({ event: 'agent_start_refused', agent_id, session_id, ...by, code, reason: message })
}

const startOnce = async (parts: SpawnParts, wanted: WantedAgent): Promise<AgentRecord> => {
  const { clock, state } = parts
  const known = startedBefore(parts, wanted)
  if (known !== undefined) return known
  planAgent(parts, wanted, clock.now())
  const first = await firstRun(parts, wanted)
  return state.commit((tx) => startedBefore(parts, wanted) ?? start(parts, tx, { wanted, first }))
}

/** What it is told first; what a person tells it as those who look at prompts let it pass: no runs and no hooks. */
const firstRun = async (
  { runs, store }: SpawnParts,
  wanted: WantedAgent,
): Promise<Omit<Submission, 'session_id'> | undefined> => {
  const { subtask } = wanted.request
  if (subtask === undefined) return undefined
  const input = inputOf(wanted, subtask)
  const { max_turns } = wanted
  const bound = max_turns === undefined ? {} : { max_turns }
  const { session_id } = store.get(wanted.parent_agent_id).session
  const submission = { session_id, input, ...bound }
  const isAsked = wanted.run_id === undefined && wanted.is_hook !== true
  return isAsked ? runs.prepare(submission) : runs.storeFiles(submission)
}

/**
 * What would be started; nothing is. Rejects as `spawnAgent`, but for files of the request, which are not looked at.
 */
export const foreseeAgent = async (parts: SpawnParts, wanted: WantedAgent): Promise<SeenAgent> => {
  const known = startedBefore(parts, wanted)
  if (known !== undefined) return { record: known, session: parts.sessions.get(known.session_id) }
  const { subtask } = wanted.request
  const first = subtask && { input: inputOf(wanted, { ...subtask, attachments: undefined }) }
  // A commit that throws leaves nothing.
  const undone = fault('a start was looked at')
  let seen: SeenAgent | undefined
  const looked = parts.state.commit((tx): SeenAgent => {
    const record = start(parts, tx, { wanted, first })
    seen = { record, session: parts.sessions.get(record.session_id) }
    throw undone
  })
  return looked.catch((error: unknown) => {
    if (seen === undefined || error !== undone) throw error
    return seen
  })
}

/** An agent with its session. */
export interface SeenAgent {
  readonly record: AgentRecord
  readonly session: SessionRecord
}

interface Start {
  readonly wanted: WantedAgent
  readonly first: Omit<Submission, 'session_id'> | undefined
}

const start = (parts: SpawnParts, tx: Tx, { wanted, first }: Start): AgentRecord => {
  const { audit, ids, interception, observers, runs, sessions, store } = parts
  const { session_id = ids.make('session') } = wanted.request
  if (sessions.find(session_id) !== undefined)
    throw agentErrors.conflict({ details: { reason: `there is a session ${session_id}` } })
  const { session, record, narrowed } = planAgent(parts, wanted, tx.now)
  sessions.open(tx, { session_id, ...session })
  const { agent_id } = sessions.get(session_id)
  runs.check({ session_id, input: first?.input ?? probe })
  const bare: AgentRecord = { session_id, agent_id, ...record }
  const launch = first === undefined ? undefined : runs.admit({ ...first, session_id, origin: originOf(bare) })(tx)
  const started = { ...bare, ...(launch !== undefined && { launch_run_id: launch.run_id }) }
  store.noteBegun(tx)
  store.put(tx, started)
  audit.note(tx, startedEvent(started, narrowed))
  observers.tell(tx, 'hearing of a new agent', (observer) => observer.spawned(tx, started))
  const { parent_session_id, parent_agent_id, profile } = started
  const of = { timestamp_ms: tx.now, session_id: parent_session_id, agent_id: parent_agent_id }
  const kind = { type: 'agent_spawned', agent_id } as const
  tx.emit(Trace, { session: parent_session_id }, () => ({ trace: { ...of, kind } }))
  const payload = { agent_type: profile, parent_agent_id }
  tx.after(() => interception()?.tell({ event: 'subagent_start', subject: profile, session_id, agent_id, payload }))
  return started
}

const startedEvent = (record: AgentRecord, narrowed: AgentAuditDraft['narrowed']): AgentAuditDraft => {
  const { agent_id, parent_agent_id, session_id, spawned_by_run_id, spawn_request_id } = record
  const { profile, permission_mode, retention, nickname } = record
  return {
    event: 'agent_started',
    agent_id,
    parent_agent_id,
    session_id,
    ...(spawned_by_run_id !== undefined && { run_id: spawned_by_run_id }),
    ...(spawn_request_id !== undefined && { spawn_request_id }),
    profile,
    permission_mode,
    retention,
    narrowed,
    ...(nickname !== undefined && { nickname }),
  }
}

/** Whether the model route of the child can be used is asked also where nothing is submitted yet. */
const probe: Submission['input'] = { content: 'hello' }

/** Throws `idempotency_conflict`, and `conflict` where another parent used the request's name. */
const startedBefore = (
  { store }: SpawnParts,
  { parent_agent_id, request, digest }: WantedAgent,
): AgentRecord | undefined => {
  const { spawn_request_id } = request
  if (spawn_request_id === undefined) return undefined
  const [known] = store.collection.list({ index: 'request', group: spawn_request_id, limit: 1 })
  if (known === undefined || known.request_digest === digest) return known
  if (known.parent_agent_id === parent_agent_id) throw idempotencyErrors.idempotency_conflict()
  throw agentErrors.conflict({ details: { reason: `another agent started one by the request ${spawn_request_id}` } })
}

const inputOf = ({ parent_agent_id }: WantedAgent, subtask: SubtaskRequest): Submission['input'] => {
  const { input_items, attachments } = subtask
  return {
    content: toldBy(subtask),
    source_plugin: 'agents',
    source_kind: 'subtask',
    actor_id: parent_agent_id,
    ...(input_items !== undefined && { input_items }),
    ...(attachments !== undefined && { attachments }),
  }
}

const originOf = ({ parent_agent_id, spawned_by_run_id }: AgentRecord): NonNullable<Submission['origin']> => ({
  parent_agent_id,
  ...(spawned_by_run_id !== undefined && { spawned_by_run_id }),
})
