/** What agents that work mean for those above them (agents-7). */
import type { SessionEndGuard, SessionHold } from '../../execution/sessions/contract.js'
import type { AgentRecord } from './record.js'
import type { AgentStore } from './store.js'

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

/** A session is not ended while agents work below it. */
export const endGuard = (store: AgentStore): SessionEndGuard => ({
  id: 'sidechains',
  veto({ session_id }) {
    const held = whyHeld(store, session_id)
    return held === undefined ? undefined : `it has ${held}`
  },
  ended(tx, session_id) {
    const record = store.find(session_id)
    if (record !== undefined) store.put(tx, { ...record, is_closed: true })
  },
})
