/** What a promoted skill says: how it is asked for, what is kept of it, and how it is told from another. Pure. */
import { hash } from 'node:crypto'
import { array, doc, enums, optional, string, type Infer, object } from '../../../core/plugin.js'
import { oneLine, settingNames } from '../../operator/skills/contract.js'
import { promotedErrors } from './errors.js'
import { rolloutStatuses, type SkillRecord, type SkillRuntime } from './record.js'

/** Characters. */
const [longestName, longestLine, longestVersion] = [200, 4_000, 200]
export const mostInstructions = 64 * 1024
const mostTools = 100

const line = (max: number) => optional(string({ max }))
const Tools = optional(doc(array(string({ max: longestName }), { max: mostTools }), 'A name may end with `*`.'))
/** How a skill is asked for. */
export const PromotionBody = object({
  skill_name: doc(string({ max: longestName }), 'Letters, digits, `:`, `_` and `-`.'),
  description: doc(line(longestLine), 'One line; a general one if it is left out or blank.'),
  when_to_use: line(longestLine),
  version: line(longestVersion),
  instructions: optional(
    doc(
      string(),
      `What the agent is told: at most ${mostInstructions} characters. Left out, it stays, as settings do.`,
    ),
  ),
  allowed_tools: Tools,
  blocked_tools: Tools,
  context: doc(line(longestName), 'Always `fork`.'),
  agent_profile: doc(line(longestName), 'Always `verification`.'),
  provider: line(longestName),
  model: line(longestName),
  fallback_model: line(longestName),
  status: optional(doc(enums(rolloutStatuses), 'How far its rollout is to be; `draft` when absent.')),
})
export type PromotionWish = Infer<typeof PromotionBody>

/** What a skill says. Two that say the same are the same. */
export type Definition = Pick<
  SkillRecord,
  'skill_name' | 'description' | 'when_to_use' | 'version' | 'instructions' | 'runtime'
>

const general = 'Has an agent of its own work by a procedure that this workspace has learned.'

const refuse = (path: string, rule: string): never => {
  throw promotedErrors.invalid_promotion({ errors: [{ path: `body.${path}`, rule }] })
}

/** One line without what steers a terminal; undefined for a blank one. */
const lineOf = (text: string | undefined): string | undefined => oneLine(text ?? '') || undefined

const always = <T extends string>(path: string, said: string | undefined, value: T): T =>
  (lineOf(said) ?? value) === value ? value : refuse(path, `must be ${value}`)

const toolsOf = (path: string, names: readonly string[] | undefined): string[] | undefined =>
  names?.map((name, at) => lineOf(name) ?? refuse(`${path}.${at}`, 'must not be blank'))

/** Who says nothing of what the agent does means what it does now. */
const isStepAlone = (wish: PromotionWish): boolean =>
  wish.instructions === undefined && settingNames.every((name) => wish[name] === undefined)

/** Members stand in the order of the fingerprint. */
const runtimeOf = (wish: PromotionWish): SkillRuntime => {
  const allowed_tools = toolsOf('allowed_tools', wish.allowed_tools)
  const blocked_tools = toolsOf('blocked_tools', wish.blocked_tools)
  const [provider, model, fallback_model] = [wish.provider, wish.model, wish.fallback_model].map(lineOf)
  return {
    ...(allowed_tools !== undefined && { allowed_tools }),
    ...(blocked_tools !== undefined && { blocked_tools }),
    context: always('context', wish.context, 'fork'),
    agent_profile: always('agent_profile', wish.agent_profile, 'verification'),
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    ...(fallback_model !== undefined && { fallback_model }),
  }
}

const instructionsOf = ({ instructions }: PromotionWish, before: Definition | undefined): string => {
  const text = (instructions ?? before?.instructions)?.trim()
  if (text === undefined) return refuse('instructions', 'must be given: there is no such skill yet that has some')
  if (text === '' || text.length > mostInstructions)
    return refuse('instructions', `must have from 1 to ${mostInstructions} characters, without the blanks around them`)
  return /[\p{Cs}\0]/u.test(text) ? refuse('instructions', 'must be text that a file can hold') : text
}

const nameOf = ({ skill_name }: PromotionWish): string =>
  /^[A-Za-z0-9:_-]+$/u.test(skill_name)
    ? skill_name
    : refuse('skill_name', 'must be one line of letters, digits, :, _ and -')

/** What is asked for, with what is left out as it was before. Throws the field that cannot be. */
export const definitionOf = (wish: PromotionWish, before: Definition | undefined): Definition => {
  const when_to_use = lineOf(wish.when_to_use) ?? before?.when_to_use
  const version = lineOf(wish.version) ?? before?.version
  return {
    skill_name: nameOf(wish),
    description: lineOf(wish.description) ?? before?.description ?? general,
    ...(when_to_use !== undefined && { when_to_use }),
    ...(version !== undefined && { version }),
    instructions: instructionsOf(wish, before),
    runtime: before !== undefined && isStepAlone(wish) ? before.runtime : runtimeOf(wish),
  }
}

/** Every text of it, with its path in a request. */
export const textsOf = ({ runtime, ...definition }: Definition): readonly (readonly [path: string, text: string])[] => {
  const { allowed_tools = [], blocked_tools = [], provider, model, fallback_model } = runtime
  const { skill_name, description, when_to_use, version, instructions } = definition
  const lines = { skill_name, description, when_to_use, version, instructions, provider, model, fallback_model }
  return [
    ...Object.entries(lines).flatMap(([path, text]) => (text === undefined ? [] : [[path, text] as const])),
    ...allowed_tools.map((name, at) => [`allowed_tools.${at}`, name] as const),
    ...blocked_tools.map((name, at) => [`blocked_tools.${at}`, name] as const),
  ]
}

/** The settings in the order of the fingerprint. */
const settings = (runtime: SkillRuntime): string => {
  const { allowed_tools, blocked_tools, context, agent_profile, provider, model, fallback_model } = runtime
  return JSON.stringify({ allowed_tools, blocked_tools, context, agent_profile, provider, model, fallback_model })
}

/** SHA-256, in hex, of each part behind its name, a NUL behind either. */
export const fingerprintOf = (definition: Definition): string => {
  const { skill_name, description, when_to_use = '', version = '', instructions, runtime } = definition
  const sections = {
    name: skill_name,
    description,
    when_to_use,
    version,
    instructions: instructions.trim(),
    runtime: settings(runtime),
  }
  return hash(
    'sha256',
    Object.entries(sections)
      .flatMap(([name, text]) => [name, '\0', text, '\0'])
      .join(''),
  )
}

const known = new WeakMap<Definition, boolean>()
/** False where somebody changed the record by hand. */
export const isSound = (record: SkillRecord): boolean => {
  const before = known.get(record)
  if (before !== undefined) return before
  const sound = fingerprintOf(record) === record.definition_fingerprint
  known.set(record, sound)
  return sound
}

/** What a skill says that was found somewhere. */
export interface Loaded {
  readonly name: string
  readonly description: string
  readonly when_to_use?: string | undefined
  readonly version?: string | undefined
  readonly instructions: string
  readonly runtime: object
}
/** The member of a definition that a loaded skill has otherwise; undefined where it says the same. */
export const differenceOf = (definition: Definition, loaded: Loaded): string | undefined => {
  const {
    allowed_tools,
    blocked_tools,
    context,
    agent_profile,
    provider,
    model,
    fallback_model,
    ...others
  }: Partial<Record<keyof SkillRuntime, unknown>> = loaded.runtime
  const theirs = { allowed_tools, blocked_tools, context, agent_profile, provider, model, fallback_model, ...others }
  const pairs: readonly (readonly [string, string | undefined, string | undefined])[] = [
    ['name', definition.skill_name, loaded.name],
    ['description', definition.description, loaded.description],
    ['when_to_use', definition.when_to_use, loaded.when_to_use],
    ['version', definition.version, loaded.version],
    ['instructions', definition.instructions.trim(), loaded.instructions.trim()],
    ['settings', settings(definition.runtime), JSON.stringify(theirs)],
  ]
  return pairs.find(([, ours, other]) => ours !== other)?.[0]
}
