/** Values that are none of the struct's business. */
import * as ss from 'superstruct'
import { jsonSchema, note, type AnyStruct, type JsonSchema, type StructOf } from '../schema.js'

/** What is taken beside what fits a struct: `schema` says of which values `holds` is true. */
export interface Passing<P> {
  readonly holds: (value: unknown) => value is P
  readonly schema: JsonSchema
}

/**
 * A struct that also takes what passes, unlooked at and as it is: such as what another version of a protocol says,
 * which is told so and not that it has a wrong form.
 */
export const passing = <T, P>(struct: StructOf<T>, { holds, schema }: Passing<P>): StructOf<T | P> => {
  const choose = (value: unknown): AnyStruct => (holds(value) ? ss.any() : struct)
  return note(
    () => ss.dynamic(choose),
    () => ({ anyOf: [jsonSchema(struct), schema] }),
    { inside: () => [struct] },
  )
}
