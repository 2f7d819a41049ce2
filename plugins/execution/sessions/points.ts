/** What other plugins say of sessions. */
import {
  answerOf,
  array,
  asItIs,
  definePoint,
  hasMembers,
  json,
  string,
  withAnswers,
  type Json,
  type Point,
  type Tx,
} from '../../../core/plugin.js'
import type { SessionRecord } from './record/store.js'

/**
 * Keeps a session from being idle: its settings, but for the route policy,
 * change only while nothing holds it (sessions-10).
 */
export interface SessionHold {
  readonly id: string
  /**
   * What the session has, in words that can follow "it has": "a run that waits for approval". Undefined if nothing.
   * Must be fast and must not throw.
   */
  holds(session_id: string): string | undefined
}
/** Everything that may hold a session. */
export const SessionHolds: Point<SessionHold> = withAnswers(
  definePoint<SessionHold>(
    'session-holds@1',
    (hold) => hold.id,
    hasMembers('who holds sessions', { id: 'id', holds: 'function' }),
  ),
  {
    holds: answerOf(string(), undefined, {
      named: (plugin) => `something that the plugin ${plugin} cannot name`,
    }),
  },
)

/** May keep a session from being ended. */
export interface SessionEndGuard {
  readonly id: string
  /**
   * Why the session cannot be ended now, as the end of a sentence: "it is a member of project p1". Undefined if it can.
   * Must be fast and must not throw.
   */
  veto(session: SessionRecord): string | undefined
  /** Called in the commit that ends the session, for what ends with it. Must be done when it returns. */
  ended?(tx: Tx, session_id: string): void
}
/** Everything that may keep a session from being ended. */
export const SessionEndGuards: Point<SessionEndGuard> = withAnswers(
  definePoint<SessionEndGuard>(
    'session-end-guards@1',
    (guard) => guard.id,
    hasMembers('a guard of sessions', { id: 'id', veto: 'function' }),
  ),
  {
    veto: answerOf(string(), undefined, {
      named: (plugin) => `the plugin ${plugin} cannot say whether it may be`,
    }),
    ended: asItIs,
  },
)

/** A member of the metadata of sessions that another plugin keeps. */
export interface SessionMetadata {
  /** The member's name (sessions-28). */
  readonly key: string
  /** Undefined if the session has none. Must be fast and must not throw. */
  value(session_id: string): Json | undefined
}
/** What a session belongs to, such as projects. */
export interface SessionMembership {
  readonly kind: 'project' | 'channel'
  /** Ids, the first hundred. Must be fast and must not throw. */
  of(session_id: string): readonly string[]
}
/** What sessions belong to, by kind. */
export const SessionMemberships: Point<SessionMembership> = withAnswers(
  definePoint<SessionMembership>(
    'session-memberships@1',
    ({ kind }) => kind,
    hasMembers('a membership of sessions', { kind: 'id', of: 'function' }),
  ),
  { of: answerOf(array(string()), []) },
)
/** Ids of what a session belongs to of one kind. */
export const belongsTo = (
  known: readonly SessionMembership[],
  wanted: SessionMembership['kind'],
  session_id: string,
): readonly string[] => known.flatMap(({ kind, of }) => (kind === wanted ? of(session_id) : []))

/** Members of the metadata of sessions, by key. */
export const SessionMetadata: Point<SessionMetadata> = withAnswers(
  definePoint<SessionMetadata>(
    'session-metadata@1',
    (member) => member.key,
    hasMembers('a member of the metadata', { key: 'id', value: 'function' }),
  ),
  { value: answerOf(json(), undefined) },
)
