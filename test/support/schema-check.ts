/**
 * Do a struct and its JSON Schema say the same? Values are made near the schema, so that both sides of each limit are
 * met.
 */
import fc, { type Arbitrary } from 'fast-check'
import { parse } from '../../core/base/parse.js'
import { inputSchema, isRuled, partsOf, schemaName, type AnyStruct, type JsonSchema } from '../../core/base/schema.js'
import type { Route } from '../../core/http/routes/route.js'
import type { Validators } from './openapi-check.js'
import { createValidators } from './validators.js'

type Tree = { readonly [key: string]: any }

/** Schemas of all named structs inside a struct. */
const componentsOf = (
  struct: AnyStruct,
  found: Record<string, JsonSchema> = {},
  seen = new Set<AnyStruct>(),
): Record<string, JsonSchema> => {
  if (seen.has(struct)) return found
  seen.add(struct)
  const name = schemaName(struct)
  if (name !== undefined) found[name] = inputSchema(struct)
  for (const part of partsOf(struct)) componentsOf(part, found, seen)
  return found
}

const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom('a', 'b', 'c', '1', '-', ':', '.', 'é', '😀', ' '),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  ),
  maxLength: 6,
})
const odd: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1,
    0.5,
    '',
    'a',
    [],
    {},
    [null],
    { a: 1 },
    2 ** 53 - 1,
    -(2 ** 53) + 1,
    1e300,
    'type',
  ),
  text,
  fc.jsonValue({ maxDepth: 2 }),
)

const numbers = ({ type, minimum, maximum }: Tree): Arbitrary<unknown> => {
  const edges = [minimum, maximum]
    .filter((edge): edge is number => typeof edge === 'number')
    .flatMap((edge) => [edge - 1, edge, edge + 1, edge + 0.5])
  const base: Arbitrary<unknown> =
    type === 'integer'
      ? fc.oneof(
          fc.integer({ min: -5, max: 5 }),
          fc.maxSafeInteger(),
          fc.double({ noNaN: true, noDefaultInfinity: true }),
        )
      : fc.double({ noNaN: true, noDefaultInfinity: true })
  return edges.length === 0 ? base : fc.oneof(fc.constantFrom(...edges), base)
}

const texts = ({ minLength = 0, maxLength, pattern }: Tree): Arbitrary<unknown> => {
  const length = { minLength: Math.max(0, minLength - 1), maxLength: Math.min((maxLength ?? minLength + 6) + 1, 400) }
  const near = fc.string({ unit: fc.constantFrom('a', 'b', '1', 'é', '😀'), ...length })
  return pattern === undefined ? near : fc.oneof(fc.stringMatching(new RegExp(pattern, 'u')), near)
}

/** `nested` bounds recursion through `$ref`. */
const near = (schema: Tree, components: Tree, nested: number): Arbitrary<unknown> => {
  const inside = (inner: Tree): Arbitrary<unknown> => near(inner, components, nested - 1)
  if (nested <= 0) return odd
  if (typeof schema['$ref'] === 'string') return inside(components[schema['$ref'].split('/').at(-1) ?? ''])
  if ('const' in schema) return fc.constant(schema['const'])
  if (Array.isArray(schema['enum'])) return fc.constantFrom<unknown>(...schema['enum'])
  const variants: Tree[] | undefined = schema['oneOf'] ?? schema['anyOf']
  if (variants !== undefined) return fc.oneof(...variants.map(inside))
  if (Array.isArray(schema['type']))
    return fc.oneof(...schema['type'].map((type) => near({ ...schema, type }, components, nested)))
  switch (schema['type']) {
    case 'string':
      return texts(schema)
    case 'number':
    case 'integer':
      return numbers(schema)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(mostly(inside(schema['items'])), {
        maxLength: Math.min((schema['maxItems'] ?? 3) + 1, 5),
        minLength: Math.max(0, (schema['minItems'] ?? 0) - 1),
      })
    case 'object':
      return objects(schema, inside)
    default:
      return odd
  }
}
/** Mostly the right kind, sometimes anything. */
const mostly = (right: Arbitrary<unknown>): Arbitrary<unknown> =>
  fc.oneof({ weight: 12, arbitrary: right }, { weight: 1, arbitrary: odd })

const objects = (
  { properties = {}, required = [], additionalProperties }: Tree,
  inside: (schema: Tree) => Arbitrary<unknown>,
): Arbitrary<unknown> => {
  const fields: Record<string, Arbitrary<unknown>> = Object.fromEntries(
    Object.entries<Tree>(properties).map(([key, schema]) => [key, mostly(inside(schema))]),
  )
  const whole = fc.record(fields, { requiredKeys: required })
  const partial = fc.record(fields, { requiredKeys: [] })
  const extra = typeof additionalProperties === 'object' ? mostly(inside(additionalProperties)) : odd
  const more = fc.dictionary(fc.constantFrom('x', 'y', 'constructor', 'toString', 'a'), extra, { maxKeys: 2 })
  const stretched = fc.tuple(whole, more).map(([base, added]) => ({ ...added, ...base }))
  return fc.oneof(
    { weight: 6, arbitrary: whole },
    { weight: 1, arbitrary: partial },
    { weight: typeof additionalProperties === 'object' ? 4 : 1, arbitrary: stretched },
  )
}

export const valuesNear = (struct: AnyStruct): Arbitrary<unknown> =>
  mostly(near(inputSchema(struct), componentsOf(struct), 9))

export interface Comparison {
  readonly accepted: number
  readonly disagreement: string | undefined
}

interface ComparisonOptions {
  readonly seed: number
  readonly runs: number
  /** For a struct with rules that JSON Schema cannot say: those make it stricter than its schema. */
  readonly stricter?: boolean
  /** Compiles schemas that name the components of the struct. */
  readonly of?: Validators['of']
}

export const compareStruct = (
  struct: AnyStruct,
  { seed, runs, stricter = false, of = createValidators({ schemas: componentsOf(struct) }).of }: ComparisonOptions,
): Comparison => {
  const validate = of(inputSchema(struct))
  let accepted = 0
  let disagreement: string | undefined
  for (const value of fc.sample(valuesNear(struct), { numRuns: runs, seed })) {
    const json: unknown = JSON.parse(JSON.stringify(value) ?? 'null')
    const [mine, theirs] = [parse(struct, json).ok, validate(json)]
    if (theirs && mine) accepted += 1
    if (mine !== theirs && !(stricter && theirs))
      disagreement ??=
        `${mine ? 'struct accepts, schema refuses' : 'schema accepts, struct refuses'} ` +
        `${JSON.stringify(json).slice(0, 300)} (seed ${seed})`
  }
  return { accepted, disagreement }
}

/** Compares every struct of every route. Returns one sentence for each disagreement. */
export const compareRoutes = (routes: readonly Route[], { seed, runs }: { seed: number; runs: number }): string[] => {
  const parts = routes.flatMap(({ id, params, query, body, reply }) =>
    Object.entries({ params, query, body, reply: reply.kind === 'json' ? reply.body : undefined }).flatMap(
      ([part, struct]) => (struct === undefined ? [] : [{ name: `${id} ${part}`, struct }]),
    ),
  )
  // Most structs name the same few: those are compiled once.
  const [schemas, seen]: [Record<string, JsonSchema>, Set<AnyStruct>] = [{}, new Set()]
  for (const { struct } of parts) componentsOf(struct, schemas, seen)
  const { of } = createValidators({ schemas })
  return parts.flatMap(({ name, struct }) => {
    const { disagreement } = compareStruct(struct, { seed, runs, of, stricter: isRuled(struct) })
    return disagreement === undefined ? [] : [`${name}: ${disagreement}`]
  })
}
