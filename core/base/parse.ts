/** Checks input against its struct. */
import { ruleOf } from './issue-rule.js'
import { fitsList, fitsObject, fitsSchema, fitsTagged, unsure, type Fits } from './json-schema.js'
import { walk } from './schema-walk.js'
import {
  hasTags,
  inlineSchema,
  isRuled,
  isRuledItself,
  namedSchemas,
  partsOf,
  unsafeCast,
  variantsOf,
  type AnyStruct,
  type StructOf,
} from './schema.js'
import type { Tag } from './struct-notes.js'

/** One place where a value breaks its struct: a dotted path and the rule, never the value. */
export interface Issue {
  path: string
  rule: string
}
export type Parsed<T> = { ok: true; value: T } | { ok: false; issues: Issue[] }

const quick = new WeakMap<object, Fits>()
/** A quick yes for a struct: see core/base/json-schema.ts. */
export const quickCheck = (struct: AnyStruct): Fits => {
  const known = quick.get(struct)
  if (known !== undefined) return known
  // A struct that mentions itself is asked for its check while that is made.
  quick.set(struct, (value) => quickCheck(struct)(value))
  const made = checkOf(struct)
  quick.set(struct, made)
  return made
}

const bySchema = (struct: AnyStruct): Fits => fitsSchema(inlineSchema(struct), namedSchemas(struct))

/** Not judged by its schema, or quicker without it. */
const isSpecial = (struct: AnyStruct): boolean => isRuled(struct) || hasTags(struct)

/** A rule of one field asks for a walk only where that field is there; one of the whole struct always does. */
const checkOf = (struct: AnyStruct): Fits => {
  if (isRuledItself(struct)) return unsure
  const tag = variantsOf(struct)
  if (tag !== undefined) return taggedCheck(tag)
  if (!isSpecial(struct)) return bySchema(struct)
  const parts = partsOf(struct)
  const [inner = struct] = parts
  if (parts.length === 1 && inner.schema !== null && inner.schema === struct.schema) return quickCheck(inner)
  if (inlineSchema(struct)['type'] === 'array') return fitsList(inlineSchema(struct), quickCheck(inner))
  return fieldsCheck(struct, parts) ?? (isRuled(struct) ? unsure : bySchema(struct))
}

const taggedCheck = ({ key, variants }: Tag<AnyStruct>): Fits =>
  fitsTagged(key, new Map(Object.entries(variants).map(([name, variant]) => [name, quickCheck(variant)])))

/** Undefined if it is made of more than its fields. */
const fieldsCheck = (struct: AnyStruct, parts: readonly AnyStruct[]): Fits | undefined => {
  const fields = Object.entries<AnyStruct>(struct.schema ?? {})
  if (!parts.every((part) => fields.some(([, field]) => field === part))) return undefined
  const judges = fields.filter(([, field]) => isSpecial(field)).map(([key, field]) => [key, quickCheck(field)] as const)
  return fitsObject(inlineSchema(struct), namedSchemas(struct), new Map(judges))
}

/** Whoever mends the first ones is told of the next. */
export const mostIssues = 20

/**
 * Checks a value; defaults are filled in. The first issues are told; they name paths and rules, never received values.
 */
export const parse = <T>(struct: StructOf<T>, value: unknown): Parsed<T> =>
  quickCheck(struct)(value) ? { ok: true, value: unsafeCast<T>(value) } : parseOnce(struct, value)

/** The same for a struct that is used so seldom that a quick check of it would cost more than it saves. */
export const parseOnce = <T>(struct: StructOf<T>, value: unknown): Parsed<T> => {
  const walked = walk(struct, value, mostIssues)
  return walked.ok
    ? { ok: true, value: unsafeCast<T>(walked.value) }
    : {
        ok: false,
        issues: walked.failures.map((failure) => ({ path: failure.path.join('.'), rule: ruleOf(failure) })),
      }
}
