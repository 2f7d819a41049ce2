/** Skills as personas bring them along. */
import { activeSkill } from './active-skill.js'
import { notInline, rendered } from './activation.js'
import type { LiveCatalogue } from './catalogue.js'
import type { PersonaSkills } from './contract.js'

export const personaSkills = (catalogue: Pick<LiveCatalogue, 'find'>): PersonaSkills => ({
  freeze({ name, args }, activation_reason) {
    const skill = catalogue.find(name)
    if (skill === undefined) return { ok: false, rule: 'must be installed' }
    const what = notInline(skill.summary)
    if (what !== undefined) return { ok: false, rule: `must be usable by a run itself: ${what}` }
    const active = activeSkill(skill.summary, { args, activation_reason })
    return { ok: true, skill: Object.assign(active, { instructions: rendered(skill, args) }) }
  },
})
