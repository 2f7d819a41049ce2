/**
 * Configuration: defaults, then `config/<plugin>.toml`, then the environment,
 * then flags. The only reader of the process's environment. Values arrive as
 * text from two of these and are read by the field's JSON Schema type.
 */
import { basename } from 'node:path'
import { defineErrors } from './errors.js'
import { memberIn, unknownField, wrongToo } from './issue-rule.js'
import { parseOnce, type Issue, type Parsed } from './parse.js'
import {
  fieldNames,
  fieldSchemas,
  isJsonObject,
  unsafeCast,
  type AnyStruct,
  type Json,
  type JsonObject,
} from './schema.js'
import { isSecretSetting } from './words/secret-names.js'
import { meantName } from './words/nearest.js'

export type Environment = Readonly<Record<string, string | undefined>>
/** Flags by name; `true` for one without a value. */
export type Flags = ReadonlyMap<string, string | true>

/** The environment the daemon was started with. Holds secrets: a child process gets a part of it at most. */
export const environment = (): Environment => process.env

export const errors = defineErrors({
  flag_unknown: { status: 400, detail: 'there is no flag {flag}{hint}' },
  flag_twice: { status: 400, detail: '--{flag} is given twice' },
  config_invalid: { status: 400, detail: '{source} {problem}' },
})

/** A flag, its variable, and the field that both set. */
export interface Setting {
  readonly flag: string
  readonly variable: string
  readonly field: string
}

/** A list is given by commas, so that its variable is in the plural, whatever its flag is. */
export const variableOf = (flag: string, isList: boolean): string => {
  const name = `SERVICE_${flag.replaceAll('-', '_').toUpperCase()}`
  return isList && !name.endsWith('S') ? `${name}S` : name
}

const typeOf = (struct: AnyStruct, field: string): unknown => fieldSchemas(struct)[field]?.['type']

export const isListField = (struct: AnyStruct, field: string): boolean => typeOf(struct, field) === 'array'

/** A plugin, as far as its settings need it. */
export interface Settable {
  readonly config?: AnyStruct
  readonly flags?: Readonly<Record<string, string>>
}

const settings = new WeakMap<object, readonly Setting[]>()

/** Settings for a plugin's `flags`: a start asks for them several times. */
export const settingsOf = ({ config, flags }: Settable): readonly Setting[] => {
  if (config === undefined || flags === undefined) return []
  const known = settings.get(flags)
  if (known !== undefined) return known
  const made = Object.entries(flags).map(([field, flag]) => ({
    flag,
    field,
    variable: variableOf(flag, isListField(config, field)),
  }))
  settings.set(flags, made)
  return made
}

export interface Sources {
  readonly struct: AnyStruct
  readonly settings: readonly Setting[]
  /** The parsed configuration file and its name for messages. */
  readonly file: {
    readonly name: string
    readonly table: JsonObject
    /** The line of what a dotted path names, or of what should have it. */
    readonly lineOf?: (path: string) => number | undefined
  }
  readonly environment: Environment
  readonly flags: Flags
  /** Told every value of a flag, a variable or a member of the file that is named like a secret. */
  readonly guard: (value: string) => void
}

interface Given {
  readonly source: string
  readonly value: Json
}

/** Text for a boolean, in small letters. */
const booleans = new Map<string, boolean>([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

/** What a switch is set to by its value, if there is one; undefined for a value that is neither true nor false. */
export const readSwitch = (text: string | true): boolean | undefined =>
  text === true ? true : booleans.get(text.toLowerCase())

/** Text that does not read as its type stays text, so that the struct names what is wrong. */
const readText = (text: string | true, type: unknown): Json => {
  if (text === true) return true
  if (type === 'array')
    return text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  if (type === 'boolean') return readSwitch(text) ?? text
  if (type === 'number' || type === 'integer') return /^-?\d+(\.\d+)?$/u.test(text) ? Number(text) : text
  return text
}

const valueOf = (text: string | true, { field, flag }: Setting, { struct, guard }: Sources): Json => {
  if (text !== true && isSecretSetting(flag)) guard(text)
  return readText(text, typeOf(struct, field))
}

/** Texts of the file that are named like secrets, in tables at this depth at most. */
export const guardFile = (table: JsonObject, guard: Sources['guard'], depth = Infinity): void => {
  if (depth < 0) return
  for (const [name, value] of Object.entries(table))
    if (typeof value === 'string') {
      if (isSecretSetting(name)) guard(value)
    } else if (Array.isArray(value)) guardFile(Object.fromEntries(value.entries()), guard, depth)
    else if (isJsonObject(value)) guardFile(value, guard, depth - 1)
}

/** One layer's values by field. */
const layer = (
  sources: Sources,
  find: (setting: Setting) => { source: string; text: string | true } | undefined,
): Map<string, Given> => {
  const given = new Map<string, Given>()
  for (const setting of sources.settings) {
    const found = find(setting)
    if (found === undefined) continue
    const { source, text } = found
    given.set(setting.field, { source, value: valueOf(text, setting, sources) })
  }
  return given
}

const fromEnvironment =
  ({ environment: env }: Sources) =>
  ({ variable }: Setting) => {
    const text = env[variable]
    return text === undefined || text === '' ? undefined : { source: variable, text }
  }
const fromFlags =
  ({ flags }: Sources) =>
  ({ flag }: Setting) => {
    const text = flags.get(flag)
    return text === undefined ? undefined : { source: `--${flag}`, text }
  }

/** Characters of a path that is looked at: requests can have any. */
const mostHinted = 200

/** What an issue is of: `beside` has what else may stand at the top. */
export interface Judged {
  readonly struct: AnyStruct
  readonly value: unknown
  readonly beside?: readonly string[]
}

/** `; did you mean max_age?` for a field that is none, or where it stands if it is one of what is around. */
export const hintFor = ({ path, rule }: Issue, { struct, value, beside = [] }: Judged): string => {
  if (rule !== unknownField || path.length > mostHinted) return ''
  const outer = path.split('.')
  const field = outer.pop() ?? ''
  const namesAt = (depth: number): readonly string[] => [
    ...fieldNames(struct, outer.slice(0, depth), value),
    ...(depth === 0 ? beside : []),
  ]
  const above = outer.findLastIndex((_, depth) => namesAt(depth).includes(field))
  const place = above === 0 ? 'at the top level' : `in ${outer.slice(0, above).join('.')}`
  if (above >= 0) return `; ${field} stands ${place}, beside ${outer[above]}`
  const meant = meantName(field, namesAt(outer.length))
  return meant === undefined ? '' : `; did you mean ${[...outer, meant].join('.')}?`
}

/** The name of a table that has all of a file in other programs: here the file itself is that table. */
export const tableOfFile = (file: string): string => basename(file, '.toml')

const refuse = (issues: readonly Issue[], given: ReadonlyMap<string, Given>, of: Sources): never => {
  const { struct, file } = of
  const [issue = { path: '', rule: 'is wrong' }, ...others] = issues
  const { path, rule: broken } = issue
  const hint =
    broken === unknownField && path === tableOfFile(file.name) && isJsonObject(file.table[path])
      ? `: the file itself is that table, so leave [${path}] out`
      : hintFor(issue, { struct, value: file.table })
  const sourceOf = (at: string): string | undefined => given.get(at.split('.')[0] ?? '')?.source
  const rest = wrongToo(others.map((issue) => sourceOf(issue.path) ?? issue.path))
  const source = sourceOf(path)
  const line = file.lineOf?.(path === '' ? memberIn(broken) : path)
  const place = line === undefined ? file.name : `${file.name}:${line}`
  throw errors.config_invalid({
    details:
      source === undefined
        ? { source: place, problem: `${path} ${broken}${hint}${rest}`.trimStart() }
        : { source, problem: `${broken}${hint}${rest}` },
  })
}

const freeze = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null) return value
  for (const inner of Object.values(value)) freeze(inner)
  return Object.freeze(value)
}

const defaults = new WeakMap<AnyStruct, Parsed<unknown>>()

/** What a struct makes of nothing, frozen: a start asks for it several times, and mostly nothing else is given. */
export const defaultsOf = (struct: AnyStruct): Parsed<unknown> => {
  const known = defaults.get(struct)
  if (known !== undefined) return known
  const read = parseOnce<unknown>(struct, {})
  freeze(read)
  defaults.set(struct, read)
  return read
}

/** The parsed, frozen value of all layers. Throws one problem that names the source and the rule, never the value. */
export const readLayers = <T>(sources: Sources): T => {
  guardFile(sources.file.table, sources.guard)
  const given = new Map([...layer(sources, fromEnvironment(sources)), ...layer(sources, fromFlags(sources))])
  const values = {
    ...sources.file.table,
    ...Object.fromEntries([...given].map(([field, { value }]) => [field, value])),
  }
  const parsed =
    Object.keys(values).length === 0 ? defaultsOf(sources.struct) : parseOnce<unknown>(sources.struct, values)
  return unsafeCast<T>(freeze(parsed.ok ? parsed.value : refuse(parsed.issues, given, sources)))
}
