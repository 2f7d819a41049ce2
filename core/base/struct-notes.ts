/**
 * What is noted beside structs, which superstruct forgets: their JSON Schema, their name and what they are made of. A
 * start declares thousands of structs, and few of them check or describe anything soon: each is made when it does.
 */
import { Struct, type Context, type Failure } from 'superstruct'
import { fault } from './assert.js'
import { allowNulls, withoutReferences, type JsonSchema, type NamedSchemas } from './json-schema.js'

/** A struct of superstruct; written with methods, as each takes the value of its own kind only. */
interface Made {
  readonly type: string
  readonly schema: unknown
  coercer(value: unknown, context: Context): unknown
  validator(value: unknown, context: Context): Iterable<Failure>
  entries(value: unknown, context: Context): Iterable<readonly [string | number, unknown, unknown]>
  refiner(value: unknown, context: Context): Iterable<Failure>
}

interface Facts {
  made: Made | (() => Made)
  schema: JsonSchema | (() => JsonSchema)
  readonly inside: () => readonly Noted[]
  /** The structs of an object, which are known before it is made. */
  readonly fields: unknown
  readonly tag: Tag | undefined
  name: string | undefined
  optional: boolean
  /** Stricter than its JSON Schema, or checked by something else than it. */
  ruled: boolean
}
/** On the struct itself: thousands of entries of a weak map are looked through at each collection of garbage. */
const facts: unique symbol = Symbol('facts')
/** A struct, whatever it checks. */
interface Noted {
  readonly type: string
  readonly schema: unknown
  readonly [facts]?: Facts
}

/** What tells the variants of a struct apart: the text of one member. */
export interface Tag<S = Noted> {
  readonly key: string
  readonly variants: Readonly<Record<string, S>>
}

/** What more is noted of a struct that is made of others. */
export interface Parts {
  readonly inside?: () => readonly Noted[]
  readonly fields?: unknown
  readonly tag?: Tag
}

const madeOf = (noted: Facts): Made => (typeof noted.made === 'function' ? (noted.made = noted.made()) : noted.made)

/** To superstruct it is a struct. A class: its thousands have what they can in common. */
class LateStruct {
  readonly [facts]: Facts
  constructor(noted: Facts) {
    this[facts] = noted
  }
  get type(): string {
    return madeOf(this[facts]).type
  }
  get schema(): unknown {
    return this[facts].fields ?? madeOf(this[facts]).schema
  }
  get coercer(): Made['coercer'] {
    return madeOf(this[facts]).coercer
  }
  get validator(): Made['validator'] {
    return madeOf(this[facts]).validator
  }
  get entries(): Made['entries'] {
    return madeOf(this[facts]).entries
  }
  get refiner(): Made['refiner'] {
    return madeOf(this[facts]).refiner
  }
}

// It is one of superstruct's also by methods such as `is`, which work by the members above.
Object.setPrototypeOf(LateStruct.prototype, Struct.prototype)

const nothing: Facts['inside'] = () => []

/** A struct that superstruct makes when it first checks something, with its schema and its parts. */
export const noted = (
  made: () => Made,
  schema: () => JsonSchema,
  { inside = nothing, fields, tag }: Parts = {},
): LateStruct => new LateStruct({ made, schema, inside, fields, tag, name: undefined, optional: false, ruled: false })

/** A struct that is another one and something more. */
export const derived = (from: Noted, made: () => Made, schema: () => JsonSchema): LateStruct => {
  const { fields, tag } = from[facts] ?? {}
  const struct = noted(made, schema, { inside: () => [from], fields, ...(tag && { tag }) })
  return isOptional(from) ? makeOptional(struct) : struct
}

/** The struct as superstruct has made it, which alone has its members itself; undefined for one of somebody else. */
export const madeStruct = (struct: Noted): unknown => {
  const own = struct[facts]
  return own && madeOf(own)
}

/** Whether it is a struct that was made here: whoever wrote it may have had no compiler. */
export const isStruct = (value: unknown): boolean => typeof value === 'object' && value !== null && facts in value

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
/** What tells the variants of this struct apart. */
export const tagOf = (struct: Noted): Tag | undefined => struct[facts]?.tag

/** True if it is so of this struct, or of one that it is made of. */
const isInside = (struct: Noted, is: (one: Noted) => boolean, seen = new Set<Noted>()): boolean => {
  if (is(struct)) return true
  if (seen.has(struct)) return false
  seen.add(struct)
  return insideOf(struct).some((part) => isInside(part, is, seen))
}
/** True if this struct, or one that it is made of, is not judged by its JSON Schema alone. */
export const isRuled = (struct: Noted): boolean => isInside(struct, isRuledItself)
/** True if this struct, or one that it is made of, has variants that are told apart. */
export const hasTags = (struct: Noted): boolean => isInside(struct, (one) => tagOf(one) !== undefined)
export const giveName = <S extends Noted>(struct: S, name: string): S => {
  factsOf(struct).name = name
  return struct
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

/** The JSON Schema of a struct for those who know no components: with nothing that stands elsewhere. */
export const wholeSchema = (struct: Noted): JsonSchema => withoutReferences(inlineSchema(struct), namedSchemas(struct))

/** What input of this struct may look like: where its schema lets a field be left out, it may also be null. */
export const inputSchema = (struct: Noted): JsonSchema => allowNulls(inlineSchema(struct))

/** The name given by `named`, if any. */
export const schemaName = (struct: Noted): string | undefined => struct[facts]?.name
export const isOptional = (struct: Noted): boolean => struct[facts]?.optional === true
