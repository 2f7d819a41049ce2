/** Checks input against its struct. */
import { ruleOf } from './issue-rule.js'
import { fitsObject, fitsSchema, unsure, type Fits } from './json-schema.js'
import { walk } from './schema-walk.js'
import {
  inlineSchema,
  isRuled,
  isRuledItself,
  namedSchemas,
  partsOf,
  unsafeCast,
  type AnyStruct,
  type StructOf,
} from './schema.js'

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
  const made = isRuled(struct) ? ruledCheck(struct) : fitsSchema(inlineSchema(struct), namedSchemas(struct))
  quick.set(struct, made)
  return made
}

/** A rule of one field asks for a walk only where that field is there; one of the whole struct always does. */
const ruledCheck = (struct: AnyStruct): Fits => {
  const parts = partsOf(struct)
  const [inner = struct] = parts
  if (isRuledItself(struct)) return unsure
  if (parts.length === 1 && inner.schema !== null && inner.schema === struct.schema) return quickCheck(inner)
  const fields = Object.entries<AnyStruct>(struct.schema ?? {})
  if (!parts.every((part) => fields.some(([, field]) => field === part))) return unsure
  const judges = fields.filter(([, field]) => isRuled(field)).map(([key, field]) => [key, quickCheck(field)] as const)
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
