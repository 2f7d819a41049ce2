/** Which files are the skills that were promoted, and which only look like them. */
import { visibleLine, type Warning } from '../../../core/plugin.js'
import {
  edit,
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

/** Why an active skill cannot be used, and what to do. */
const reasonOf = (
  record: SkillRecord,
  found: GuardedSkill | undefined,
  root: string,
): Pick<Warning, 'message' | 'action'> | undefined => {
  const fault = found === undefined ? lost : faultOf(record, found, root)
  if (fault === undefined) return undefined
  const unused = `The promoted skill ${record.skill_name} cannot be used:`
  const path = found?.summary.skill_path
  if (path === undefined || path.startsWith(`${root}/${promotedFolder}/`))
    return {
      message: `${unused} ${fault}.`,
      action: 'A restart writes its files anew, and so does promoting it again as it is.',
    }
  return {
    message: `${unused} ${visibleLine(path)} has its name, and counts.`,
    action: `Give that one another name, and both can be used: ${edit(path)}`,
  }
}

/** Active skills that cannot be used, because the catalogue has something else, or nothing. */
export const unusable = (
  { store, root }: { readonly store: Pick<SkillStore, 'active'>; readonly root: () => string },
  catalogue: () => Pick<SkillCatalogue, 'find' | 'hasLooked'> | undefined,
): readonly Warning[] => {
  const found = catalogue()
  if (found?.hasLooked() !== true) return []
  return store
    .active()
    .flatMap((record): Warning[] => {
      const { skill_name } = record
      const reason = reasonOf(record, found.find(skill_name), root())
      return reason === undefined
        ? []
        : [{ severity: 'error', code: 'promoted_skill_changed', related_id: skill_name, ...reason }]
    })
    .slice(0, mostShown)
}
