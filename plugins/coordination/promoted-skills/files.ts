/** The files of a promoted skill, for our own loader and for others. Pure. */
import { promotedFolder } from '../../operator/skills/contract.js'
import type { FolderTexts } from '../../../core/plugin.js'
import type { Definition } from './definition.js'

/** Every JSON text is a quoted text of YAML, but for what YAML wants to be written as a number. */
const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll(
    /[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/gu,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

type Value = string | readonly string[] | undefined
const lineOf = ([key, value]: readonly [string, Value]): string[] => {
  if (value === undefined) return []
  return [`${key}: ${typeof value === 'string' ? quoted(value) : `[${value.map(quoted).join(', ')}]`}\n`]
}
const yamlOf = (fields: Readonly<Record<string, Value>>): string => Object.entries(fields).flatMap(lineOf).join('')

/** By their paths below the folder of the skill. */
export const filesOf = ({ skill_name, description, version, when_to_use, instructions, runtime }: Definition) =>
  ({
    'SKILL.md': `---\n${yamlOf({ name: skill_name, description, version, when_to_use })}---\n${instructions.trim()}\n`,
    'agents/service.yaml': yamlOf({
      allowed_tools: runtime.allowed_tools,
      blocked_tools: runtime.blocked_tools,
      context: runtime.context,
      agent_profile: runtime.agent_profile,
      provider: runtime.provider,
      model: runtime.model,
      fallback_model: runtime.fallback_model,
    }),
  }) satisfies FolderTexts

/** Of the file of a skill, below the folder of skills. */
export const pathOf = (source_learning_id: string): string => `${promotedFolder}/${source_learning_id}/SKILL.md`
