/**
 * Checks a value against a struct in the order that superstruct does, but ends
 * at the most failures that are wanted: superstruct goes through the rest of
 * the value too and explains every failure in it, which takes seconds for a
 * text of very many wrong values.
 */
import type { Context, Failure } from 'superstruct'

type Key = string | number
export type Walked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly failures: Failure[] }

/** What a struct is made of; written as methods, as each takes the value of its own kind only. */
interface Checks {
  coercer(value: unknown, context: Context): unknown
  validator(value: unknown, context: Context): Iterable<Failure>
  entries(value: unknown, context: Context): Iterable<readonly [Key, unknown, Checks]>
  refiner(value: unknown, context: Context): Iterable<Failure>
}
interface Place {
  readonly value: unknown
  readonly checks: Checks
  readonly path: Key[]
}

/**
 * superstruct puts a refused value into a message that nobody sees, which fails for a table without a prototype and for
 * `{ "toString": 1 }`: an empty one breaks the same rule. The `toString` of what a plugin returned may throw anything;
 * what a rule of ours throws is told as it is.
 */
const refusalsBut =
  (isOfValue: (error: unknown) => boolean) =>
  (check: Checks['validator'], value: unknown, context: Context): readonly Failure[] => {
    try {
      return [...check(value, context)]
    } catch (error) {
      if (!isOfValue(error)) throw error
      const found = [...check(Array.isArray(value) ? [] : {}, context)]
      return found.length > 0 ? found : [unspeakable(value, context)]
    }
  }
const kindRefusals = refusalsBut(() => true)
const ruleRefusals = refusalsBut((error) => error instanceof TypeError)
/** A union coerces by the checks of its variants, which fail for the same values: such a one stays as it is. */
const coerced = ({ coercer }: Checks, value: unknown, context: Context): unknown => {
  try {
    return coercer(value, context)
  } catch {
    return value
  }
}

const unspeakable = (value: unknown, { path }: Context): Failure => ({
  value,
  key: path.at(-1),
  type: 'value',
  refinement: 'value',
  message: 'is of a wrong kind',
  branch: [],
  path: [...path],
})

/** Defaults are filled in, in copies: the value itself stays as it is. */
export const walk = (checks: Checks, value: unknown, most: number): Walked => {
  const failures: Failure[] = []
  const collect = (found: Iterable<Failure>): void => {
    for (const failure of found) if (failures.length < most) failures.push(failure)
  }
  const visit = (place: Place): unknown => {
    const { checks: own, path } = place
    const context = { path, branch: [], mask: false }
    const made = coerced(own, place.value, context)
    const before = failures.length
    collect(kindRefusals(own.validator, made, context))
    for (const [key, inner, part] of own.entries(made, context)) {
      if (failures.length >= most) return made
      const read = visit({ value: inner, checks: part, path: [...path, key] })
      if (read !== inner) Reflect.set(Object(made), key, read)
    }
    if (failures.slice(before).every(({ refinement }) => refinement !== undefined))
      collect(ruleRefusals(own.refiner, made, context))
    return made
  }
  const made = visit({ value, checks, path: [] })
  return failures.length === 0 ? { ok: true, value: made } : { ok: false, failures }
}
