/** The sessions service: records, how they change, and the events that announce them. */
import type { Collection, Ids, Observers, State, Tx } from '../../../core/plugin.js'
import type { Interception } from '../interception/contract.js'
import { changeSetting } from './change.js'
import {
  SessionSnapshotTaken,
  SessionStateChanged,
  type PersonaSource,
  type SessionEndGuard,
  type SessionHold,
  type SessionRecord,
  type Sessions,
} from './contract.js'
import {
  effectiveCapabilityScope,
  effectiveCredentialScope,
  mayUseConnectorCredential,
  mayUseRoute,
} from './settings/effective.js'
import { openSession } from './create.js'
import { sessionErrors } from './errors.js'
import { noteChange } from './record/journal.js'
import { putSession } from './record/store.js'
import { createViews, type ViewParts } from './views.js'

export interface DirectoryParts extends ViewParts {
  readonly state: State
  readonly ids: Ids
  readonly interception: () => Interception | undefined
  readonly collection: Collection<SessionRecord>
  readonly personas: PersonaSource
  readonly holds: () => readonly SessionHold[]
  readonly guards: () => readonly SessionEndGuard[]
  readonly observers: Pick<Observers<SessionEndGuard>, 'tell'>
}

export const createSessions = ({
  state: kept,
  ids,
  interception,
  collection,
  personas,
  journal,
  activity,
  holds,
  guards,
  observers,
  members,
  goals,
  agents,
}: DirectoryParts): Sessions => {
  const views = createViews({ journal, activity, members, goals, agents })
  const get = (session_id: string): SessionRecord => {
    const session = collection.find(session_id)
    if (session === undefined) throw sessionErrors.session_not_found({ details: { session_id } })
    return session
  }
  const announce: Sessions['announce'] = (tx, session_id, also) => {
    const session = get(session_id)
    const { agent_id } = session
    const seen = also?.snapshot === true ? views.look(session) : { state: views.state(session) }
    tx.emit(SessionStateChanged, { session: session_id }, () => ({ session_id, agent_id, ...seen.state }))
    if ('snapshot' in seen)
      tx.emit(SessionSnapshotTaken, { session: session_id }, () => ({ session_id, snapshot: seen.snapshot() }))
  }
  const end = (tx: Tx, session_id: string, reason: string | undefined): void => {
    const session = get(session_id)
    const veto = firstOf(guards(), (guard) => guard.veto(session))
    if (veto !== undefined) throw sessionErrors.session_end_refused({ details: { session_id, reason: veto } })
    const ended_at_ms = Math.max(tx.now, session.created_at_ms)
    const ended = { ...session, ended_at_ms, ...(reason !== undefined && { end_reason: reason }) }
    putSession({ collection, personas }, tx, ended)
    observers.tell(tx, 'hearing of the end of a session', (guard) => guard.ended?.(tx, session_id))
    const note = { change: 'ended' as const, ...(reason !== undefined && { reason }) }
    noteChange({ journal, activity }, tx, { session_id, note })
    announce(tx, session_id)
  }
  const requireIdle = (session_id: string): void => {
    const reason = firstOf(holds(), (hold) => hold.holds(session_id))
    if (reason !== undefined) throw sessionErrors.session_not_idle({ details: { session_id, reason } })
  }
  const sessions: Sessions = {
    collection,
    journal,
    find: (id) => collection.find(id),
    ofAgent: (agent_id) => collection.list({ index: 'agent', group: agent_id, limit: 1 })[0],
    get,
    view: views.view,
    summary: views.summary,
    snapshot: views.snapshot,
    state: views.state,
    metadata: views.metadata,
    announce,
    end,
    rest(tx, session_id, rest_status) {
      const session = collection.find(session_id)
      if (session === undefined || (session.rest_status ?? 'idle') === rest_status) return
      putSession({ collection, personas }, tx, { ...session, rest_status })
    },
    requireIdle,
    names: (index, sha256) => collection.count(index, sha256) > 0,
    effectiveCapabilityScope,
    effectiveCredentialScope,
    mayUseRoute,
    mayUseConnectorCredential,
    open: (tx, wanted) => openSession({ sessions, personas, state: kept, activity, ids, interception }, tx, wanted),
    change: (session_id, change) => changeSetting({ sessions, personas, state: kept, activity }, session_id, change),
  }
  return sessions
}

const firstOf = <T>(items: readonly T[], reason: (item: T) => string | undefined): string | undefined => {
  for (const item of items) {
    const found = reason(item)
    if (found !== undefined) return found
  }
  return undefined
}
