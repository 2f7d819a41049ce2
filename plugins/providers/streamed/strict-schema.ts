/** Which schemas of answers OpenAI takes as strict ones: others it refuses with 400. */
import { isJsonObject, type Json, type JsonObject } from '../../../core/plugin.js'

const inside = (value: Json | undefined): Json[] =>
  isJsonObject(value) ? Object.values(value).flatMap((one) => one ?? []) : []
const listed = (value: Json | undefined): Json[] => (Array.isArray(value) ? [...value] : [])

/** Schemas that stand in a schema. */
const within = (schema: JsonObject): Json[] => [
  ...inside(schema['properties']),
  ...inside(schema['$defs']),
  ...listed(schema['anyOf']),
  ...(schema['items'] === undefined ? [] : [schema['items']]),
]

const isObject = ({ type, properties }: JsonObject): boolean =>
  type === 'object' || properties !== undefined || (Array.isArray(type) && type.includes('object'))

/** True where each object of it names all its members as required and takes no others. */
export const isStrictSchema = (schema: Json): boolean => {
  if (!isJsonObject(schema)) return false
  const names = Object.keys(isJsonObject(schema['properties']) ? schema['properties'] : {})
  const required = listed(schema['required'])
  const isWhole = schema['additionalProperties'] === false && names.every((name) => required.includes(name))
  return (!isObject(schema) || isWhole) && within(schema).every(isStrictSchema)
}
