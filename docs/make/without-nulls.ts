/**
 * The document without the nulls of fields that may be left out, and without second names for input: the reference
 * says once what they mean.
 */
import type { JsonSchema } from '../../core/base/schema.js'

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const fieldWithout = (field: JsonSchema): JsonSchema => {
  const { type, anyOf, ...rest } = field
  if (Array.isArray(type)) return { ...rest, type: type[0] }
  const [value, none, ...more] = Array.isArray(anyOf) ? anyOf : []
  const optional = isSchema(none) && none['type'] === 'null' && more.length === 0 && isSchema(value)
  return optional ? { ...rest, ...value } : field
}

const walk = (value: unknown, names: ReadonlySet<string>): unknown => {
  if (Array.isArray(value)) return value.map((each) => walk(each, names))
  if (typeof value === 'string') {
    const name = /^#\/components\/schemas\/(.+)Input$/u.exec(value)?.[1] ?? ''
    return names.has(name) ? `#/components/schemas/${name}` : value
  }
  if (!isSchema(value)) return value
  const { properties, required } = value
  const needed = Array.isArray(required) ? required : []
  const fields = Object.entries(isSchema(properties) ? properties : {}).map(([key, field]) => [
    key,
    needed.includes(key) || !isSchema(field) ? field : fieldWithout(field),
  ])
  const whole = isSchema(properties) ? { ...value, properties: Object.fromEntries(fields) } : value
  return Object.fromEntries(Object.entries(whole).map(([key, each]) => [key, walk(each, names)]))
}

export const withoutNulls = (document: Readonly<Record<string, any>>): Readonly<Record<string, any>> => {
  const { schemas } = document['components']
  const names = new Set(Object.keys(schemas))
  const shown = Object.entries(schemas).filter(
    ([name]) => !names.has(name.replace(/Input$/u, '')) || !name.endsWith('Input'),
  )
  return Object.fromEntries(
    Object.entries({ ...document, components: { ...document['components'], schemas: Object.fromEntries(shown) } }).map(
      ([key, value]) => [key, walk(value, names)],
    ),
  )
}
