/**
 * One description of a value, three uses: it checks input (superstruct; see
 * parse.ts), it is the JSON Schema of the OpenAPI document, and it is the
 * TypeScript type.
 * superstruct forgets what is inside records and unions, so each constructor
 * here builds the struct and notes its JSON Schema beside it.
 */
import * as ss from 'superstruct'
import type { Struct, Infer } from 'superstruct'
import { lengthRule, textCheck, type StringRules } from './issue-rule.js'
import { fieldsBehind, type JsonSchema } from './json-schema.js'
import { walk } from './schema-walk.js'
import {
  derived,
  inlineSchema,
  insideOf,
  isOptional,
  jsonSchema,
  madeStruct,
  makeOptional,
  markRuled,
  namedSchemas,
  giveName,
  noted,
  tagOf,
  type Parts,
  type Tag,
} from './struct-notes.js'

export type { Struct, Infer, JsonSchema, StringRules }
export { notBlank } from './issue-rule.js'
export {
  hasTags,
  inlineSchema,
  wholeSchema,
  inputSchema,
  isObjectStruct,
  isOptional,
  isRuled,
  isRuledItself,
  isStruct,
  jsonSchema,
  namedSchemas,
  schemaName,
} from './struct-notes.js'
/** A JSON value. A member that is undefined is left out when it is written. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [key: string]: Json | undefined }
/** True for an object: neither null nor an array, a text, a number or a boolean. */
export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export type AnyStruct = Struct<any, any>
/** A struct of `T`, whatever its inside is. */
export type StructOf<T> = Struct<T, any>

/** The schemas of a struct's fields by name; none if its values are no objects. */
export const fieldSchemas = (struct: AnyStruct): Readonly<Record<string, JsonSchema>> =>
  (inlineSchema(struct)['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>

/**
 * The names of the fields behind some keys of the struct's values, of variants those of the one that a value is of, if
 * it is given; none where there may be any.
 */
export const fieldNames = (struct: AnyStruct, keys: readonly string[], value?: unknown): readonly string[] =>
  fieldsBehind({ schema: inlineSchema(struct), named: namedSchemas(struct) }, keys, value)

/** The structs that this one is made of. */
export const partsOf = (struct: AnyStruct): readonly AnyStruct[] => insideOf(struct) as readonly AnyStruct[]

export const variantsOf = (struct: AnyStruct) => tagOf(struct) as Tag<AnyStruct> | undefined
/** A struct that is made when it first checks something, with its schema. */
export const note = <S extends AnyStruct>(make: () => S, schema: () => JsonSchema, parts?: Parts): S =>
  noted(make, schema, parts) as unknown as S
const derive = <S extends AnyStruct>(from: AnyStruct, make: () => S, more: JsonSchema): S =>
  derived(from, make, () => ({ ...jsonSchema(from), ...more })) as unknown as S
/** What superstruct makes another one of. */
const made = <S extends AnyStruct>(struct: S): S => (madeStruct(struct) ?? struct) as S

const safeNumber = ss.refine(ss.number(), 'number', (n) => Number.isFinite(n))
const safeInteger = ss.refine(ss.integer(), 'integer', (n) => Number.isSafeInteger(n))

/** Text; `min` and `max` count Unicode code points, as JSON Schema does. */
export const string = (rules: StringRules = {}): Struct<string, null> => {
  const { min = 0, max = Infinity, pattern } = rules
  const check = textCheck(rules)
  return note(
    () => ss.refine(ss.string(), 'string', check),
    () => ({
      type: 'string',
      ...(min > 0 && { minLength: min }),
      ...(max < Infinity && { maxLength: max }),
      ...(pattern !== undefined && { pattern }),
    }),
  )
}

export interface NumberRules {
  min?: number
  max?: number
}
const ranged = (
  base: Struct<number, null>,
  type: 'number' | 'integer',
  { min = -Infinity, max = Infinity }: NumberRules,
): Struct<number, null> => {
  const low = type === 'integer' ? Math.max(min, Number.MIN_SAFE_INTEGER) : min
  const high = type === 'integer' ? Math.min(max, Number.MAX_SAFE_INTEGER) : max
  const check = (n: number): string | boolean =>
    n < min ? `must be at least ${min}` : n <= max || `must be at most ${max}`
  return note(
    () => ss.refine(base, type, check),
    () => ({ type, ...(low > -Infinity && { minimum: low }), ...(high < Infinity && { maximum: high }) }),
  )
}
/** A finite number. */
export const number = (rules: NumberRules = {}): Struct<number, null> => ranged(safeNumber, 'number', rules)
/** A safe integer (±2^53−1). */
export const integer = (rules: NumberRules = {}): Struct<number, null> => ranged(safeInteger, 'integer', rules)
/** Unix time in milliseconds. */
export const timestamp = (): Struct<number, null> => doc(integer({ min: 0 }), 'Unix time in milliseconds.')
export const boolean = (): Struct<boolean, null> => note(ss.boolean, () => ({ type: 'boolean' }))
/** Any JSON value. */
export const json = (): Struct<Json, null> =>
  note(
    () => ss.define<Json>('json', (value) => value !== undefined),
    () => ({}),
  )
export const literal = <const T extends string | number | boolean>(value: T): Struct<T, any> =>
  note(
    () => ss.literal(value as never) as unknown as Struct<T, any>,
    () => ({ const: value }),
  )
export const enums = <const T extends readonly string[]>(values: T): Struct<T[number], any> =>
  note(
    () => ss.enums(values as unknown as string[]) as unknown as Struct<T[number], any>,
    () => ({ enum: values }),
  )

export interface ListRules {
  min?: number
  max?: number
}
export const array = <T>(item: Struct<T, any>, { min = 0, max = Infinity }: ListRules = {}): Struct<T[], any> =>
  note(
    () =>
      ss.refine(
        ss.array(item),
        'array',
        ({ length }) => lengthRule(length, { min, max }, 'item') ?? true,
      ) as unknown as Struct<T[], any>,
    () => ({
      type: 'array',
      items: jsonSchema(item),
      ...(min > 0 && { minItems: min }),
      ...(max < Infinity && { maxItems: max }),
    }),
    { inside: () => [item] },
  )
/** An object with any keys and values of one kind. */
export const record = <T>(value: Struct<T, any>): Struct<Record<string, T>, any> =>
  note(
    () => ss.record(ss.string(), value),
    () => ({ type: 'object', additionalProperties: jsonSchema(value) }),
    { inside: () => [value] },
  )
/** A JSON object with any content. */
export const jsonObject = (): Struct<JsonObject, any> => record(json()) as Struct<JsonObject, any>

type Fields = Record<string, AnyStruct>
type ObjectOf<F extends Fields> = ss.Infer<ReturnType<typeof ss.object<F>>>
const objectSchema = (fields: Fields, closed: boolean): JsonSchema => {
  const required = Object.keys(fields).filter((key) => !isOptional(fields[key] as AnyStruct))
  const properties = Object.fromEntries(Object.entries(fields).map(([key, struct]) => [key, jsonSchema(struct)]))
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    ...(closed && { additionalProperties: false }),
  }
}
/** Takes the null of an optional field for its absence, unless null is one of the field's values. */
const withoutNulls = <S extends AnyStruct>(struct: S, fields: Fields): S => {
  const isAbsence = (key: string): boolean =>
    Object.hasOwn(fields, key) && isOptional(fields[key] as AnyStruct) && !walk(fields[key] as AnyStruct, null, 1).ok
  const coercer = (value: unknown, context: ss.Context): unknown => {
    const copy = struct.coercer(value, context)
    if (copy === value || typeof copy !== 'object' || copy === null) return copy
    for (const [key, inner] of Object.entries(copy))
      if (inner === null && isAbsence(key)) Reflect.deleteProperty(copy, key)
    return copy
  }
  return new ss.Struct({ ...struct, coercer } as never) as unknown as S
}
const objectOf = <F extends Fields>(make: (fields: F) => AnyStruct, fields: F, closed: boolean) =>
  note(
    () => withoutNulls(make(fields), fields) as unknown as Struct<ObjectOf<F>, F>,
    () => objectSchema(fields, closed),
    { inside: () => Object.values(fields), fields },
  )
/** An object with these keys and no others. */
export const object = <F extends Fields>(fields: F): Struct<ObjectOf<F>, F> => objectOf(ss.object, fields, true)
/** An object with these keys; unknown keys are kept. */
export const open = <F extends Fields>(fields: F): Struct<ObjectOf<F>, F> => objectOf(ss.type, fields, false)

/** May be left out; in input, null says the same. */
export const optional = <T, S>(struct: Struct<T, S>): Struct<T | undefined, S> =>
  makeOptional(derive(struct, () => ss.optional(made(struct)), {}))
/** Optional, with the value that stands in when it is missing. What is there is never completed from it. */
export const defaulted = <T, S>(struct: Struct<T, S>, value: T): Struct<T, S> =>
  makeOptional(derive(struct, () => ss.defaulted(made(struct), value, { strict: true }), { default: value }))
export const nullable = <T, S>(struct: Struct<T, S>): Struct<T | null, S> =>
  note(
    () => ss.nullable(made(struct)),
    () => ({ anyOf: [jsonSchema(struct), { type: 'null' }] }),
    { inside: () => [struct] },
  )
/** Adds a sentence for readers of the reference and the OpenAPI document. */
export const doc = <T, S>(struct: Struct<T, S>, description: string, more: JsonSchema = {}): Struct<T, S> =>
  derive(struct, () => made(struct), { description, ...more })
/** An object that is shown by a sentence alone: for those who are told every schema each time and rarely need it. */
export const brief = <T, S>(struct: Struct<T, S>, description: string): Struct<T, S> => {
  const schema = (): JsonSchema => ({ type: 'object', description })
  return markRuled(derived(struct, () => made(struct), schema) as unknown as Struct<T, S>)
}
type Rule<T> = (value: T) => boolean | string
/** A rule that JSON Schema cannot say; `sentence`, or the fault that `holds` gives without the value, tells of it. */
export const rule = <T, S>(struct: Struct<T, S>, sentence: string, holds: Rule<T>): Struct<T, S> => {
  const check = (value: T): string | boolean => holds(value) || sentence
  return markRuled(derive(struct, () => ss.refine(made(struct), 'rule', check), { description: sentence }))
}

/** Objects told apart by one literal field, checked against one variant only. */
export const tagged = <K extends string, V extends Record<string, AnyStruct>>(
  key: K,
  variants: V,
): Struct<{ [N in keyof V]: ss.Infer<V[N]> & Record<K, N> }[keyof V], any> => {
  const make = (): AnyStruct => {
    const fallback = ss.type({ [key]: ss.enums(Object.keys(variants)) }) as unknown as AnyStruct
    return ss.dynamic((value) => {
      const tag = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
      return typeof tag === 'string' && Object.hasOwn(variants, tag) ? (variants[tag] as AnyStruct) : fallback
    })
  }
  const schema = (): JsonSchema => {
    const schemas = Object.values(variants).map((variant) => jsonSchema(variant))
    return schemas.length === 1 ? (schemas[0] ?? {}) : { oneOf: schemas }
  }
  return note(make as never, schema, { inside: () => Object.values(variants), tag: { key, variants } })
}
/**
 * One struct for objects that have a field, another for everything else, which does not know the field; errors are
 * those of the one that was chosen.
 */
export const having = <A, B>(key: string, present: Struct<A, any>, absent: Struct<B, any>): Struct<A | B, any> => {
  const choose = (value: unknown): AnyStruct =>
    typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? present : absent
  return note(
    () => ss.dynamic(choose),
    () => ({ anyOf: [...variantsIn(present), jsonSchema(absent)] }),
    { inside: () => [present, absent] },
  )
}
const variantsIn = (struct: AnyStruct): readonly JsonSchema[] => {
  const schema = jsonSchema(struct)
  return Array.isArray(schema['oneOf']) ? (schema['oneOf'] as JsonSchema[]) : [schema]
}
/** Any of a few kinds; prefer `tagged`, whose errors are exact. */
export const union = <A extends AnyStruct, B extends AnyStruct>(a: A, b: B): Struct<ss.Infer<A> | ss.Infer<B>, any> =>
  note(
    () => ss.union([a, b]) as never,
    () => ({ anyOf: [jsonSchema(a), jsonSchema(b)] }),
    { inside: () => [a, b] },
  )
/** A component with a name of its own in the OpenAPI document. */
export const named = <S extends AnyStruct>(name: string, struct: S): S =>
  giveName(
    derived(
      struct,
      () => made(struct),
      () => inlineSchema(struct),
    ) as unknown as S,
    name,
  )
/** A struct that mentions itself; give it a name. */
export const lazy = <T>(name: string, make: () => Struct<T, any>): Struct<T, any> => {
  let inner: Struct<T, any> | undefined
  const get = (): Struct<T, any> => (inner ??= make())
  const struct = note(
    () => ss.lazy(get) as Struct<T, any>,
    () => inlineSchema(get()),
    { inside: () => [get()] },
  )
  return giveName(struct, name)
}

/**
 * A value that this program itself made or wrote and whose bytes were verified: typed without a second check. Never for
 * input.
 */
export const unsafeCast = <T>(value: unknown): T => value as T
