/** What is noted beside structs, which superstruct forgets: their JSON Schema, their name and what they are made of. */
import type { Struct } from 'superstruct'
import { fault } from './assert.js'
import { allowNulls, type JsonSchema, type NamedSchemas } from './json-schema.js'

interface Facts {
  /** Most structs are made at the start and described later or never: a schema is made when it is asked for. */
  schema: JsonSchema | (() => JsonSchema)
  readonly inside: () => readonly Noted[]
  name: string | undefined
  optional: boolean
  /** Stricter than its JSON Schema, or checked by something else than it. */
  ruled: boolean
}
/** On the struct itself: thousands of entries of a weak map are looked through at each collection of garbage. */
const facts: unique symbol = Symbol('facts')
/** A struct, whatever it checks. */
interface Noted extends Pick<Struct, 'type' | 'schema'> {
  [facts]?: Facts
}

const nothing: Facts['inside'] = () => []

/** Notes the schema and the parts of a struct, and returns it. An optional one stays so. */
export const note = <S extends Noted>(struct: S, schema: () => JsonSchema, inside = nothing): S => {
  const noted: Noted = struct
  noted[facts] = { schema, inside, name: undefined, optional: isOptional(struct), ruled: false }
  return struct
}

/** Notes a struct that is another one and something more. */
export const derive = <S extends Noted>(from: Noted, struct: S, more: JsonSchema): S => {
  note(
    struct,
    () => ({ ...jsonSchema(from), ...more }),
    () => [from],
  )
  if (isOptional(from)) makeOptional(struct)
  return struct
}

const factsOf = (struct: Noted): Facts => {
  const found = struct[facts]
  if (found === undefined) throw fault('struct was not made by core/schema')
  return found
}

export const makeOptional = <S extends Noted>(struct: S): S => {
  factsOf(struct).optional = true
  return struct
}
/** Says that no one may judge the struct's values by its JSON Schema alone. */
export const markRuled = <S extends Noted>(struct: S): S => {
  factsOf(struct).ruled = true
  return struct
}
/** True if it is this struct itself that is not judged by its JSON Schema alone. */
export const isRuledItself = (struct: Noted): boolean => struct[facts]?.ruled === true
/** True if this struct, or one that it is made of, is not judged by its JSON Schema alone. */
export const isRuled = (struct: Noted, seen = new Set<Noted>()): boolean => {
  if (isRuledItself(struct)) return true
  if (seen.has(struct)) return false
  seen.add(struct)
  return insideOf(struct).some((part) => isRuled(part, seen))
}
export const giveName = (struct: Noted, name: string): void => {
  factsOf(struct).name = name
}
export const insideOf = (struct: Noted): readonly Noted[] => struct[facts]?.inside() ?? []

/** The JSON Schema (2020-12) of a struct made here; named structs appear as `$ref`. */
export const jsonSchema = (struct: Noted): JsonSchema => {
  const name = schemaName(struct)
  return name === undefined ? inlineSchema(struct) : { $ref: `#/components/schemas/${name}` }
}

/** The JSON Schema of a struct with its own name resolved once (for the components section). */
export const inlineSchema = (struct: Noted): JsonSchema => {
  const noted = factsOf(struct)
  if (typeof noted.schema === 'function') noted.schema = noted.schema()
  return noted.schema
}

/** The schemas of the named structs that this one is made of, by what its JSON Schema calls them. */
export const namedSchemas = (
  struct: Noted,
  found = new Map<string, JsonSchema>(),
  seen = new Set<Noted>(),
): NamedSchemas => {
  if (seen.has(struct)) return found
  seen.add(struct)
  if (schemaName(struct) !== undefined) found.set(String(jsonSchema(struct)['$ref']), inlineSchema(struct))
  for (const part of insideOf(struct)) namedSchemas(part, found, seen)
  return found
}

/** True for a struct of ours whose values are objects. */
export const isObjectStruct = (struct: Noted): boolean =>
  struct[facts] !== undefined && inlineSchema(struct)['type'] === 'object'

/** What input of this struct may look like: where its schema lets a field be left out, it may also be null. */
export const inputSchema = (struct: Noted): JsonSchema => allowNulls(inlineSchema(struct))

/** The name given by `named`, if any. */
export const schemaName = (struct: Noted): string | undefined => struct[facts]?.name
export const isOptional = (struct: Noted): boolean => struct[facts]?.optional === true
