/** What the file of a list has: entries in tables, or in arrays of tables, and what stands beside them. */
import type { Problem } from '../../base/errors.js'
import { wrongToo } from '../../base/issue-rule.js'
import type { Json, JsonObject } from '../../base/schema.js'
import { visibleLine } from '../../base/text/visible.js'
import { nearest } from '../../base/words/nearest.js'
import type { ListSpec } from '../../plugin/list.js'
import { isThere } from '../../state/disk/outside.js'
import { errors } from '../errors.js'
import type { TomlFile } from '../load/toml.js'

/** A plugin, as far as its lists need it. */
export interface Owner {
  readonly id: string
  /** Where it has one, and the list is in its own file, what else is there is its configuration. */
  readonly config?: unknown
  /** Its configuration stands in no file. */
  readonly fileIsList?: true
}

/** The fault of a file, and what stands beside its tables, are under names that no entry can have. */
export const [wholeFile, besideTables] = ['', '='] as const

export interface ListParts {
  /** Entries by name, not yet looked at. */
  readonly tables: JsonObject
  /** What is wrong with entries that cannot be looked at, by name. */
  readonly faults: ReadonlyMap<string, string>
  /** What else the file has. */
  readonly rest: string
  /** The path of an entry in the file; empty for what stands beside the tables. */
  pathOf(name: string): string
}

/** What a file has, and its lines if it is one. */
export type ListFile = Pick<TomlFile, 'table'> & Partial<TomlFile>

const names = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/u

export const isTable = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What is wrong with the name of an entry; undefined if nothing is. */
export const faultOfName = ({ arrays }: Pick<ListSpec, 'arrays'>, name: string): string | undefined => {
  const own = arrays === undefined ? name : name.slice(name.indexOf('/') + 1)
  return names.test(own) ? undefined : `its name must match ${names.source}`
}

/** How the file of a list is called. */
export const sourceOf = ({ file, from }: Pick<ListSpec, 'file' | 'from'>): string => from?.path ?? `config/${file}.toml`

/** That the file which a flag names is not there; undefined if it is, or none is named. */
export const missingOf = ({ from }: Pick<ListSpec, 'from'>): string | undefined =>
  from?.path === undefined || isThere(from.path)
    ? undefined
    : `${visibleLine(from.path)}, which --${from.flag} names, is not there`

/** Where an entry stands, as its file has it. */
export const placeOf = ({ table = '', arrays }: Pick<ListSpec, 'table' | 'arrays'>, name: string): string => {
  const shown = visibleLine(name).slice(0, 80)
  return arrays === undefined ? `[${table}.${shown}]` : `[[${shown.replace('/', ']] ')}`
}

/** A file with its line, as problems name it. */
export const placedIn = (source: string, line: number | undefined): string =>
  line === undefined ? source : `${source}:${line}`

/** The fault of a file as a whole, at the line of the member that it is about. */
type FaultAt = (member: string, problem: string) => Problem

/** The parts of a file. Throws what is wrong with it as a whole. */
export const partsOf = (plugin: Owner, spec: ListSpec, { table: content, lineOf }: ListFile): ListParts => {
  const { file, table = '', beside, arrays } = spec
  const faultAt: FaultAt = (member, problem) =>
    errors.list_invalid({ details: { file: placedIn(sourceOf(spec), lineOf?.(member)), problem } })
  if (arrays !== undefined) return partsOfArrays(arrays, content, faultAt)
  const { [table]: tables = {}, ...rest } = content
  if (!isTable(tables)) throw faultAt(table, `must have ${table} as tables, [${table}.…]`)
  const faults = new Map<string, string>()
  const pathOf = (name: string): string => (name === besideTables ? '' : `${table}.${name}`)
  if (beside !== undefined) return { tables: { ...tables, [besideTables]: rest }, faults, rest: '', pathOf }
  const isAlone = plugin.id !== file || plugin.config === undefined || plugin.fileIsList === true
  if (isAlone) refuseStrange(Object.keys(rest), new Map([[table, `[${table}.…]`]]), faultAt)
  return { tables, faults, rest: JSON.stringify(rest), pathOf }
}

/** Throws where a file has members that it may not have; `known` are those that it may, with how they are written. */
const refuseStrange = (strange: readonly string[], known: ReadonlyMap<string, string>, faultAt: FaultAt): void => {
  const [first, ...others] = strange
  if (first === undefined) return
  const shown = (name: string): string => visibleLine(name).slice(0, 80)
  const meant = nearest(first.slice(0, 80), known.keys())
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`
  const allowed = [...known.values()].join(', ')
  throw faultAt(
    first,
    `has ${shown(first)}, and may have nothing but ${allowed}${hint}${wrongToo(others.map((name) => shown(name)))}`,
  )
}

const partsOfArrays = (arrays: NonNullable<ListSpec['arrays']>, content: JsonObject, faultAt: FaultAt): ListParts => {
  const known = new Map(arrays.of.map((array) => [array, `[[${array}]]`]))
  refuseStrange(
    Object.keys(content).filter((key) => !known.has(key)),
    known,
    faultAt,
  )
  const [tables, faults, paths] = [new Map<string, JsonObject>(), new Map<string, string>(), new Map<string, string>()]
  for (const array of arrays.of) {
    const elements = content[array] ?? []
    if (!Array.isArray(elements)) throw faultAt(array, `must have ${array} as an array of tables, [[${array}]]`)
    for (const [at, element] of elements.entries()) {
      const { [arrays.name]: name, ...entry } = isTable(element) ? element : {}
      const key = `${array}/${typeof name === 'string' && names.test(name) ? name : `#${at + 1}`}`
      if (key === `${array}/#${at + 1}`) faults.set(key, `its ${arrays.name} must be there, and match ${names.source}`)
      // Nobody knows which of them is meant.
      else if (tables.has(key)) faults.set(key, 'is there more than once')
      tables.set(key, entry)
      paths.set(key, `${array}.${at}`)
    }
  }
  return { tables: Object.fromEntries(tables), faults, rest: '', pathOf: (name) => paths.get(name) ?? '' }
}
