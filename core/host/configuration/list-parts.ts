/** What the file of a list has: entries in tables, or in arrays of tables, and what stands beside them. */
import type { Problem } from '../../base/errors.js'
import { wrongToo } from '../../base/issue-rule.js'
import { fieldNames, type AnyStruct, type Json, type JsonObject } from '../../base/schema.js'
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
  readonly config?: AnyStruct
  /** Its configuration stands in no file. */
  readonly fileIsList?: true
}

/** True of a list that is a part of a configuration: a start leaves nothing of that out. */
export const isConfiguration = ({ id, fileIsList }: Owner, { file }: ListSpec): boolean =>
  file === id && fileIsList !== true

/** The fault of a file, and what stands beside its tables, are under names that no entry can have. */
export const [wholeFile, besideTables] = ['', '='] as const

export interface ListParts {
  /** Entries by name, not yet looked at. */
  readonly tables: JsonObject
  /** What is wrong with entries that cannot be looked at, by name. */
  readonly faults: ReadonlyMap<string, string>
  /** That the file has members which nobody knows. */
  readonly strange: Problem | undefined
  /** True of an entry that is not in the file, where something in it may be meant as that one. */
  mayBeMeant(name: string): boolean
  /** What else the file has. */
  readonly rest: string
  /** The path of an entry in the file; empty for what stands beside the tables. */
  pathOf(name: string): string
}

/** What a file has, and its lines if it is one. */
export type ListFile = Pick<TomlFile, 'table'> & Partial<TomlFile>

/** There is no file, or nothing in it. */
export const hasNothing = (content: ListFile | undefined): boolean =>
  content === undefined || Object.keys(content.table).length === 0

const names = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/u
const nameRule =
  'must be of letters, digits, dots, underscores and hyphens alone, 64 at most, and begin with a letter or a digit'

export const isTable = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What is wrong with the name of an entry; undefined if nothing is. */
export const faultOfName = ({ arrays }: Pick<ListSpec, 'arrays'>, name: string): string | undefined => {
  const own = arrays === undefined ? name : name.slice(name.indexOf('/') + 1)
  return names.test(own) ? undefined : `its name ${nameRule}`
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

/** Whether anything of a file holds: one that is not there has nothing beside its entries, which is held too. */
export const holdsAny = (held: ReadonlyMap<string, { readonly text: string }>): boolean =>
  [...held].some(([name, { text }]) => name !== besideTables || text !== '{}')

/** The fault of a file as a whole, at the line of the member that it is about. */
type FaultAt = (member: string, problem: string) => Problem

/** The parts of a file. Throws what is wrong with it as a whole. */
export const partsOf = (plugin: Owner, spec: ListSpec, { table: content, lineOf }: ListFile): ListParts => {
  const { table = '', beside, arrays } = spec
  const faultAt: FaultAt = (member, problem) =>
    errors.list_invalid({ details: { file: placedIn(sourceOf(spec), lineOf?.(member)), problem } })
  if (arrays !== undefined) return partsOfArrays(arrays, content, faultAt)
  const { [table]: tables = {}, ...others } = content
  if (!isTable(tables)) throw faultAt(table, `must have ${table} as tables, [${table}.…]`)
  const known = new Map([[table, `[${table}.…]`], ...besideOf(plugin, spec).map((name) => [name, name] as const)])
  const strange = strangeIn(content, known, faultAt)
  const rest = Object.fromEntries(Object.entries(others).filter(([name]) => known.has(name)))
  return {
    tables: beside === undefined ? tables : { ...tables, [besideTables]: rest },
    faults: new Map(),
    strange,
    mayBeMeant: () => strange !== undefined,
    rest: beside === undefined ? JSON.stringify(rest) : '',
    pathOf: (name) => (name === besideTables ? '' : `${table}.${name}`),
  }
}

/** The members that a file may have beside its table. */
const besideOf = (owner: Owner, spec: ListSpec): readonly string[] => {
  const { table, beside } = spec
  if (beside !== undefined) return fieldNames(beside, [])
  if (owner.config === undefined || !isConfiguration(owner, spec)) return []
  return fieldNames(owner.config, []).filter((name) => name !== table)
}

/** That a file has members which it may not have; `known` are those that it may, with how they are written. */
const strangeIn = (content: JsonObject, known: ReadonlyMap<string, string>, faultAt: FaultAt): Problem | undefined => {
  const [first, ...others] = Object.keys(content).filter((name) => !known.has(name))
  if (first === undefined) return undefined
  const shown = (name: string): string => visibleLine(name).slice(0, 80)
  const meant = nearest(first.slice(0, 80), known.keys())
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`
  const allowed = [...known.values()].join(', ')
  return faultAt(
    first,
    `has ${shown(first)}, and may have nothing but ${allowed}${hint}${wrongToo(others.map((name) => shown(name)))}`,
  )
}

/** An element of an array: its entry, the name that this has or would have, and what is wrong with that. */
interface Named {
  readonly name: string | undefined
  readonly fault: string | undefined
  readonly entry: JsonObject
}

const isName = (value: Json | undefined): value is string => typeof value === 'string' && names.test(value)

/** Of an element without a name the one that a misspelt member gives it. */
const namedBy = (member: string, element: Json | undefined): Named => {
  const { [member]: name, ...entry } = isTable(element) ? element : {}
  if (isName(name)) return { name, fault: undefined, entry }
  const must = `its ${member} must be there, and match ${names.source}`
  const meant = name === undefined ? nearest(member, Object.keys(entry)) : undefined
  if (meant === undefined || !isName(entry[meant])) return { name: undefined, fault: must, entry }
  return { name: entry[meant], fault: `${meant} is not a known field; did you mean ${member}?`, entry }
}

const partsOfArrays = (arrays: NonNullable<ListSpec['arrays']>, content: JsonObject, faultAt: FaultAt): ListParts => {
  const known = new Map(arrays.of.map((array) => [array, `[[${array}]]`]))
  const strange = strangeIn(content, known, faultAt)
  const [tables, faults, paths] = [new Map<string, JsonObject>(), new Map<string, string>(), new Map<string, string>()]
  for (const array of arrays.of) {
    const elements = content[array] ?? []
    if (!Array.isArray(elements)) throw faultAt(array, `must have ${array} as an array of tables, [[${array}]]`)
    for (const [at, element] of elements.entries()) {
      const { name, fault, entry } = namedBy(arrays.name, element)
      const key = `${array}/${name ?? `#${at + 1}`}`
      // Nobody knows which of them is meant.
      if (tables.has(key)) faults.set(key, 'is there more than once')
      else if (fault !== undefined) faults.set(key, fault)
      tables.set(key, entry)
      paths.set(key, `${array}.${at}`)
    }
  }
  const unclear = new Set([...faults.keys()].map(arrayOf))
  return {
    tables: Object.fromEntries(tables),
    faults,
    strange,
    mayBeMeant: (name) => strange !== undefined || unclear.has(arrayOf(name)),
    rest: '',
    pathOf: (name) => paths.get(name) ?? '',
  }
}

const arrayOf = (name: string): string => name.slice(0, name.indexOf('/'))

/** The entries of a file, and at their places those of before that may be meant by something in it. */
export const withMeant = (
  { tables, mayBeMeant }: Pick<ListParts, 'tables' | 'mayBeMeant'>,
  before: ReadonlyMap<string, JsonObject>,
): JsonObject => {
  const all = new Map(Object.entries(tables))
  const old = [...before]
  let order = [...all.keys()]
  for (const [at, [name, table]] of [...old.entries()].toReversed()) {
    if (!mayBeMeant(name)) continue
    const given = all.get(name)
    if (name === besideTables && isTable(given)) all.set(name, { ...table, ...given })
    if (given !== undefined) continue
    const next = old.slice(at + 1).find(([other]) => all.has(other))?.[0]
    const place = next === undefined ? order.length : order.indexOf(next)
    order = order.toSpliced(place, 0, name)
    all.set(name, table)
  }
  return Object.fromEntries(order.flatMap((name) => (all.has(name) ? [[name, all.get(name)]] : [])))
}
