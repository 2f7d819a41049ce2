/** What sessions freeze of a persona when they are bound to it. */
import { hash } from 'node:crypto'
import { digest } from '../../../core/plugin.js'
import { sessionErrors, type PersonaSource } from '../../execution/sessions/contract.js'
import type { FrozenSkill, PersonaSkills } from '../../operator/skills/contract.js'
import { frozenSkills } from './frozen.js'
import type { SkillLists } from './kept.js'
import type { StoredPersona } from './record.js'
import type { PersonaStore } from './store.js'

interface BindingParts {
  readonly personas: PersonaStore
  readonly lists: SkillLists
  readonly skills: () => PersonaSkills | undefined
}

export const createSource = ({ personas, lists, skills }: BindingParts): PersonaSource => ({
  freeze(tx, persona_id) {
    const persona = personas.find(persona_id)
    const frozen = skillsOf(persona, skills())
    const named = persona.soul_sha256 === undefined ? personas.put(tx, personas.get(persona_id)) : persona
    const { display_name, capability_scope, version, soul_sha256 = '' } = named
    return {
      persona_id,
      persona_version: version,
      display_name,
      soul_sha256,
      ...(frozen.length > 0 && {
        default_skills_sha256: lists.keep(tx, { sha256: digest(frozen), skills: frozen }),
      }),
      ...(capability_scope !== undefined && { capability_scope }),
    }
  },
  require: (persona_id) => void personas.find(persona_id),
  soul: (sha256) => personas.souls.get(sha256).text,
  keepSoul: (tx, text) => void personas.souls.keep(tx, { sha256: hash('sha256', text), text }),
  letGo(tx, { soul, soul_sha256, default_skills_sha256 }) {
    if (soul === undefined) personas.souls.letGo(tx, soul_sha256)
    if (default_skills_sha256 !== undefined) lists.letGo(tx, default_skills_sha256)
  },
})

const skillsOf = (persona: StoredPersona, source: PersonaSkills | undefined): FrozenSkill[] => {
  const found = frozenSkills(persona, source)
  if (found.ok) return found.skills
  const what = `${found.field} ${found.rule}`
  throw sessionErrors.persona_unbindable({
    details: { persona_id: persona.persona_id, what },
    errors: [{ path: 'body.persona_id', rule: `names a persona of which ${what}` }],
  })
}
