/** Wrong bodies made from a JSON Schema: each with the field it breaks. */

type Tree = { readonly [key: string]: any }

/** One wrong body as text, and the path that its refusal must name. */
export interface Mutation {
  readonly rule: string
  readonly path: string
  readonly text: string
}

/** What a schema refers to; one that also lets null is shown by its other type, as `nullable`. */
const resolve = (schema: Tree, components: Tree): Tree => {
  if (typeof schema['$ref'] === 'string') return resolve(components[schema['$ref'].split('/').at(-1) ?? ''], components)
  if (!Array.isArray(schema['type'])) return schema
  return { ...schema, type: schema['type'].find((type) => type !== 'null'), nullable: schema['type'].includes('null') }
}

/** A value that fits; every field is there, of each union the variant `choice` picks. */
export const sampleOf = (given: Tree, components: Tree, choice = 0): unknown => {
  const schema = resolve(given, components)
  const variants: Tree[] | undefined = schema['oneOf'] ?? schema['anyOf']
  if (variants !== undefined) return sampleOf(variants[choice % variants.length] ?? {}, components, choice)
  if ('const' in schema) return schema['const']
  if (Array.isArray(schema['enum'])) return schema['enum'][0]
  switch (schema['type']) {
    case 'string':
      return 'a'.repeat(Math.max(1, schema['minLength'] ?? 0))
    case 'integer':
    case 'number':
      return Math.max(1, schema['minimum'] ?? 1)
    case 'boolean':
      return true
    case 'null':
      return null
    case 'array':
      return [sampleOf(schema['items'], components, choice)]
    case 'object':
      return Object.fromEntries(
        Object.entries<Tree>(schema['properties'] ?? {}).map(([key, inner]) => [
          key,
          sampleOf(inner, components, choice),
        ]),
      )
    default:
      return { any: 'thing' }
  }
}

/** A place in a sample: the schema that rules it, and its keys from the top. */
export interface Place {
  readonly schema: Tree
  readonly keys: readonly (string | number)[]
  readonly required: boolean
}

/** Every place that a schema rules, in the sample of one choice. */
export const placesOf = (
  given: Tree,
  components: Tree,
  choice = 0,
  place: Omit<Place, 'schema'> = { keys: [], required: true },
): Place[] => {
  const schema = resolve(given, components)
  const variants: Tree[] | undefined = schema['oneOf'] ?? schema['anyOf']
  const here: Place = { schema, ...place }
  if (variants !== undefined) {
    const chosen = resolve(variants[choice % variants.length] ?? {}, components)
    const others = variants.map((variant) => resolve(variant, components)).filter((other) => other !== chosen)
    return [
      here,
      ...placesOf(chosen, components, choice, place)
        .slice(1)
        .map((inside) =>
          inside.keys.length === place.keys.length + 1 && fitsAnother(chosen, others, String(inside.keys.at(-1)))
            ? { ...inside, required: false }
            : inside,
        ),
    ]
  }
  if (schema['type'] === 'array')
    return [here, ...placesOf(schema['items'], components, choice, { keys: [...place.keys, 0], required: true })]
  if (schema['type'] !== 'object') return [here]
  return [
    here,
    ...Object.entries<Tree>(schema['properties'] ?? {}).flatMap(([key, inner]) =>
      placesOf(inner, components, choice, {
        keys: [...place.keys, key],
        required: schema['required']?.includes(key) === true,
      }),
    ),
  ]
}

/** True if an object without this key is one of another variant, or is judged as one because the key was its tag. */
const fitsAnother = (chosen: Tree, others: readonly Tree[], key: string): boolean => {
  const own: Tree = chosen['properties'] ?? {}
  const left = Object.keys(own).filter((name) => name !== key)
  return others
    .filter(({ properties }) => properties !== undefined)
    .some(
      ({ properties, required = [] }) =>
        ('const' in (own[key] ?? {}) && !(key in properties)) ||
        (required.every((name: string) => left.includes(name)) &&
          left.every((name) => name in properties && properties[name].const === own[name].const)),
    )
}

const marker = '@@here@@'
const setAt = (value: any, keys: readonly (string | number)[], put: (old: any) => unknown): any => {
  const [key, ...rest] = keys
  if (key === undefined) return put(value)
  const copy = Array.isArray(value) ? [...value] : { ...value }
  const next = setAt(copy[key], rest, put)
  if (next === undefined) delete copy[key]
  else copy[key] = next
  return copy
}
/** The sample with raw text at a place. */
const withText = (sample: unknown, keys: Place['keys'], text: string): string =>
  JSON.stringify(setAt(sample, keys, () => marker)).replace(JSON.stringify(marker), () => text)

const kindsOf = (schema: Tree, components: Tree): Set<string> => {
  const variants: Tree[] = schema['oneOf'] ?? schema['anyOf'] ?? []
  if (variants.length > 0)
    return new Set(variants.flatMap((variant) => [...kindsOf(resolve(variant, components), components)]))
  const literals: unknown[] = 'const' in schema ? [schema['const']] : (schema['enum'] ?? [])
  const types = [schema['type'], schema['nullable'] === true ? 'null' : undefined].filter((type) => type !== undefined)
  return new Set([...types, ...literals.map((value) => (value === null ? 'null' : typeof value))])
}
const samples = {
  null: 'null',
  boolean: 'true',
  integer: '7',
  number: '7.5',
  string: '"seven"',
  array: '[]',
  object: '{}',
} as const
const fits = { number: ['integer'] } as Readonly<Record<string, readonly string[]>>

const limits = (schema: Tree, components: Tree): [string, string][] => {
  const { minLength, maxLength, minimum, maximum, maxItems } = schema
  const wrong: [string, string][] = []
  if (typeof minLength === 'number' && minLength > 0) wrong.push(['too short', '""'])
  if (typeof maxLength === 'number') wrong.push(['too long', JSON.stringify('é'.repeat(maxLength + 1))])
  if (typeof minimum === 'number') wrong.push(['too small', String(minimum - 1)])
  if (typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER) wrong.push(['too large', String(maximum + 1)])
  if (schema['type'] === 'integer') wrong.push(['a fraction', '1.5'])
  if (typeof maxItems === 'number')
    wrong.push([
      'too many',
      JSON.stringify(Array.from({ length: maxItems + 1 }, () => sampleOf(schema['items'], components))),
    ])
  if (Array.isArray(schema['enum']) || 'const' in schema) wrong.push(['not in the list', '"@nothing"'])
  return wrong
}

/** Texts that no field takes, whatever its schema. */
const never: readonly [string, string][] = [
  ['a number that no double holds', '1e400'],
  ['an integer beyond 2^53', '9007199254740993'],
  ['a number that would become zero', '1e-999'],
  ['a lone surrogate', '"\\ud800"'],
  ['a lone low surrogate', '"a\\udfffb"'],
]

const dotted = (keys: Place['keys']): string => ['body', ...keys].join('.')

/** One mutation for each thing that can be wrong at each place. */
export const mutationsOf = (schema: Tree, components: Tree, choice = 0): Mutation[] => {
  const sample = sampleOf(schema, components, choice)
  const made: Mutation[] = []
  for (const { schema: rules, keys, required } of placesOf(schema, components, choice)) {
    const path = dotted(keys)
    const add = (rule: string, text: string, at = path): void =>
      void made.push({ rule, path: at, text: withText(sample, keys, text) })
    const kinds = kindsOf(rules, components)
    const allowed = new Set([...kinds, ...[...kinds].flatMap((kind) => fits[kind] ?? [])])
    if (allowed.size > 0)
      for (const [kind, text] of Object.entries(samples))
        if (!allowed.has(kind)) add(`${kind} instead of ${[...kinds].join(' or ')}`, text)
    for (const [rule, text] of limits(rules, components)) add(rule, text)
    for (const [rule, text] of never) add(rule, text)
    if (required && keys.length > 0 && typeof keys.at(-1) === 'string')
      made.push({ rule: 'missing', path, text: JSON.stringify(setAt(sample, keys, () => undefined)) })
    const last = keys.at(-1)
    if (typeof last === 'string') add('given twice', `null,${JSON.stringify(last)}:null`)
    if (rules['type'] === 'object' && rules['additionalProperties'] === false) {
      for (const name of ['surplus', '__proto__', 'constructor', 'toString']) {
        const inside = JSON.stringify(setAt(sample, keys, () => marker))
        const old: Tree = keys.reduce<any>((value, key) => value[key], sample)
        const members = [
          ...Object.entries(old).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`),
          `${JSON.stringify(name)}:1`,
        ]
        made.push({
          rule: `unknown field ${name}`,
          path: `${path}.${name}`,
          text: inside.replace(JSON.stringify(marker), () => `{${members.join()}}`),
        })
      }
    }
  }
  return made
}

/** How many choices make every variant of every union appear. */
export const choicesOf = (given: Tree, components: Tree): number => {
  const schema = resolve(given, components)
  const variants: Tree[] = schema['oneOf'] ?? schema['anyOf'] ?? []
  const inner = [
    ...variants,
    ...(schema['items'] === undefined ? [] : [schema['items']]),
    ...Object.values<Tree>(schema['properties'] ?? {}),
  ]
  return Math.max(1, variants.length, ...inner.map((one) => choicesOf(one, components)))
}
