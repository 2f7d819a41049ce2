/** What the file of a list has: entries in tables, or in arrays of tables, and what stands beside them. */
import type { Problem } from '../../base/errors.js'
import type { Json, JsonObject } from '../../base/schema.js'
import { visibleLine } from '../../base/text/visible.js'
import type { ListSpec } from '../../plugin/list.js'
import { isThere } from '../../state/disk/outside.js'
import { errors } from '../errors.js'

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
}

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

/** The parts of a file. Throws what is wrong with it as a whole. */
export const partsOf = (plugin: Owner, spec: ListSpec, content: JsonObject): ListParts => {
  const { file, table = '', beside, arrays } = spec
  const problem = (text: string): Problem => errors.list_invalid({ details: { file: sourceOf(spec), problem: text } })
  if (arrays !== undefined) return partsOfArrays(arrays, content, problem)
  const { [table]: tables = {}, ...rest } = content
  if (!isTable(tables)) throw problem(`must have ${table} as tables, [${table}.…]`)
  const faults = new Map<string, string>()
  if (beside !== undefined) return { tables: { ...tables, [besideTables]: rest }, faults, rest: '' }
  const isAlone = plugin.id !== file || plugin.config === undefined || plugin.fileIsList === true
  if (isAlone && Object.keys(rest).length > 0) throw problem(`may have nothing but [${table}.…]`)
  return { tables, faults, rest: JSON.stringify(rest) }
}

const partsOfArrays = (
  arrays: NonNullable<ListSpec['arrays']>,
  content: JsonObject,
  problem: (text: string) => Problem,
): ListParts => {
  const strange = Object.keys(content).find((key) => !arrays.of.includes(key))
  if (strange !== undefined) {
    const known = arrays.of.map((array) => `[[${array}]]`).join(', ')
    throw problem(`has ${visibleLine(strange).slice(0, 80)}, and may have nothing but ${known}`)
  }
  const [tables, faults] = [new Map<string, JsonObject>(), new Map<string, string>()]
  for (const array of arrays.of) {
    const elements = content[array] ?? []
    if (!Array.isArray(elements)) throw problem(`must have ${array} as an array of tables, [[${array}]]`)
    for (const [at, element] of elements.entries()) {
      const { [arrays.name]: name, ...entry } = isTable(element) ? element : {}
      const key = `${array}/${typeof name === 'string' && names.test(name) ? name : `#${at + 1}`}`
      if (key === `${array}/#${at + 1}`) faults.set(key, `its ${arrays.name} must be there, and match ${names.source}`)
      // Nobody knows which of them is meant.
      else if (tables.has(key)) faults.set(key, 'is there more than once')
      tables.set(key, entry)
    }
  }
  return { tables: Object.fromEntries(tables), faults, rest: '' }
}
