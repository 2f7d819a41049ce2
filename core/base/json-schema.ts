/**
 * The JSON Schema that structs note, and a quick yes: most input fits its
 * schema as it stands, and then there is nothing to fill in and nothing to
 * explain. Everything else, also what these checks do not know, is judged by
 * the struct, whose walk over a small body costs thirty times as much.
 */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** True only if the struct of the schema accepts the value and gives back its equal. */
export type Fits = (value: unknown) => boolean

/** Leaves the judgement to the struct. */
export const unsure: Fits = () => false

interface Known {
  readonly type?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: JsonSchema | false
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
}

/** Lengths count code points: a text of n units has between n / 2 and n of them. */
const fitsText = ({ minLength = 0, maxLength = Infinity, pattern }: Known): Fits => {
  const regex = pattern === undefined ? undefined : new RegExp(pattern, 'u')
  const least = minLength < 2 ? minLength : minLength * 2
  return (value) =>
    typeof value === 'string' &&
    value.length >= least &&
    value.length <= maxLength &&
    (regex === undefined || regex.test(value))
}

const fitsNumber = ({ type, minimum = -Infinity, maximum = Infinity }: Known): Fits => {
  const isKind = type === 'integer' ? Number.isSafeInteger : Number.isFinite
  return (value) => typeof value === 'number' && isKind(value) && value >= minimum && value <= maximum
}

/** `item` is the check of each. */
export const fitsList =
  ({ minItems = 0, maxItems = Infinity }: Known, item: Fits): Fits =>
  (value) =>
    Array.isArray(value) && value.length >= minItems && value.length <= maxItems && value.every((one) => item(one))

/** `checks` are those of the variants, by what the member has that tells them apart. */
export const fitsTagged =
  (key: string, checks: ReadonlyMap<unknown, Fits>): Fits =>
  (value) =>
    typeof value === 'object' && value !== null && checks.get(Reflect.get(value, key))?.(value) === true

/** `judges` are the checks of fields that their schemas alone do not judge. */
export const fitsObject = (
  { properties = {}, required = [], additionalProperties }: Known,
  named: NamedSchemas,
  judges: ReadonlyMap<string, Fits> = new Map(),
): Fits => {
  const fields = new Map(
    Object.entries(properties).map(([key, schema]) => [key, judges.get(key) ?? fitsSchema(schema, named)]),
  )
  const needed = [
    ...required,
    ...Object.keys(properties).filter((key) => Object.hasOwn(properties[key] ?? {}, 'default')),
  ]
  const other =
    additionalProperties === undefined || additionalProperties === false
      ? unsure
      : fitsSchema(additionalProperties, named)
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    for (const key of needed) if (!Object.hasOwn(value, key)) return false
    return Object.keys(value).every((key) => (fields.get(key) ?? other)(Reflect.get(value, key)))
  }
}

/** Nothing but its own fields, none of them filled in: what fits it fits no other by half. */
const isExact = (schema: JsonSchema): boolean =>
  schema['type'] === 'object' &&
  schema['additionalProperties'] === false &&
  !/"(?:default|\$ref)":/u.test(JSON.stringify(schema))

const fitsAny = (variants: readonly JsonSchema[], named: NamedSchemas): Fits => {
  const whole = variants.map((variant) => resolved(variant, named))
  if (!whole.every(isExact)) return unsure
  const checks = whole.map((variant) => fitsSchema(variant, named))
  return (value) => checks.some((fits) => fits(value))
}

const resolved = (schema: JsonSchema, named: NamedSchemas): JsonSchema => named.get(String(schema['$ref'])) ?? schema

/** A schema may mention itself: its check is made when it is first used. */
const fitsNamed = (schema: JsonSchema, named: NamedSchemas): Fits => {
  let fits: Fits | undefined
  return (value) => (fits ??= fitsSchema(schema, named))(value)
}

/** Schemas by what a `$ref` calls them. */
export type NamedSchemas = ReadonlyMap<string, JsonSchema>
const none: NamedSchemas = new Map()

/** The check of a schema; one that is always unsure for what is not known here. */
export const fitsSchema = (schema: JsonSchema, named: NamedSchemas = none): Fits => {
  const known: Known = schema
  const variants = known.anyOf ?? known.oneOf
  if (variants !== undefined) return fitsAny(variants, named)
  const meant = resolved(schema, named)
  if (meant !== schema) return fitsNamed(meant, named)
  if (known.enum !== undefined) return (value) => known.enum?.includes(value) === true
  if (Object.hasOwn(schema, 'const')) return (value) => value === known.const
  switch (known.type) {
    case 'string':
      return fitsText(known)
    case 'integer':
    case 'number':
      return fitsNumber(known)
    case 'boolean':
      return (value) => typeof value === 'boolean'
    case 'array':
      return fitsList(known, known.items === undefined ? unsure : fitsSchema(known.items, named))
    case 'object':
      return fitsObject(known, named)
    default:
      return Object.keys(schema).length === 0 ? () => true : unsure
  }
}

/** The objects and lists that a schema lets be: of variants those that a value, as far as it says, is one of. */
const formsOf = (schema: JsonSchema, named: NamedSchemas, value: unknown): readonly Known[] => {
  const known: Known = resolved(schema, named)
  const variants = known.anyOf ?? known.oneOf
  if (variants !== undefined) return variants.flatMap((variant) => formsOf(variant, named, value))
  const isOther = ([key, field]: [string, JsonSchema]): boolean => {
    const given = memberOf(value, key)
    return field['const'] !== undefined && given !== undefined && given !== field['const']
  }
  return Object.entries(known.properties ?? {}).some(isOther) ? [] : [known]
}

const memberOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined

/** Names of the fields behind some keys of a value; of every variant where no value is given. */
export const fieldsBehind = (
  { schema, named }: { readonly schema: JsonSchema; readonly named: NamedSchemas },
  [key, ...deeper]: readonly string[],
  value?: unknown,
): readonly string[] => {
  const forms = formsOf(schema, named, value)
  if (key === undefined) return [...new Set(forms.flatMap(({ properties = {} }) => Object.keys(properties)))]
  const inside = forms.flatMap(({ properties = {}, additionalProperties, items }): JsonSchema[] => {
    const own = Object.hasOwn(properties, key) ? properties[key] : undefined
    const each = items ?? additionalProperties
    return own === undefined ? (each ? [each] : []) : [own]
  })
  const names = inside.flatMap((one) => fieldsBehind({ schema: one, named }, deeper, memberOf(value, key)))
  return [...new Set(names)]
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const kinds = ['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', '$ref'] as const
const admitsNull = (schema: JsonSchema): boolean => {
  if (!kinds.some((kind) => Object.hasOwn(schema, kind))) return true
  if (schema['type'] === 'null') return true
  const variants = schema['anyOf'] ?? schema['oneOf']
  return Array.isArray(variants) && variants.some((variant) => isSchema(variant) && admitsNull(variant))
}

/** The schema, or null. What is said about the value stays in front. */
const orNull = (schema: JsonSchema): JsonSchema => {
  if (admitsNull(schema)) return schema
  if (typeof schema['type'] === 'string') return { ...schema, type: [schema['type'], 'null'] }
  const { description, default: fallback, ...value } = schema
  return {
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback }),
    anyOf: [value, { type: 'null' }],
  }
}

/** The same schema for input: each field that may be left out may also be null. `rename` is given each reference. */
export const allowNulls = (schema: JsonSchema, rename = (reference: string): string => reference): JsonSchema => {
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const field = ([key, value]: [string, unknown]): [string, unknown] => {
    const taken = isSchema(value) ? allowNulls(value, rename) : value
    return [key, isSchema(taken) && !required.includes(key) ? orNull(taken) : taken]
  }
  const inside = (keyword: string, value: unknown): unknown => {
    if (keyword === '$ref') return rename(String(value))
    if (keyword === 'default' || keyword === 'const') return value
    if (keyword === 'properties' && isSchema(value)) return Object.fromEntries(Object.entries(value).map(field))
    if (Array.isArray(value)) return value.map((each) => (isSchema(each) ? allowNulls(each, rename) : each))
    return isSchema(value) ? allowNulls(value, rename) : value
  }
  return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, inside(keyword, value)]))
}

/** The same schema with what it refers to in place of the references; what stands within itself is any value there. */
export const withoutReferences = (
  schema: JsonSchema,
  named: NamedSchemas,
  above: readonly JsonSchema[] = [],
): JsonSchema => {
  const { $ref, ...said } = schema
  const meant = typeof $ref === 'string' ? named.get($ref) : undefined
  if (meant !== undefined)
    return above.includes(meant) ? said : { ...withoutReferences(meant, named, [...above, meant]), ...said }
  const whole = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(whole)
    return isSchema(value) ? withoutReferences(value, named, above) : value
  }
  return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, whole(value)]))
}
