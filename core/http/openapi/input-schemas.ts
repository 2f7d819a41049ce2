/**
 * Schemas of request bodies: a field that may be left out may also be null. No answer holds such a null, so a named
 * schema that both use has a second name for input.
 */
import { allowNulls, type JsonSchema } from '../../base/json-schema.js'
import { jsonSchema, type AnyStruct } from '../../base/schema.js'

type Schemas = Readonly<Record<string, JsonSchema>>
const prefix = '#/components/schemas/'

/** Names that a schema leads to. */
const reached = (schemas: Schemas, schema: JsonSchema, found: Set<string> = new Set()): Set<string> => {
  for (const [, name = ''] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/gu)) {
    if (found.has(name)) continue
    found.add(name)
    reached(schemas, schemas[name] ?? {}, found)
  }
  return found
}

export type InputSchemas = ReturnType<typeof createInputSchemas>

/** `inputs` are the named schemas of bodies, `answers` those of everything else. */
export const createInputSchemas = (inputs: Schemas, answers: Schemas) => {
  const gains = (schema: JsonSchema): boolean => JSON.stringify(allowNulls(schema)) !== JSON.stringify(schema)
  const differs = (schema: JsonSchema): boolean =>
    gains(schema) || [...reached(inputs, schema)].some((name) => gains(inputs[name] ?? {}))
  const nameOf = (name: string): string =>
    Object.hasOwn(answers, name) && differs(inputs[name] ?? {}) ? `${name}Input` : name
  const rename = (reference: string): string => prefix + nameOf(reference.slice(prefix.length))
  return {
    /** The schema of a body. */
    of: (struct: AnyStruct): JsonSchema => allowNulls(jsonSchema(struct), rename),
    /** The components that bodies refer to. */
    components: (): Schemas =>
      Object.fromEntries(Object.entries(inputs).map(([name, schema]) => [nameOf(name), allowNulls(schema, rename)])),
  }
}
