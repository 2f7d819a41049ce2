/**
 * A JSON Schema that somebody else wrote, read as a stranger's: a bounded copy of what is known here. What is not
 * known is left out, so that no keyword of a library or of a provider takes effect by surprise.
 */
import type { Issue } from '../parse.js'
import type { JsonSchema } from '../json-schema.js'
import { wellFormedJson } from '../text/well-formed.js'
import { isNames, isPattern, plainKeywords } from './plain-keywords.js'

/** Most keywords, names and values of one schema. */
const mostMembers = 5_000
/** Most UTF-16 units of all texts of one schema. */
const mostText = 128 * 1024
/** Deepest nesting of schemas and of the values in them. */
const mostDepth = 32
/** Most references of one schema. */
const mostReferences = 200

type Fields = Readonly<Record<string, unknown>>
type Copy = (value: unknown, path: readonly string[]) => unknown

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

class Refused extends Error {
  readonly issue: Issue
  constructor(issue: Issue) {
    super(issue.rule)
    this.issue = issue
  }
}
const refuse = (path: readonly string[], rule: string): never => {
  throw new Refused({ path: path.join('.'), rule })
}

const one = ['not', 'if', 'then', 'else', 'contains', 'propertyNames', 'additionalProperties', 'additionalItems']
const several = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const byName = ['properties', '$defs', 'definitions', 'dependentSchemas']

/** Copies one schema and counts what it copies. */
const createCopy = (): { readonly copy: Copy; readonly references: () => readonly [string, readonly string[]][] } => {
  let [members, text] = [0, 0]
  const references: [string, readonly string[]][] = []
  const count = (path: readonly string[], units = 0): void => {
    members += 1
    text += units
    if (members > mostMembers) refuse(path, `must have at most ${mostMembers} keywords, names and values in all`)
    if (text > mostText) refuse(path, `must have at most ${mostText} characters of text in all`)
  }
  const copied = (fields: Fields, path: readonly string[], each: (key: string, value: unknown) => unknown): Fields =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([key, value]) => {
        count(path, key.length)
        const made = each(key, value)
        return made === undefined ? [] : [[key, made]]
      }),
    )
  /** A value of the schema's author: an allowed one, a default, an example. */
  const data: Copy = (value, path) => {
    count(path, typeof value === 'string' ? value.length : 0)
    if (path.length > mostDepth * 2) return refuse(path, 'must not be nested so deep')
    if (Array.isArray(value)) return value.map((item, at) => data(item, [...path, String(at)]))
    return isFields(value) ? copied(value, path, (key, inner) => data(inner, [...path, key])) : value
  }
  const named = (value: unknown, path: readonly string[], each: Copy): unknown =>
    isFields(value)
      ? copied(value, path, (key, inner) => each(inner, [...path, key]))
      : refuse(path, 'must be an object')
  const listed = (value: unknown, path: readonly string[]): unknown =>
    Array.isArray(value) && value.length > 0
      ? value.map((inner, at) => copy(inner, [...path, String(at)]))
      : refuse(path, 'must be a list of schemas')
  const reference = (value: unknown, path: readonly string[]): unknown => {
    if (typeof value !== 'string' || !/^#(?:\/|$)/u.test(value))
      return refuse(path, 'must lead to a place in the same schema: #/…')
    references.push([value, path])
    return references.length > mostReferences ? refuse(path, `must be one of at most ${mostReferences}`) : value
  }
  const patterns = (value: unknown, path: readonly string[]): unknown => {
    if (isFields(value))
      for (const key of Object.keys(value)) if (!isPattern(key)) refuse(path, 'must be named by regular expressions')
    return named(value, path, copy)
  }
  const needs: Copy = (value, path) => (isNames(value) ? data(value, path) : copy(value, path))
  const special: ReadonlyMap<string, Copy> = new Map<string, Copy>([
    ...one.map((name) => [name, (value: unknown, path: readonly string[]) => copy(value, path)] as const),
    ...several.map((name) => [name, listed] as const),
    ...byName.map((name) => [name, (value: unknown, path: readonly string[]) => named(value, path, copy)] as const),
    ['items', (value, path) => (Array.isArray(value) ? listed(value, path) : copy(value, path))],
    ['dependencies', (value, path) => named(value, path, needs)],
    ['dependentRequired', (value, path) => named(value, path, needs)],
    ['patternProperties', patterns],
    ['$ref', reference],
  ])
  const keyword = (name: string, value: unknown, path: readonly string[]): unknown => {
    const known = plainKeywords.get(name)
    if (known === undefined) return special.get(name)?.(value, path)
    // An older draft says with it that the bound itself is left out; that much is left to whoever takes the value.
    if (typeof value === 'boolean' && name.startsWith('exclusive')) return undefined
    return known.holds(value) ? data(value, path) : refuse(path, known.rule)
  }
  const copy: Copy = (schema, path) => {
    if (typeof schema === 'boolean') return schema
    if (path.length > mostDepth * 2) return refuse(path, 'must not be nested so deep')
    return isFields(schema)
      ? copied(schema, path, (name, value) => keyword(name, value, [...path, name]))
      : refuse(path, 'must be a schema')
  }
  return { copy, references: () => references }
}

const decoded = (step: string): string => {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return step
  }
}
const placeOf = (schema: JsonSchema, reference: string): unknown => {
  let at: unknown = schema
  for (const step of reference.split('/').slice(1)) {
    const key = decoded(step)
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = Reflect.get(at, key)
  }
  return at
}
const leadsSomewhere = (schema: JsonSchema, reference: string): boolean => {
  const at = placeOf(schema, reference)
  return typeof at === 'boolean' || isFields(at)
}
const ofSameValue = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else']
/** What the same value is checked by besides. */
const alsoOf = (schema: JsonSchema, at: unknown): readonly unknown[] => {
  if (!isFields(at)) return []
  const { $ref } = at
  const parts = ofSameValue.flatMap((name) => (Object.hasOwn(at, name) ? [at[name]].flat() : []))
  return typeof $ref === 'string' ? [placeOf(schema, $ref), ...parts] : parts
}
/** A circle that no step into the value breaks: whoever checks by it never ends. */
const leadsBack = (schema: JsonSchema, reference: string): boolean => {
  const start = placeOf(schema, reference)
  const met = new Set(alsoOf(schema, start))
  for (const at of met) for (const next of alsoOf(schema, at)) met.add(next)
  return met.has(start)
}

const readBounded = (value: unknown): JsonSchema => {
  const { copy, references } = createCopy()
  const copied = copy(value, [])
  const schema = isFields(copied) ? copied : refuse([], 'must be an object')
  if (!['object', undefined].some((type) => type === schema['type'])) refuse(['type'], 'must be object')
  for (const [reference, path] of references()) {
    if (!leadsSomewhere(schema, reference)) refuse(path, 'must lead to a place in the same schema that is a schema')
    if (leadsBack(schema, reference)) refuse(path, 'must not lead back to itself for the same value')
  }
  return schema['type'] === undefined ? { type: 'object', ...schema } : schema
}

export type Bounded = { readonly ok: true; readonly schema: JsonSchema } | { readonly ok: false; readonly issue: Issue }

/** The schema of objects, made safe; or the first thing that is wrong with it. */
export const boundSchema = (value: unknown): Bounded => {
  try {
    return { ok: true, schema: wellFormedJson(readBounded(value)) }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return { ok: false, issue: error.issue }
  }
}
