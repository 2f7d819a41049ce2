/** Skills as personas bring them along. */
import { activeSkill } from './active-skill.js'
import { whyForked, rendered } from './activation.js'
import type { LiveCatalogue } from './catalogue.js'
import type { PersonaSkills } from './contract.js'
import type { Rulings } from './rulings.js'

export const personaSkills = (
  catalogue: Pick<LiveCatalogue, 'find'>,
  rulings: Pick<Rulings, 'isShown'>,
): PersonaSkills => ({
  freeze({ name, args }, activation_reason) {
    const skill = catalogue.find(name)
    if (skill === undefined || !rulings.isShown(skill)) return { ok: false, rule: 'must be installed' }
    const why = whyForked(skill.summary)
    if (why !== undefined) return { ok: false, rule: `must be usable by a run itself: ${why}` }
    const active = activeSkill(skill.summary, { args, activation_reason })
    return { ok: true, skill: Object.assign(active, { instructions: rendered(skill, args) }) }
  },
})
