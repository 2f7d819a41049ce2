/** What a session's views and events show of its runs: each fact has one function, for both. */
import type {
  ActivityState,
  AgentStatus,
  DaemonOutputRecord,
  RestStatus,
  SessionActivity,
  SessionHold,
  Sessions,
} from '../../sessions/contract.js'
import type { RunRecord } from '../record/run-record.js'
import { activeLane, entryAt, newestOwn, queuedLane, type RunStore } from '../record/store.js'
import { emitSessionTrace } from './live-events.js'
import { newestOutputs, shownOutputs } from './shown-run.js'
import { openApprovals, openQuestions } from '../record/requests.js'

export const activeRun = (store: RunStore, session_id: string): RunRecord | undefined =>
  store.runs.list({ index: 'lane', group: activeLane(session_id), limit: 1 })[0]

/** The run that came to its end last, whenever it was accepted. One that was cancelled in the queue is none. */
const lastEnded = (store: RunStore, session_id: string): RunRecord | undefined => newestOwn(store, session_id, 'ended')

/** What the run that ended last leaves the agent of a session as. */
export const restAfter = (store: RunStore, session_id: string): RestStatus => {
  const status = lastEnded(store, session_id)?.status
  return status === 'failed' || status === 'completed' ? status : 'idle'
}

type Rests = Pick<Sessions, 'find'>

export const createActivity = (store: RunStore, sessions: Rests): SessionActivity => ({
  state: (session_id) => stateOf({ store, sessions }, session_id, activeRun(store, session_id)),
  look(session_id) {
    const active = activeRun(store, session_id)
    const ended = lastEnded(store, session_id)
    const message = lastMessage(store, session_id)
    return {
      state: stateOf({ store, sessions }, session_id, active),
      facts() {
        const questions = active === undefined ? [] : openQuestions(store, active)
        return {
          pending_approvals: active === undefined ? [] : openApprovals(store, active),
          ...(questions.length > 0 && { pending_questions: questions }),
          last_assistant_message: message(),
          last_error: ended !== undefined && 'error' in ended ? (ended.error ?? null) : null,
        }
      },
    }
  },
  outputs(session_id, { limit, caller }) {
    const runs = store.runs.list({ index: 'spoken', group: session_id, limit: limit + 1, order: 'desc' })
    const newest = function* (): Generator<DaemonOutputRecord> {
      for (const run of runs) yield* newestOutputs(store, run, { caller })
    }
    return shownOutputs(newest(), limit)
  },
  noted: (tx, session_id) => emitSessionTrace(tx, session_id, { type: 'session_persisted', record_type: 'session' }),
})

interface StateParts {
  readonly store: RunStore
  readonly sessions: Rests
}
const stateOf = (parts: StateParts, session_id: string, active: RunRecord | undefined): ActivityState => {
  if (active === undefined) return { status: idleStatus(parts, session_id), approvals: 0, questions: 0 }
  const open = 'pending' in active ? active.pending.length : 0
  return {
    status: activeStatus(active),
    approvals: active.status === 'waiting_for_approval' ? open : 0,
    questions: active.status === 'waiting_for_user_question' ? open : 0,
  }
}

const activeStatus = (run: RunRecord): AgentStatus =>
  run.status === 'waiting_for_approval'
    ? 'waiting_for_approval'
    : run.status === 'waiting_for_user_question'
      ? 'waiting_for_user_input'
      : 'running'

/** A session that an earlier version wrote does not say what it rests as: its runs do. */
const idleStatus = ({ store, sessions }: StateParts, session_id: string): AgentStatus => {
  if (store.runs.count('lane', queuedLane(session_id)) > 0) return 'running'
  return sessions.find(session_id)?.rest_status ?? restAfter(store, session_id)
}

/** What the model said last, as of now: read when it is called, and not changed by what comes later. */
const lastMessage = (store: RunStore, session_id: string): (() => string | null) => {
  const group = { index: 'answered', group: session_id, limit: 1, order: 'desc' } as const
  const [newest] = store.runs.list(group)
  return () => {
    for (let run = newest; run !== undefined; [run] = store.runs.list({ ...group, beyond: run.run_id })) {
      const said = messageOf(store, run)
      if (said !== undefined) return said
    }
    return null
  }
}

/** A record that an earlier version wrote does not say which of its outputs is the model's own. */
const messageOf = (store: RunStore, run: RunRecord): string | undefined => {
  if (run.said === undefined)
    return [...newestOutputs(store, run)].find(({ source_kind }) => source_kind === 'assistant_text')?.content
  const entry = entryAt(store, run.session_id, run.said)
  return entry?.type === 'event' && entry.event.type === 'output' ? entry.event.output.content : undefined
}

/** What keeps a session from being idle. */
export const runHold = (store: RunStore): SessionHold => ({
  id: 'runs',
  holds(session_id) {
    const active = activeRun(store, session_id)
    if (active !== undefined)
      return active.status === 'waiting_for_approval'
        ? 'a run that waits for approval'
        : active.status === 'waiting_for_user_question'
          ? 'a run that waits for an answer'
          : 'an active run'
    return store.runs.count('lane', queuedLane(session_id)) > 0 ? 'a queued run' : undefined
  },
})
