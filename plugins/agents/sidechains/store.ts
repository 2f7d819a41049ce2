/** The agents that others started, and those of sessions that nobody started. */
import { beginningOf, type Collection, type State, type Tx } from '../../../core/plugin.js'
import type { Runs } from '../../execution/runs/contract.js'
import type {
  ForkContext,
  SessionRecord,
  Sessions,
  SpawnedAgent,
  ToolSurface,
} from '../../execution/sessions/contract.js'
import type { AgentMail, AgentQuestions } from './contract.js'
import { agentErrors } from './bounds/errors.js'
import { agentCollection, type AgentRecord } from './record.js'

/** An agent with its session; without a record of its own where nobody started it. */
export interface Agent {
  readonly session: SessionRecord
  readonly spawned: AgentRecord | undefined
}

export interface AgentStore {
  readonly collection: Collection<AgentRecord>
  /** That of a session, if another one started it. */
  find(session_id: string): AgentRecord | undefined
  /** Throws `agent_not_found` (404). */
  get(agent_id: string): Agent
  /** That of a session. */
  of(session: SessionRecord): Agent
  /** Those that others started and that work, wait or are queued now. */
  live(): readonly AgentRecord[]
  isLive(session: SessionRecord): boolean
  /** Those of a parent that are to be closed behind their work, and have not begun. */
  passingUnbegun(parent_session_id: string): readonly AgentRecord[]
  /** Notes in a commit which of those that were started without a run have begun by now. */
  noteBegun(tx: Tx): void
  /** Those that stand in the way of one more: they work, or are there to. */
  present(): readonly AgentRecord[]
  /** Sessions whose agents may be something else than what they are at rest: all others are not. */
  stirring(): ReadonlySet<string>
  /** Started within so many milliseconds, the newest first. */
  startedSince(time: number): Generator<AgentRecord>
  put(tx: Tx, record: AgentRecord): void
}

export interface StoreParts {
  readonly state: State
  readonly sessions: Sessions
  readonly runs: Runs
  readonly mail: () => AgentMail | undefined
  readonly questions: () => AgentQuestions | undefined
}

const slice = 64

export const declareAgents = ({ state, sessions, runs, mail, questions }: StoreParts): AgentStore => {
  const collection = state.collection(agentCollection)
  const find = (session_id: string): AgentRecord | undefined => collection.find(session_id)
  const of = (session: SessionRecord): Agent => ({ session, spawned: find(session.session_id) })
  const hasBegun = ({ session_id }: AgentRecord): boolean =>
    sessions.find(session_id)?.rest_status !== undefined || runs.latest(session_id) !== undefined
  const listed = (index: string): AgentRecord[] => collection.ids(index, 'all').flatMap((id) => find(id) ?? [])
  const isOpen = (session_id: string): boolean => sessions.find(session_id)?.ended_at_ms === undefined
  const unbegun = (): readonly AgentRecord[] =>
    listed('unbegun').filter((record) => !hasBegun(record) && isOpen(record.parent_session_id))
  const live = (): readonly AgentRecord[] => {
    const busy = runs.open().flatMap((run_id) => runs.find(run_id)?.session_id ?? [])
    const readers = (mail()?.recipients() ?? []).flatMap((agent_id) => sessions.ofAgent(agent_id)?.session_id ?? [])
    const others = [...(questions()?.asking() ?? []), ...readers]
    return [...new Set([...busy, ...others.filter(isOpen)])].flatMap((session_id) => find(session_id) ?? [])
  }
  const stirring = (): ReadonlySet<string> =>
    new Set([...runs.open().flatMap((run_id) => runs.find(run_id)?.session_id ?? []), ...(questions()?.asking() ?? [])])
  return {
    collection,
    find,
    of,
    stirring,
    get(agent_id) {
      const session = sessions.ofAgent(agent_id)
      if (session === undefined) throw agentErrors.agent_not_found({ details: { agent_id } })
      return of(session)
    },
    live,
    noteBegun(tx) {
      for (const record of listed('unbegun')) {
        const [first] = runs.inSession({ session_id: record.session_id, limit: 1 })
        if (first !== undefined) tx.put(collection, { ...record, launch_run_id: first.run_id })
      }
    },
    present: () => [...new Set([...live(), ...unbegun()])],
    passingUnbegun: (session_id) =>
      listed('passing').filter((record) => record.parent_session_id === session_id && !hasBegun(record)),
    isLive: (session) =>
      session.ended_at_ms === undefined &&
      (atWork.has(sessions.state(session).status) || (mail()?.waiting(session.agent_id) ?? 0) > 0),
    *startedSince(time) {
      let beyond: string | undefined
      for (;;) {
        const page = collection.list({
          index: 'spawned',
          group: 'all',
          limit: slice,
          order: 'desc',
          ...(beyond !== undefined && { beyond }),
        })
        for (const record of page) {
          if (record.spawned_at_ms < time) return
          yield record
        }
        const last = page.at(-1)
        if (page.length < slice || last === undefined) return
        beyond = agentCollection.indexes['spawned']?.sort?.(last)
      }
    },
    put: (tx, record) => tx.put(collection, record),
  }
}

/** All that restrict which tools an agent sees. */
export const surfacesOf = (record: AgentRecord | undefined): readonly ToolSurface[] => [
  ...(record?.tool_surface === undefined ? [] : [record.tool_surface]),
  ...(record?.run_surfaces ?? []),
]

const atWork: ReadonlySet<string> = new Set(['running', 'waiting_for_approval', 'waiting_for_user_input'])

/** Characters of each text that a snapshot shows: it goes into lists and into an event of each run. */
const shownText = 4_000

const shownContext = (context: ForkContext): ForkContext => ({
  ...context,
  parent_assistant_message: beginningOf(context.parent_assistant_message, shownText),
  system_prompt: beginningOf(context.system_prompt, shownText),
})

/** As the snapshot of its session shows it. */
export const shownAgent = (record: AgentRecord, settled_at_ms: number | undefined): SpawnedAgent => {
  const { name, path, nickname, spawned_by_run_id, spawn_request_id, subtask } = record
  return {
    parent: record.parent_agent_id,
    path,
    retention: record.retention,
    subtasks: subtask === undefined ? [] : [subtask],
    fork_context: record.fork_context === null ? null : shownContext(record.fork_context),
    ...(name !== undefined && { name }),
    ...(nickname !== undefined && { nickname }),
    ...(record.cwd !== undefined && { cwd: record.cwd }),
    ...(spawned_by_run_id !== undefined && { spawned_by_run_id }),
    ...(spawn_request_id !== undefined && { spawn_request_id }),
    ...(settled_at_ms !== undefined && { settled_at_ms }),
  }
}
