/** What the file of a skill says. Pure, but for the parser that it is given. */
import { hash } from 'node:crypto'
import type { SkillSummary } from '../../execution/memory/contract.js'

/** Reads YAML; throws what is wrong with it. */
export type ParseYaml = (text: string) => unknown

/** The files of one skill, as they were read. */
export interface SkillFiles {
  /** Below its root, of `SKILL.md`. */
  readonly path: string
  readonly root: string
  readonly scope: SkillSummary['scope']
  readonly text: string
  /** Of `agents/service.yaml`; undefined if there is none. */
  readonly side: string | undefined
}
export interface SkillContent {
  readonly summary: SkillSummary
  readonly instructions: string
  /** Members that say how the skill runs, where nobody looks at them. */
  readonly unread: readonly string[]
}
export type ReadSkill =
  | { readonly ok: true; readonly skill: SkillContent }
  | { readonly ok: false; readonly rule: string }

type Fields = Readonly<Record<string, unknown>>
type Runtime = SkillSummary['runtime']

const longestName = 200
const longestLine = 4_000
const mostTools = 200
/** Members that nobody knows, and characters of each, that are told. */
const [mostStrange, longestStrange] = [5, 60]
/** Of front matter, and of `agents/service.yaml`. */
const [mostYamlBytes, mostYamlSigns] = [16 * 1024, 1_000]

class Invalid extends Error {}
const refuse = (rule: string): never => {
  throw new Invalid(rule)
}

/** A line of text that steers no terminal and hides nothing. */
export const oneLine = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cs}\ufff9-\ufffb]/gu, '')
    .trim()

const divided = (text: string): { readonly head: string | undefined; readonly body: string } => {
  const [, head, body = ''] = /^\ufeff?---[ \t]*\r?\n(?:([^]*?)\r?\n)?---[ \t]*(?:\r?\n([^]*))?$/u.exec(text) ?? []
  const isFramed = /^\ufeff?---[ \t]*\r?\n(?:[^]*?\r?\n)?---[ \t]*(?:\r?\n|$)/u.test(text)
  if (isFramed) return { head: head ?? '', body }
  // A line of its own above some prose is a rule across the page.
  if (/^\ufeff?---[ \t]*\r?\n\s*[\w-]+:(?:\s|$)/u.test(text)) refuse('the front matter must end with a line ---')
  return { head: undefined, body: text.replace(/^\ufeff/u, '') }
}

/** Parsing takes long for signs, as each may mean something, and longer still for very many. */
const refuseLarge = (what: string, text: string): void => {
  if (Buffer.byteLength(text) > mostYamlBytes) refuse(`${what} must have at most ${mostYamlBytes} bytes`)
  const signs = text.replaceAll(/[\p{L}\p{N}_ ]+/gu, '').length
  if (signs > mostYamlSigns) refuse(`${what} must have at most ${mostYamlSigns} signs that are no letters or digits`)
}

const parsed = (what: string, text: string, parse: ParseYaml): Fields => {
  refuseLarge(what, text)
  let value: unknown
  try {
    value = parse(text)
  } catch {
    return refuse(`${what} must be YAML`)
  }
  if (value === null || value === undefined || value === '') return {}
  return typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : refuse(`${what} must be a mapping`)
}

const lineOf = (fields: Fields, key: string): string | undefined => {
  const value = fields[key]
  if (value === undefined) return undefined
  if (typeof value !== 'string') return refuse(`${key} must be text`)
  const line = oneLine(value)
  return line.length > longestLine ? refuse(`${key} must have at most ${longestLine} characters`) : line
}
const textOf = (fields: Fields, key: string): string | undefined => lineOf(fields, key) || undefined

/** The first words that are no code: a heading counts without its marks. */
const firstProse = (body: string): string | undefined => {
  const prose = body.replaceAll(/^(```|~~~)[^]*?^\1[^\n]*$/gmu, '')
  const paragraph = prose
    .split(/\r?\n[ \t]*\r?\n/u)
    .map((part) => oneLine(part.replaceAll(/^#+[ \t]*/gmu, '')))
    .find((part) => part !== '')
  return paragraph?.slice(0, longestLine)
}

const toolsOf = (fields: Fields, key: string): string[] | undefined => {
  const value = fields[key]
  if (value === undefined || value === '') return undefined
  const names: unknown[] = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [undefined]
  if (names.length > mostTools) return refuse(`${key} must name at most ${mostTools} tools`)
  return names.map((name) => (typeof name === 'string' ? oneLine(name) : refuse(`${key} must be a list of names`)))
}

const contextOf = (side: Fields): Runtime['context'] => {
  const said = textOf(side, 'context') ?? 'inline'
  return said === 'inline' || said === 'fork' ? said : refuse('context must be inline or fork')
}

/** Members of `agents/service.yaml`, which say how a skill runs. */
export const settingNames = [
  'allowed_tools',
  'blocked_tools',
  'context',
  'agent_profile',
  'provider',
  'model',
  'fallback_model',
] as const
const settings: ReadonlySet<string> = new Set(settingNames)
/** What other programs look for in the front matter beside these. */
const foreignSettings: ReadonlySet<string> = new Set(['agent', 'disable_model_invocation', 'disallowed_tools'])

const isSetting = (key: string): boolean => {
  const name = key.replaceAll('-', '_')
  return settings.has(name) || foreignSettings.has(name)
}

const unreadOf = (head: Fields, side: Fields): readonly string[] => [
  ...Object.keys(head).filter(isSetting),
  ...Object.keys(side)
    .filter((key) => !settings.has(key))
    .slice(0, mostStrange)
    .map((key) => `${oneLine(key).slice(0, longestStrange)} of agents/service.yaml`),
]

const runtimeOf = (side: Fields): Runtime => {
  const members = {
    allowed_tools: toolsOf(side, 'allowed_tools'),
    blocked_tools: toolsOf(side, 'blocked_tools'),
    context: contextOf(side),
    agent_profile: textOf(side, 'agent_profile'),
    provider: textOf(side, 'provider'),
    model: textOf(side, 'model'),
    fallback_model: textOf(side, 'fallback_model'),
  }
  return Object.assign(
    { context: members.context },
    Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)),
  )
}

/** Of `a/b/SKILL.md`: `a:b`; in the root itself the name of its folder. */
const nameFrom = ({ path, root }: SkillFiles): string =>
  oneLine(path.split('/').slice(0, -1).join(':') || (root.split('/').at(-1) ?? ''))

const nameOf = (files: SkillFiles, head: Fields): string => {
  const name = textOf(head, 'name') ?? nameFrom(files)
  if (name === '' || name.length > longestName) return refuse(`name must have 1 to ${longestName} characters`)
  if (name === '.' || name === '..') return refuse('name must not be . or .., which no path can hold')
  return name.includes('/') ? refuse('name must not hold a slash') : name
}

const contentOf = (files: SkillFiles, parse: ParseYaml): SkillContent => {
  const { head: front, body } = divided(files.text)
  const head = front === undefined ? {} : parsed('the front matter', front, parse)
  const side = files.side === undefined ? {} : parsed('agents/service.yaml', files.side, parse)
  const instructions = body.trim()
  const description = lineOf(head, 'description') ?? firstProse(body) ?? refuse('description must not be missing')
  if (description === '') refuse('description must not be empty')
  const [when_to_use, version] = [textOf(head, 'when_to_use') ?? textOf(head, 'when-to-use'), textOf(head, 'version')]
  const runtime = runtimeOf(side)
  const summary: SkillSummary = {
    name: nameOf(files, head),
    description,
    ...(when_to_use !== undefined && { when_to_use }),
    ...(version !== undefined && { version }),
    skill_path: `${files.root}/${files.path}`,
    skill_root: files.root,
    scope: files.scope,
    digest: hash('sha256', [files.path, instructions, JSON.stringify(runtime)].join('\n')),
    runtime,
  }
  return { summary, instructions, unread: unreadOf(head, side) }
}

/** A skill, or the first rule that its files break. */
export const readSkill = (files: SkillFiles, parse: ParseYaml): ReadSkill => {
  try {
    return { ok: true, skill: contentOf(files, parse) }
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    return { ok: false, rule: error.message }
  }
}
