/** Keywords of JSON Schema whose value is no schema, and what their value must be. */

interface Plain {
  readonly rule: string
  readonly holds: (value: unknown) => boolean
}

/** Longest pattern in UTF-16 units. */
const longestPattern = 1_000

const typeNames = new Set<unknown>(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])
const isText = (value: unknown): boolean => typeof value === 'string'
const isList = (value: unknown): boolean => Array.isArray(value)
const isType = (value: unknown): boolean =>
  typeNames.has(value) || (Array.isArray(value) && value.length > 0 && value.every((name) => typeNames.has(name)))
export const isNames = (value: unknown): boolean => Array.isArray(value) && value.every(isText)

/** Also a pattern that only the older, laxer form of expressions knows, which schemas in the wild have. */
export const patternOf = (pattern: string): RegExp => {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return new RegExp(pattern)
  }
}
export const isPattern = (value: unknown): boolean => {
  if (typeof value !== 'string' || value.length > longestPattern) return false
  try {
    return patternOf(value) instanceof RegExp
  } catch {
    return false
  }
}

const each = (names: readonly string[], rule: string, holds: Plain['holds']): [string, Plain][] =>
  names.map((name) => [name, { rule, holds }])

const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']
const counts = ['Length', 'Items', 'Properties', 'Contains'].flatMap((what) => [`min${what}`, `max${what}`])

export const plainKeywords: ReadonlyMap<string, Plain> = new Map([
  ...each(['type'], 'must name types of JSON', isType),
  ...each(['required'], 'must be a list of names', isNames),
  ...each(['pattern'], `must be a regular expression of at most ${longestPattern} characters`, isPattern),
  ...each(bounds, 'must be a number', Number.isFinite),
  ...each(['multipleOf'], 'must be a number above 0', (value) => Number.isFinite(value) && Number(value) > 0),
  ...each(counts, 'must be a whole number from 0 on', (value) => Number.isSafeInteger(value) && Number(value) >= 0),
  ...each(['uniqueItems'], 'must be true or false', (value) => typeof value === 'boolean'),
  ...each(['enum'], 'must be a list of values', (value) => Array.isArray(value) && value.length > 0),
  ...each(['examples'], 'must be a list of values', isList),
  ...each(['const', 'default'], 'must be a value', (value) => value !== undefined),
  ...each(['title', 'description', 'format'], 'must be text', isText),
])
