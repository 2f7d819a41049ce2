/** What agents that work mean for those above them, and what follows when their work is done (agents-7, agents-13). */
import { Problem, tellFailure, type Events, type Log, type State, type Tx } from '../../../core/plugin.js'
import type { Interception } from '../../execution/interception/contract.js'
import type { Runs, TerminalRun } from '../../execution/runs/contract.js'
import {
  SessionStateChanged,
  type SessionEndGuard,
  type SessionHold,
  type Sessions,
} from '../../execution/sessions/contract.js'
import type { AgentRecord } from './record.js'
import type { AgentStore } from './store.js'
import type { AgentAuditStore } from './supervision/audit.js'

/** Those that work below the agent of a session, however deep. */
export const workingBelow = (store: AgentStore, session_id: string): readonly AgentRecord[] => {
  const isBelow = (record: AgentRecord | undefined): boolean =>
    record !== undefined && (record.parent_session_id === session_id || isBelow(store.find(record.parent_session_id)))
  return store.live().filter(isBelow)
}

const whyHeld = (store: AgentStore, session_id: string): string | undefined => {
  const [first, ...more] = workingBelow(store, session_id)
  if (first === undefined) return undefined
  return more.length === 0 ? `the working agent ${first.agent_id}` : `${more.length + 1} working agents below it`
}

/** A session is not idle while agents work below it. */
export const settingsHold = (store: AgentStore): SessionHold => ({
  id: 'sidechains',
  holds: (session_id) => whyHeld(store, session_id),
})

export interface EndParts {
  readonly store: AgentStore
  readonly sessions: Sessions
  readonly audit: AgentAuditStore
}

/** Those that were to be closed behind their work, of which there is none any more. */
const closeUnbegun = ({ store, sessions }: EndParts, tx: Tx, parent_session_id: string): void => {
  for (const { session_id } of store.passingUnbegun(parent_session_id))
    try {
      sessions.end(tx, session_id, 'its parent was ended before it began')
    } catch (error) {
      // Something else keeps it, such as a project of which it is a member.
      if (!(error instanceof Problem)) throw error
    }
}

/** A session is not ended while agents work below it. */
export const endGuard = (parts: EndParts): SessionEndGuard => ({
  id: 'sidechains',
  veto({ session_id }) {
    const held = whyHeld(parts.store, session_id)
    return held === undefined ? undefined : `it has ${held}`
  },
  ended(tx, session_id) {
    const { store, sessions, audit } = parts
    closeUnbegun(parts, tx, session_id)
    const record = store.find(session_id)
    if (record === undefined) return
    store.put(tx, { ...record, is_closed: true })
    const { agent_id, parent_agent_id } = record
    const reason = sessions.find(session_id)?.end_reason
    const why = reason === undefined ? {} : { reason }
    audit.note(tx, { event: 'agent_closed', agent_id, parent_agent_id, session_id, ...why })
  },
})

export interface EndingParts {
  readonly store: AgentStore
  readonly state: State
  readonly sessions: Sessions
  readonly runs: Runs
  readonly log: Log
  readonly interception: () => Interception | undefined
  readonly events: Events
}

/** Closes agents that are to be closed when their work is done. Returns its end. */
export const watchEnds = (parts: EndingParts): (() => void) => {
  const { store, runs, events } = parts
  for (const session_id of store.collection.ids('passing', 'all')) void close(parts, session_id)
  const undo = [
    runs.onEnded((run) => {
      const record = store.find(run.session_id)
      if (record !== undefined) ended(parts, record, run)
    }),
    // One may come to rest without a run that ends, such as when somebody takes the last message from its mailbox.
    events.on(SessionStateChanged, ({ session_id }) => {
      const record = store.find(session_id)
      if (record !== undefined) closeUpwards(parts, record)
    }),
  ]
  return () => {
    for (const end of undo) end()
  }
}

const ended = (parts: EndingParts, record: AgentRecord, run: TerminalRun): void => {
  const { session_id, agent_id, profile, parent_agent_id } = record
  if (parts.store.isLive(parts.sessions.get(session_id))) return
  parts.interception()?.tell({
    event: 'subagent_stop',
    subject: profile,
    session_id,
    agent_id,
    run_id: run.run_id,
    payload: { agent_type: profile, parent_agent_id },
  })
}

/** The end of one may be what those above it wait for to be closed. */
const closeUpwards = (parts: EndingParts, record: AgentRecord): void => {
  for (let one: AgentRecord | undefined = record; one !== undefined; one = parts.store.find(one.parent_session_id))
    if (one.retention === 'close_on_settle' && one.is_closed === undefined) void close(parts, one.session_id)
}

const hasClosedParent = ({ store, sessions }: EndingParts, session_id: string): boolean => {
  const parent = store.find(session_id)?.parent_session_id
  return parent !== undefined && sessions.find(parent)?.ended_at_ms !== undefined
}

/** One that works, has agents that work below it, or has not begun and may still, stays. */
const isDone = (parts: EndingParts, session_id: string): boolean => {
  const { store, sessions, runs } = parts
  const session = sessions.get(session_id)
  return (
    session.ended_at_ms === undefined &&
    !store.isLive(session) &&
    workingBelow(store, session_id).length === 0 &&
    (runs.latest(session_id) !== undefined || hasClosedParent(parts, session_id))
  )
}

const close = async (parts: EndingParts, session_id: string): Promise<void> => {
  const { state, sessions, log } = parts
  if (!isDone(parts, session_id)) return
  try {
    await state.commit((tx) => {
      if (isDone(parts, session_id)) sessions.end(tx, session_id, 'its work is done')
    })
  } catch (error) {
    tellFailure({ log, state }, 'an agent could not be closed', { session_id, error })
  }
}
