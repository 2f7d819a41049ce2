/** Which skills may be used, of those that somebody knows otherwise than by their files (skills-15). */
import { join } from 'node:path'
import { realFolder, type Log } from '../../../core/plugin.js'
import { ofNobody, promotedFolder, type GuardedSkill, type SkillGuard, type SkillRuling } from './contract.js'

export interface RulingParts {
  readonly guards: () => readonly SkillGuard[]
  readonly stateRoot: () => string
  readonly log: Log
}

export interface Rulings {
  /** Undefined for a skill that is what its files say. */
  of(skill: GuardedSkill): SkillRuling | undefined
  /** True if sessions see it. */
  isShown(skill: GuardedSkill): boolean
  /** Why a skill that sessions would see is not used; undefined if it is, or if none sees it. */
  fault(skill: GuardedSkill): string | undefined
  /** Why no skill was found under a name, where one should be. */
  missing(name: string): string | undefined
}

/** The workspace is seen by every session; skills of narrower learnings are not promoted. */
const isSeen = ({ promoted: { status, source_scope } }: SkillRuling): boolean =>
  status === 'active' && source_scope.kind === 'workspace'

export const createRulings = ({ guards, stateRoot, log }: RulingParts): Rulings => {
  const isOfDaemon = ({ summary: { skill_path, skill_root } }: GuardedSkill): boolean =>
    skill_path.startsWith(`${skill_root}/${promotedFolder}/`) &&
    realFolder(join(stateRoot(), 'skills'))?.path === skill_root
  const of = (skill: GuardedSkill): SkillRuling | undefined => {
    for (const guard of guards())
      try {
        const ruling = guard.ruling(skill)
        if (ruling !== undefined) return ruling
      } catch (error) {
        log.error('a guard of skills failed', { guard: guard.id, skill: skill.summary.name, error })
        return ofNobody
      }
    return isOfDaemon(skill) ? ofNobody : undefined
  }
  return {
    of,
    isShown(skill) {
      const ruling = of(skill)
      return ruling === undefined || (isSeen(ruling) && ruling.fault === undefined)
    },
    fault(skill) {
      const ruling = of(skill)
      return ruling !== undefined && isSeen(ruling) ? ruling.fault : undefined
    },
    missing: (name) => guards().reduce<string | undefined>((found, guard) => found ?? guard.missing?.(name), undefined),
  }
}
