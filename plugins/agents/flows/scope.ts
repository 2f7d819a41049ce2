/** What belongs to a flow: its root run, agents that its runs started, their runs, and the tasks of all (flows-7). */
import { Problem, type Portions } from '../../../core/plugin.js'
import { begunAt, type RunRecord, type Runs, type RunStatus } from '../../execution/runs/contract.js'
import type { Sessions } from '../../execution/sessions/contract.js'
import type { SessionTask, Tasks, TaskStatus } from '../../execution/tasks/contract.js'
import type { FollowedAgent, SpawnedAgents } from '../sidechains/contract.js'
import type { Called, Calls } from './calls.js'
import type { FlowRecord, PrimitiveRefs } from './record.js'

export interface ScopeParts {
  readonly runs: Runs
  readonly sessions: Sessions
  readonly tasks: () => Tasks | undefined
  readonly agents: () => SpawnedAgents | undefined
  readonly calls: Calls
  readonly bounds: ScopeBounds
}

/** How much of one flow is looked at. */
export interface ScopeBounds {
  /** Runs, tasks and agents, at most. */
  readonly max_members: number
  /** Ids of one kind that are listed. */
  readonly max_listed: number
}

/** A tool that a run called. */
export interface UsedTools {
  readonly run: RunRecord
  readonly called: Called
}

/** What was found, as far as it was looked at. */
export interface Scope {
  readonly runs: Set<RunStatus>
  readonly tasks: Set<TaskStatus>
  is_missing: boolean
  /** Ids of runs that have not ended, the root before others. */
  readonly open: string[]
  /** Tasks that are not done, as many as are told. */
  readonly openTasks: SessionTask[]
  /** Sessions of its agents that have no open run, and yet are not at rest: they ask, or something waits for them. */
  readonly held: string[]
  /** Sessions of the agents that its runs started. */
  readonly sessions: string[]
  readonly refs: PrimitiveRefs
  is_cut: boolean
  /** Of `wanted` what is there. */
  readonly found: Set<string>
  readonly used: UsedTools[]
  /** When the first failed, was cancelled or, of those that do, began to wait for people, and when the last changed. */
  readonly times: { failed: number; cancelled: number; waits: number; last: number }
}

/** What is asked beside the status. */
export interface ScopeWish {
  /** Keys of primitives that may be there. */
  readonly wanted?: ReadonlySet<string>
  /** What runs called is asked. */
  readonly needs_tools: boolean
}

const page = 64
/** Members that are looked at before others are served. */
const slice = 64

export const primitiveKey = (kind: string, id: string): string => JSON.stringify([kind, id])

const idLists = {
  run: 'run_ids',
  task: 'task_ids',
  agent: 'agent_ids',
  approval: 'approval_ids',
  question: 'question_ids',
  schedule: 'schedule_ids',
  output: 'output_ids',
} as const

const emptyScope = (): Scope => ({
  runs: new Set(),
  tasks: new Set(),
  is_missing: false,
  open: [],
  openTasks: [],
  held: [],
  sessions: [],
  refs: {
    run_ids: [],
    task_ids: [],
    agent_ids: [],
    approval_ids: [],
    question_ids: [],
    schedule_ids: [],
    output_ids: [],
  },
  is_cut: false,
  found: new Set(),
  used: [],
  times: { failed: Infinity, cancelled: Infinity, waits: Infinity, last: 0 },
})

interface Look {
  readonly parts: ScopeParts
  readonly scope: Scope
  readonly wish: ScopeWish
  members: number
  /** Runs whose agents and tasks are still to be looked at. */
  readonly left: RunRecord[]
}

const name = ({ scope, wish, parts }: Look, kind: keyof typeof idLists, id: string): void => {
  const list = scope.refs[idLists[kind]]
  // One that is asked within the flow stands in its own run, and in the run that asked it.
  if (kind === 'question' && list.includes(id)) return
  if (list.length < parts.bounds.max_listed) list.push(id)
  else scope.is_cut = true
  const key = primitiveKey(kind, id)
  if (wish.wanted?.has(key) === true) scope.found.add(key)
}

/** False where there is more than is looked at: then the flow cannot be told. */
const count = (look: Look): boolean => {
  look.members += 1
  if (look.members <= look.parts.bounds.max_members) return true
  look.scope.is_missing = true
  return false
}

const openTask: ReadonlySet<TaskStatus> = new Set(['pending', 'in_progress', 'blocked'])
const mostOpenTasks = 10
const ended: ReadonlySet<RunStatus> = new Set(['completed', 'failed', 'interrupted', 'cancelled'])

const waiting: ReadonlySet<RunStatus | TaskStatus> = new Set([
  'waiting_for_approval',
  'waiting_for_user_question',
  'blocked',
])

const noteWait = ({ times }: Scope, status: RunStatus | TaskStatus, at: number): void => {
  if (waiting.has(status)) times.waits = Math.min(times.waits, at)
}

const noteTime = (scope: Scope, status: RunStatus | TaskStatus, at: number): void => {
  const { times } = scope
  noteWait(scope, status, at)
  if (status === 'failed') times.failed = Math.min(times.failed, at)
  if (status === 'cancelled') times.cancelled = Math.min(times.cancelled, at)
  times.last = Math.max(times.last, at)
}

/** What a run asked of the agent that started its own, also when it has been answered. */
function* seeQuestions(look: Look, asked: RunRecord): Portions<void> {
  for (const id of (yield* look.parts.calls.of(asked)).questions) name(look, 'question', id)
}

/** Its status is that of now: what it leads to is looked at later, so that nothing of an ended run is missed. */
function* seeRun(look: Look, run: RunRecord): Portions<void> {
  const { scope, parts, wish } = look
  if (!count(look)) return
  name(look, 'run', run.run_id)
  scope.runs.add(run.status)
  noteTime(scope, run.status, 'finished_at_ms' in run ? run.finished_at_ms : run.updated_at_ms)
  if (!ended.has(run.status)) scope.open.push(run.run_id)
  for (const asked of parts.runs.askedBy(run.run_id)) {
    noteWait(scope, asked.status, asked.updated_at_ms)
    yield* seeQuestions(look, asked)
  }
  for (const seq of run.outputs ?? []) name(look, 'output', `${run.run_id}:${seq}`)
  look.left.push(run)
  const asks = (run.approvals ?? 0) + (run.questions ?? 0) > 0
  if (!wish.needs_tools && !asks) return
  const called = yield* parts.calls.of(run)
  for (const id of called.approvals) name(look, 'approval', id)
  for (const id of called.questions) name(look, 'question', id)
  scope.used.push({ run, called })
}

interface Stretch {
  readonly session_id: string
  readonly since_ms: number
  readonly until_ms?: number | undefined
}

function* seeTasks(look: Look, { session_id, ...stretch }: Stretch): Portions<void> {
  const tasks = look.parts.tasks()
  if (tasks === undefined) return
  let last: SessionTask | undefined
  for (;;) {
    const found = tasks.madeIn(session_id, { ...stretch, limit: page, beyond: last })
    for (const task of found) {
      if (!count(look)) return
      name(look, 'task', task.id)
      look.scope.tasks.add(task.status)
      if (openTask.has(task.status) && look.scope.openTasks.length < mostOpenTasks) look.scope.openTasks.push(task)
      noteTime(look.scope, task.status, task.updated_at_ms)
    }
    last = found.at(-1)
    if (found.length < page) return
    yield
  }
}

/** Tasks that a run of a shared session made: runs of one session follow one another. */
const stretchOf = (run: RunRecord): Stretch | undefined => {
  const since_ms = begunAt(run)
  if (since_ms === undefined) return undefined
  return { session_id: run.session_id, since_ms, until_ms: 'finished_at_ms' in run ? run.finished_at_ms : undefined }
}

/** Something keeps the session from being idle, such as messages that wait for its agent. */
const isHeld = (sessions: Sessions, session_id: string): boolean => {
  try {
    sessions.requireIdle(session_id)
    return false
  } catch (error) {
    if (error instanceof Problem) return true
    throw error
  }
}

/**
 * What an agent waits for or is about to do beside its runs: a question to its parent, messages, agents below it.
 * Looked at before its runs, which are what this becomes.
 */
const seeState = ({ parts: { sessions, runs }, scope }: Look, session_id: string): void => {
  const session = sessions.find(session_id)
  if (session === undefined || session.ended_at_ms !== undefined) return
  const isAsking = sessions.state(session).status === 'waiting_for_user_input'
  if (!isAsking && !isHeld(sessions, session_id)) return
  scope.runs.add(isAsking ? 'waiting_for_user_question' : 'running')
  if (runs.openIn(session_id).length === 0) scope.held.push(session_id)
}

/** All runs of a session that an agent of the flow has for itself. */
function* seeSession(look: Look, session_id: string): Portions<void> {
  let beyond: string | undefined
  for (;;) {
    const found = look.parts.runs.inSession({ session_id, limit: page, ...(beyond !== undefined && { beyond }) })
    for (const run of found) yield* seeRun(look, run)
    beyond = found.at(-1)?.run_id
    if (found.length < page || look.scope.is_missing) return
    yield
  }
}

function* seeAgents(look: Look, run_id: string): Portions<void> {
  const agents = look.parts.agents()
  if (agents === undefined) return
  let last: FollowedAgent | undefined
  for (;;) {
    const found = agents.spawnedBy(run_id, { limit: page, ...(last !== undefined && { beyond: last.session_id }) })
    for (const agent of found) {
      if (!count(look)) return
      name(look, 'agent', agent.agent_id)
      look.scope.sessions.push(agent.session_id)
      seeState(look, agent.session_id)
      yield* seeSession(look, agent.session_id)
      yield* seeTasks(look, { session_id: agent.session_id, since_ms: 0 })
    }
    last = found.at(-1)
    if (found.length < page || look.scope.is_missing) return
  }
}

const start = (look: Look, { flow_id, schedule_id }: FlowRecord): void => {
  if (schedule_id !== undefined) name(look, 'schedule', schedule_id)
  const key = primitiveKey('flow', flow_id)
  if (look.wish.wanted?.has(key) === true) look.scope.found.add(key)
}

/** All that belongs to a flow, as it is now. */
export function* scopeOf(parts: ScopeParts, flow: FlowRecord, wish: ScopeWish): Portions<Scope> {
  const look: Look = { parts, scope: emptyScope(), wish, members: 0, left: [] }
  start(look, flow)
  const root = parts.runs.find(flow.run_id)
  if (root === undefined) {
    look.scope.is_missing = true
    return look.scope
  }
  yield* seeRun(look, root)
  const stretch = stretchOf(root)
  if (stretch !== undefined) yield* seeTasks(look, stretch)
  let seen = 0
  for (let run = look.left.shift(); run !== undefined && !look.scope.is_missing; run = look.left.shift()) {
    yield* seeAgents(look, run.run_id)
    seen += 1
    if (seen % slice === 0) yield
  }
  return look.scope
}
