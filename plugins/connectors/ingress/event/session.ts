/** The session of an event, and what the connector's policy says of it. */
import type { Connector, IngressEvent } from '../../registry/contract.js'
import type { Runs } from '../../../execution/runs/contract.js'
import type { Sessions, WantedSession } from '../../../execution/sessions/contract.js'
import { ingressErrors } from './errors.js'

/** Fixed, asked for, bound, natural: the first that there is. Throws `bad_request` where there is none. */
export const sessionOf = (
  { sessionOfBinding }: Pick<Runs, 'sessionOfBinding'>,
  { settings: { fixed_session_id } }: Connector,
  { session_id, binding_keys, natural_session_id }: IngressEvent,
): string => {
  const found = fixed_session_id ?? session_id ?? firstBound(sessionOfBinding, binding_keys) ?? natural_session_id
  if (found !== undefined) return found
  throw ingressErrors.bad_request({
    details: { what: 'nothing says which session it belongs to, neither itself nor its connector' },
    members: { reason: 'session_unresolved' },
  })
}

const firstBound = (find: Runs['sessionOfBinding'], keys: readonly string[]): string | undefined => {
  for (const key of keys) {
    const bound = find(key)
    if (bound !== undefined) return bound
  }
  return undefined
}

/** What its session is opened with, or must be already. */
export const wantedSession = ({ settings: { session_policy } }: Connector, session_id: string): WantedSession => {
  const { create_if_missing: _, ...bound } = session_policy ?? {}
  return { session_id, ...bound }
}

/**
 * Whether the session is there. Throws `conflict` where it is not and the connector may not open it: one that was ended
 * is opened again by who may open one.
 */
export const isThere = (
  sessions: Pick<Sessions, 'find'>,
  { settings: { session_policy } }: Connector,
  session_id: string,
): boolean => {
  const session = sessions.find(session_id)
  if (session !== undefined && session.ended_at_ms === undefined) return true
  if (session_policy?.create_if_missing === true) return false
  throw ingressErrors.conflict({
    details: { what: 'its session is not there, and the connector opens none' },
    members: { reason: 'session_missing' },
  })
}

/**
 * Keys that the session is bound to. That of a fixed one is the operator's word: what belongs to another session stays
 * there, and the event is not refused for it.
 */
export const boundKeys = (
  { sessionOfBinding }: Pick<Runs, 'sessionOfBinding'>,
  { settings: { fixed_session_id } }: Connector,
  keys: readonly string[],
): readonly string[] =>
  fixed_session_id === undefined
    ? keys
    : keys.filter((key) => (sessionOfBinding(key) ?? fixed_session_id) === fixed_session_id)
