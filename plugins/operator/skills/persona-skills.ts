/** Skills as personas bring them along. */
import { activeSkill } from './active-skill.js'
import { isForked, rendered } from './activation.js'
import type { LiveCatalogue } from './catalogue.js'
import type { PersonaSkills } from './contract.js'

export const personaSkills = (catalogue: Pick<LiveCatalogue, 'find'>): PersonaSkills => ({
  freeze({ name, args }, activation_reason) {
    const skill = catalogue.find(name)
    if (skill === undefined) return { ok: false, rule: 'must be installed' }
    if (isForked(skill.summary))
      return { ok: false, rule: 'must be usable by a run itself: it wants an agent of its own' }
    const active = activeSkill(skill.summary, { args, activation_reason })
    return { ok: true, skill: Object.assign(active, { instructions: rendered(skill, args) }) }
  },
})
