/** A value that fits a schema, made up: the example of an answer for which none was written. */
import { inlineSchema, partsOf, schemaName, type AnyStruct, type Json, type JsonSchema } from '../../base/schema.js'

type Schemas = Readonly<Record<string, JsonSchema>>

const schemasIn = (struct: AnyStruct, found: Record<string, JsonSchema> = {}, seen = new Set<AnyStruct>()): Schemas => {
  if (seen.has(struct)) return found
  seen.add(struct)
  const name = schemaName(struct)
  if (name !== undefined) found[name] = inlineSchema(struct)
  for (const part of partsOf(struct)) schemasIn(part, found, seen)
  return found
}

/** 1 January 2026, 00:00 UTC. */
const moment = 1_767_225_600_000
const numberFor = (name: string, { minimum, maximum }: JsonSchema): number => {
  const wanted = /_at(?:_ms)?$|^timestamp_ms$|^at$/u.test(name) ? moment : 1
  const least = Math.max(wanted, typeof minimum === 'number' ? minimum : wanted)
  return typeof maximum === 'number' ? Math.min(least, maximum) : least
}
const textFor = (name: string, { minLength, maxLength }: JsonSchema): string => {
  const text = /_sha256$|digest$|^hash$/u.test(name) ? 'e3b0c442'.repeat(8) : name === '' ? 'text' : `${name}-1`
  const least = text.padEnd(typeof minLength === 'number' ? minLength : 0, 'x')
  return typeof maxLength === 'number' ? least.slice(0, maxLength) : least
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

interface At {
  /** The property that the value is of. */
  readonly name: string
  readonly schemas: Schemas
  /** How deep it may still go. */
  readonly depth: number
}

const objectFor = (schema: JsonSchema, at: At): Json => {
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const fields = isSchema(schema['properties']) ? Object.entries(schema['properties']) : []
  return Object.fromEntries(
    fields
      .filter(([name]) => required.includes(name))
      .map(([name, field]) => [name, valueFor(isSchema(field) ? field : {}, { ...at, name, depth: at.depth - 1 })]),
  )
}

const listFor = ({ items, minItems }: JsonSchema, at: At): Json => {
  if (at.depth <= 0 && minItems === undefined) return []
  const name = at.name.replace(/ids$/u, 'id').replace(/s$/u, '')
  return [valueFor(isSchema(items) ? items : {}, { ...at, name, depth: at.depth - 1 })]
}

const valueFor = (schema: JsonSchema, at: At): Json => {
  if (typeof schema['$ref'] === 'string') return valueFor(at.schemas[schema['$ref'].split('/').at(-1) ?? ''] ?? {}, at)
  if ('const' in schema) return plain(schema['const'])
  if (Array.isArray(schema['enum'])) return plain(schema['enum'][0])
  const variants = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(variants)) {
    const none = variants.some((variant) => isSchema(variant) && variant['type'] === 'null')
    return none && at.depth <= 2 ? null : valueFor(isSchema(variants[0]) ? variants[0] : {}, at)
  }
  switch (schema['type']) {
    case 'string':
      return textFor(at.name, schema)
    case 'integer':
    case 'number':
      return numberFor(at.name, schema)
    case 'boolean':
      return true
    case 'array':
      return listFor(schema, at)
    default:
      return schema['type'] === 'object' ? objectFor(schema, at) : null
  }
}
const plain = (value: unknown): Json =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null

/** Fields that may be left out are left out. */
export const exampleOf = (struct: AnyStruct): Json =>
  valueFor(inlineSchema(struct), { name: '', schemas: schemasIn(struct), depth: 8 })
