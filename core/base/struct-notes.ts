/** What is noted beside structs, which superstruct forgets: their JSON Schema, their name and what they are made of. */
import type { Struct } from 'superstruct'
import { fault } from './assert.js'
import { allowNulls, type JsonSchema } from './json-schema.js'

/** A struct, whatever it checks. */
type Noted = Pick<Struct, 'type' | 'schema'>
type Inside = () => readonly Noted[]

/** Most structs are made at the start and described later or never: a schema is made when it is asked for. */
const schemas = new WeakMap<Noted, JsonSchema | (() => JsonSchema)>()
const names = new WeakMap<Noted, string>()
const optionals = new WeakSet<Noted>()
const insides = new WeakMap<Noted, Inside>()

const nothing: Inside = () => []

/** Notes the schema and the parts of a struct, and returns it. */
export const note = <S extends Noted>(struct: S, schema: () => JsonSchema, inside = nothing): S => {
  schemas.set(struct, schema)
  insides.set(struct, inside)
  return struct
}

/** Notes a struct that is another one and something more. */
export const derive = <S extends Noted>(from: Noted, struct: S, more: JsonSchema): S => {
  if (optionals.has(from)) optionals.add(struct)
  return note(
    struct,
    () => ({ ...jsonSchema(from), ...more }),
    () => [from],
  )
}

export const makeOptional = (struct: Noted): void => void optionals.add(struct)
export const giveName = (struct: Noted, name: string): void => void names.set(struct, name)
export const insideOf = (struct: Noted): readonly Noted[] => insides.get(struct)?.() ?? []

/** The JSON Schema (2020-12) of a struct made here; named structs appear as `$ref`. */
export const jsonSchema = (struct: Noted): JsonSchema => {
  const name = names.get(struct)
  return name === undefined ? inlineSchema(struct) : { $ref: `#/components/schemas/${name}` }
}

/** The JSON Schema of a struct with its own name resolved once (for the components section). */
export const inlineSchema = (struct: Noted): JsonSchema => {
  const noted = schemas.get(struct)
  if (noted === undefined) throw fault('struct was not made by core/schema')
  if (typeof noted !== 'function') return noted
  const schema = noted()
  schemas.set(struct, schema)
  return schema
}

/** True for a struct of ours whose values are objects. */
export const isObjectStruct = (struct: Noted): boolean =>
  schemas.has(struct) && inlineSchema(struct)['type'] === 'object'

/** What input of this struct may look like: where its schema lets a field be left out, it may also be null. */
export const inputSchema = (struct: Noted): JsonSchema => allowNulls(inlineSchema(struct))

/** The name given by `named`, if any. */
export const schemaName = (struct: Noted): string | undefined => names.get(struct)
export const isOptional = (struct: Noted): boolean => optionals.has(struct)
