/** What agents that work mean for those above them (agents-7). */
import type { SessionEndGuard, SessionHold, Sessions } from '../../execution/sessions/contract.js'
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

/** A session is not ended while agents work below it. */
export const endGuard = ({ store, sessions, audit }: EndParts): SessionEndGuard => ({
  id: 'sidechains',
  veto({ session_id }) {
    const held = whyHeld(store, session_id)
    return held === undefined ? undefined : `it has ${held}`
  },
  ended(tx, session_id) {
    const record = store.find(session_id)
    if (record === undefined) return
    store.put(tx, { ...record, is_closed: true })
    const { agent_id, parent_agent_id } = record
    const reason = sessions.find(session_id)?.end_reason
    const why = reason === undefined ? {} : { reason }
    audit.note(tx, { event: 'agent_closed', agent_id, parent_agent_id, session_id, ...why })
  },
})
