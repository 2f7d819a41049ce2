/** Values that are none of the struct's business. */
import * as ss from 'superstruct'
import { inlineSchema, note, type AnyStruct, type StructOf } from '../schema.js'

/**
 * A struct that also takes what `passes`, unlooked at and as it is: such as what another version of a protocol says,
 * which is told so and not that it has a wrong form. The schema tells of `struct` alone.
 */
export const passing = <T, P>(struct: StructOf<T>, passes: (value: unknown) => value is P): StructOf<T | P> => {
  const choose = (value: unknown): AnyStruct => (passes(value) ? ss.any() : struct)
  return note(
    () => ss.dynamic(choose),
    () => inlineSchema(struct),
    { inside: () => [struct] },
  )
}
