/** Every source of memory as one. A source that throws is told and takes no other with it. */
import {
  answerOf,
  array,
  definePoint,
  hasMembers,
  withAnswers,
  yesOrNo,
  type Log,
  type Point,
} from '../../../../core/plugin.js'
import type { SessionRecord } from '../../sessions/contract.js'
import { LearningScope, type LearningItem, type SkillItem } from './learning.js'
import { TakenLearning, TakenSkill } from './taken.js'
import { scopeKey, visibleScopes } from './scopes.js'

/**
 * Where memory comes from, beside recovered runs. Its methods are called for each question: they must be fast, must not
 * throw and must do no I/O.
 */
export interface MemorySource {
  readonly id: string
  /** Further scopes of a session, such as those of its projects. */
  scopes?(session_id: string): readonly LearningScope[]
  /** Every learning of these scopes, whatever its state. */
  learnings?(scopes: readonly LearningScope[]): readonly LearningItem[]
  /** True while there is no learning in any scope: then nothing is put together to ask for them. */
  hasNoLearnings?(): boolean
  /** Every skill, whatever its state. */
  skills?(): readonly SkillItem[]
}
/** Bytes of everything that one source has. */
const mostGathered = 16 * 1024 * 1024
/** Sources of memory by id. */
export const MemorySources: Point<MemorySource> = withAnswers(
  definePoint<MemorySource>('memory-sources@1', (source) => source.id, hasMembers('a source of memory', { id: 'id' })),
  {
    scopes: answerOf(array(LearningScope), []),
    learnings: answerOf(array(TakenLearning), [], { most: mostGathered }),
    hasNoLearnings: yesOrNo(false),
    skills: answerOf(array(TakenSkill), [], { most: mostGathered }),
  },
)

export interface Sources {
  readonly ids: () => string[]
  /** True if any of them has learnings, or may have. */
  readonly learn: () => boolean
  /** The scopes that a session sees, nearest first. */
  scopes(session: SessionRecord): LearningScope[]
  learnings(scopes: readonly LearningScope[]): LearningItem[]
  skills(): SkillItem[]
}

export const createSources = (view: () => readonly MemorySource[], log: Log): Sources => {
  const gather = <T>(ask: (source: MemorySource) => readonly T[] | undefined): T[] =>
    view().flatMap((source) => {
      try {
        return ask(source) ?? []
      } catch (error) {
        log.error('a source of memory failed', { source: source.id, error })
        return []
      }
    })
  return {
    ids: () => view().map(({ id }) => id),
    learn: () =>
      gather((source) => [source.learnings !== undefined && source.hasNoLearnings?.() !== true]).includes(true),
    scopes: (session) =>
      visibleScopes(
        session,
        gather((source) => source.scopes?.(session.session_id)),
      ),
    learnings(scopes) {
      const seen = new Set(scopes.map(scopeKey))
      return gather((source) => source.learnings?.(scopes)).filter(({ scope }) => seen.has(scopeKey(scope)))
    },
    skills: () => gather((source) => source.skills?.()),
  }
}
