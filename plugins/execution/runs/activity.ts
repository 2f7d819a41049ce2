/** What a session's views show of its runs. */
import type { AgentStatus, DaemonOutputRecord, SessionActivity, SessionHold } from '../sessions/contract.js'
import type { RunRecord } from './contract.js'
import { isSettled } from './machine.js'
import { activeLane, queuedLane, type RunStore } from './store.js'
import { openApprovals, openQuestions, outputsOf } from './views.js'

/** Runs looked at for the last message, the last error and the newest outputs of a session. */
const lookback = 100

export const activeRun = (store: RunStore, session_id: string): RunRecord | undefined =>
  store.runs.list({ index: 'lane', group: activeLane(session_id), limit: 1 })[0]

const newest = (store: RunStore, session_id: string, limit: number): RunRecord[] =>
  store.runs.list({ index: 'session', group: session_id, limit, order: 'desc' })

const lastSettled = (store: RunStore, session_id: string): RunRecord | undefined => {
  const behind = store.runs.count('lane', queuedLane(session_id)) + store.runs.count('lane', activeLane(session_id))
  return newest(store, session_id, Math.min(behind + 1, lookback)).find(isSettled)
}

export const createActivity = (store: RunStore): SessionActivity => {
  const status = (session_id: string): AgentStatus => {
    const active = activeRun(store, session_id)
    if (active !== undefined) return activeStatus(active)
    if (store.runs.count('lane', queuedLane(session_id)) > 0) return 'running'
    const last = lastSettled(store, session_id)
    return last?.status === 'failed' || last?.status === 'completed' ? last.status : 'idle'
  }
  const pending = (session_id: string): { approvals: number; questions: number } => {
    const active = activeRun(store, session_id)
    const open = active !== undefined && 'pending' in active ? active.pending.length : 0
    return {
      approvals: active?.status === 'waiting_for_approval' ? open : 0,
      questions: active?.status === 'waiting_for_user_question' ? open : 0,
    }
  }
  const outputs = (session_id: string, limit: number): DaemonOutputRecord[] => {
    const found: DaemonOutputRecord[][] = []
    let missing = limit
    for (const run of newest(store, session_id, lookback)) {
      if (missing <= 0) break
      const made = outputsOf(store, run).slice(-missing)
      found.push(made)
      missing -= made.length
    }
    return found.toReversed().flat()
  }
  const facts = (session_id: string): ReturnType<SessionActivity['facts']> => {
    const active = activeRun(store, session_id)
    const questions = active === undefined ? [] : openQuestions(store, active)
    const last = lastSettled(store, session_id)
    return {
      pending_approvals: active === undefined ? [] : openApprovals(store, active),
      ...(questions.length > 0 && { pending_questions: questions }),
      last_assistant_message: lastMessage(store, session_id),
      journal_len: store.journal.length(session_id),
      last_error: last !== undefined && isSettled(last) ? (last.error ?? null) : null,
    }
  }
  const record: SessionActivity['record'] = (tx, session_id, note) =>
    void tx.append(store.journal, session_id, { run_id: '', at: tx.now, type: 'session', ...note })
  return { status, pending, outputs, facts, record }
}

const activeStatus = (run: RunRecord): AgentStatus =>
  run.status === 'waiting_for_approval'
    ? 'waiting_for_approval'
    : run.status === 'waiting_for_user_question'
      ? 'waiting_for_user_input'
      : 'running'

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

/** State of a session right after a change of one of its runs. */
export const stateAfter = (
  store: RunStore,
  run: RunRecord,
): { status: AgentStatus; approvals: number; questions: number } => {
  const shown = run.status === 'queued' ? (activeRun(store, run.session_id) ?? run) : run
  const open = 'pending' in shown ? shown.pending.length : 0
  return {
    status: statusAfter(store, shown),
    approvals: shown.status === 'waiting_for_approval' ? open : 0,
    questions: shown.status === 'waiting_for_user_question' ? open : 0,
  }
}

const statusAfter = (store: RunStore, run: RunRecord): AgentStatus => {
  if (!isSettled(run)) return activeStatus(run)
  if (store.runs.count('lane', queuedLane(run.session_id)) > 0) return 'running'
  return run.status === 'failed' || run.status === 'completed' ? run.status : 'idle'
}

/** The members of a snapshot right after this run came to rest, made from what no longer changes. */
export const factsAfter = (
  store: RunStore,
  run: RunRecord,
  journal_len: number,
): ReturnType<SessionActivity['facts']> => {
  const questions = openQuestions(store, run)
  const said = outputsOf(store, run).findLast(({ source_kind }) => source_kind === 'assistant_text')
  return {
    pending_approvals: openApprovals(store, run),
    ...(questions.length > 0 && { pending_questions: questions }),
    last_assistant_message: said?.content ?? lastMessage(store, run.session_id),
    journal_len,
    last_error: isSettled(run) ? (run.error ?? null) : null,
  }
}

const lastMessage = (store: RunStore, session_id: string): string | null => {
  for (const run of newest(store, session_id, 10)) {
    const said = outputsOf(store, run).findLast(({ source_kind }) => source_kind === 'assistant_text')
    if (said !== undefined) return said.content
  }
  return null
}
