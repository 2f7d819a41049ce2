/** Instructions that operators and repositories bring, by name. Rules: docs/rules/skills.md. */
import { doc, named, object, optional, string, type Infer } from '../../../core/plugin.js'
import { skillFields } from '../../execution/memory/contract.js'

/** A skill with what it says. */
export const SkillDetail = named(
  'SkillDetail',
  object({ ...skillFields, instructions: optional(doc(string(), 'What the file says; left out if it says nothing.')) }),
)
/** The value form of `SkillDetail`. */
export type SkillDetail = Infer<typeof SkillDetail>
