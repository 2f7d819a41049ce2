/** Where a session looks for what was learned (memory-9). */
import type { SessionRecord } from '../../sessions/contract.js'
import { scopeKinds, type LearningScope } from './learning.js'

export const scopeKey = ({ kind, id }: LearningScope): string => `${kind}:${id}`

/** Session, persona, what was added, workspace; each once, in this order. */
export const visibleScopes = (
  { session_id, persona }: Pick<SessionRecord, 'session_id' | 'persona'>,
  added: readonly LearningScope[],
): LearningScope[] => {
  const all: LearningScope[] = [
    { kind: 'session', id: session_id },
    ...(persona === undefined ? [] : [{ kind: 'persona' as const, id: persona.persona_id }]),
    ...added,
    { kind: 'workspace', id: 'default' },
  ]
  return [...new Map(all.map((scope) => [scopeKey(scope), scope])).values()].toSorted((a, b) => rankOf(a) - rankOf(b))
}

/** Place of a scope in the order of what is nearer. */
export const rankOf = ({ kind }: LearningScope): number => scopeKinds.indexOf(kind)

/**
 * The scopes under which other sessions may find the runs of a session. The
 * workspace is not among them: every session sees it, so that the visibility
 * `learning_scopes` would open each to all.
 */
export const sharedKeys = (scopes: readonly LearningScope[]): string[] =>
  scopes.filter(({ kind }) => kind === 'persona' || kind === 'project').map(scopeKey)
