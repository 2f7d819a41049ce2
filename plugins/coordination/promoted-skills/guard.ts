/** Which files are the skills that were promoted, and which only look like them. */
import type { Warning } from '../../../core/plugin.js'
import {
  promotedFolder,
  type GuardedSkill,
  type SkillCatalogue,
  type SkillGuard,
} from '../../operator/skills/contract.js'
import { differenceOf, isSound } from './definition.js'
import { pathOf } from './files.js'
import type { SkillRecord } from './record.js'
import type { SkillStore } from './store.js'

export interface GuardParts {
  readonly store: SkillStore
  /** The folder of skills, with every link resolved. */
  readonly root: () => string
}

/** Why a file is not the skill of the record, in words that follow it; undefined if it is. */
const faultOf = (record: SkillRecord, { summary, instructions }: GuardedSkill, root: string): string | undefined => {
  if (!isSound(record)) return 'its record is not as it was promoted'
  if (summary.skill_root !== root || summary.skill_path !== `${root}/${pathOf(record.source_learning_id)}`)
    return 'its file is not where its record says'
  const difference = differenceOf(record, { ...summary, instructions })
  return difference === undefined ? undefined : `its file has not the ${difference} of its record`
}

const lost = 'its file is not in the catalogue'

export const createGuard = ({ store, root }: GuardParts): SkillGuard => ({
  id: 'promoted-skills',
  ruling(skill) {
    const { name, skill_path } = skill.summary
    const isOurs = skill_path.startsWith(`${root()}/${promotedFolder}/`)
    if (!isOurs && store.skills.count('status', 'active') === 0) return undefined
    const record = store.find(name)
    if (record?.status !== 'active')
      return isOurs
        ? {
            promoted: {
              status: record?.status ?? 'revoked',
              source_scope: record?.source_scope ?? { kind: 'workspace', id: 'default' },
            },
          }
        : undefined
    const fault = faultOf(record, skill, root())
    const promoted = { status: record.status, source_scope: record.source_scope }
    return fault === undefined ? { promoted } : { promoted, fault }
  },
  missing(name) {
    const record = store.find(name)
    return record?.status === 'active' && record.source_scope.kind === 'workspace' ? lost : undefined
  },
})

const mostShown = 10

/** Active skills that cannot be used, because the catalogue has something else, or nothing. */
export const unusable = (
  { store, root }: GuardParts,
  catalogue: () => SkillCatalogue | undefined,
): readonly Warning[] => {
  const found = catalogue()
  if (found === undefined) return []
  return store
    .active()
    .flatMap((record): Warning[] => {
      const skill = found.find(record.skill_name)
      const fault = skill === undefined ? lost : faultOf(record, skill, root())
      if (fault === undefined) return []
      return [
        {
          severity: 'error',
          code: 'promoted_skill_changed',
          related_id: record.skill_name,
          message: `The promoted skill ${record.skill_name} cannot be used: ${fault}.`,
          action: 'A restart writes its files anew, and so does promoting it again as it is.',
        },
      ]
    })
    .slice(0, mostShown)
}
