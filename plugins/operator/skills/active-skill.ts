/** A skill in use, and what it lets models call. Pure. */
import { array, enums, object, optional, string, type Infer } from '../../../core/plugin.js'
import type { SkillSummary } from '../../execution/memory/contract.js'
import type { GatedTool, NamedTools } from '../../execution/tools/contract.js'

const fields = {
  name: string(),
  description: string(),
  when_to_use: optional(string()),
  version: optional(string()),
  skill_path: string(),
  skill_root: string(),
  digest: string(),
  args: optional(string()),
  context: enums(['inline', 'fork']),
  allowed_tools: optional(array(string())),
  blocked_tools: optional(array(string())),
  activation_reason: string(),
}
/** A skill as it was when it was used. */
export const ActiveSkill = object(fields)
export type ActiveSkill = Infer<typeof ActiveSkill>
/** The same with its instructions, its arguments put in. */
export const FrozenSkill = object({ ...fields, instructions: string() })
export type FrozenSkill = Infer<typeof FrozenSkill>

export const activeSkill = (
  { runtime, ...summary }: SkillSummary,
  { args, activation_reason }: { readonly args: string | undefined; readonly activation_reason: string },
): ActiveSkill => {
  const { name, description, when_to_use, version, skill_path, skill_root, digest } = summary
  const { context, allowed_tools, blocked_tools } = runtime
  return {
    name,
    description,
    skill_path,
    skill_root,
    digest,
    context,
    ...(when_to_use !== undefined && { when_to_use }),
    ...(version !== undefined && { version }),
    ...(args !== undefined && { args }),
    ...(allowed_tools !== undefined && { allowed_tools }),
    ...(blocked_tools !== undefined && { blocked_tools }),
    activation_reason,
  }
}

const isNamed = (patterns: readonly string[], tool: string): boolean =>
  patterns.some((pattern) => (pattern.endsWith('*') ? tool.startsWith(pattern.slice(0, -1)) : tool === pattern))

/** Always there: what a skill needs to hand over to another one. */
const skillTools: ReadonlySet<string> = new Set(['list_skills', 'use_skill'])

type Limits = Pick<ActiveSkill, 'allowed_tools' | 'blocked_tools'>

const isLimit = ({ allowed_tools, blocked_tools }: Limits): boolean =>
  allowed_tools !== undefined || blocked_tools !== undefined

/** A skill that allows no tool lets none pass but those of skills. */
export const surfacesOf = (skills: readonly Limits[]): readonly NamedTools[] =>
  skills.filter(isLimit).map(({ allowed_tools, blocked_tools = [] }) => ({
    allowlist: allowed_tools === undefined ? [] : [...allowed_tools, ...skillTools],
    denylist: blocked_tools.flatMap((pattern) => (skillTools.has(pattern) ? [] : [pattern])),
  }))

export const hiddenBy = (skills: readonly Limits[]): ((tool: GatedTool) => boolean) | undefined => {
  const limits = skills.filter(isLimit)
  if (limits.length === 0) return undefined
  return ({ name }) =>
    !skillTools.has(name) &&
    limits.some(
      ({ allowed_tools, blocked_tools = [] }) =>
        isNamed(blocked_tools, name) || (allowed_tools !== undefined && !isNamed(allowed_tools, name)),
    )
}
