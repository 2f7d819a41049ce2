/** Structs of JSON Schemas that somebody else wrote. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import test from 'ava'
import { fromJsonSchema } from '../../../../core/base/foreign/foreign-schema.js'
import { inlineSchema, isObjectStruct, isRuled } from '../../../../core/base/schema.js'
import { mostIssues, parse, type Issue } from '../../../../core/base/parse.js'
import { assert } from '../../../../core/base/assert.js'

const structOf = async (schema: unknown) => {
  const made = await fromJsonSchema(schema)
  assert(made.ok, `the schema was refused: ${JSON.stringify(made)}`)
  return made.value
}
const issuesOf = async (schema: unknown, value: unknown): Promise<Issue[]> => {
  const parsed = parse(await structOf(schema), value)
  return parsed.ok ? [] : parsed.issues
}
const refusal = async (schema: unknown): Promise<Issue> => {
  const made = await fromJsonSchema(schema)
  assert(!made.ok && made.issues[0] !== undefined, 'the schema was taken')
  return made.issues[0]
}

const search = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://example.org/search',
  type: 'object',
  title: 'Search',
  properties: {
    query: { type: 'string', minLength: 2, description: 'What to look for.' },
    'a/b': { type: ['integer', 'null'], minimum: 1 },
    kind: { enum: ['file', 'folder'] },
    where: { $ref: '#/$defs/place' },
    id: { type: 'string', format: 'uuid', default: 'x' },
  },
  required: ['query'],
  additionalProperties: false,
  $defs: { place: { type: 'object', properties: { inside: { $ref: '#/$defs/place' } }, required: ['inside'] } },
  'x-vendor': { run: 'this' },
}

test('foreign-tools-1: what fits a foreign schema is taken as it is, and what does not is told by path and rule', async (t) => {
  const struct = await structOf(search)
  t.deepEqual(parse(struct, { query: 'ab', id: 'no uuid', 'a/b': null }), {
    ok: true,
    value: { query: 'ab', id: 'no uuid', 'a/b': null },
  })
  t.deepEqual(await issuesOf(search, { 'a/b': 'secret', kind: 'x', where: { inside: {} }, more: 1 }), [
    { path: 'query', rule: 'is required' },
    { path: 'more', rule: 'is not a known field' },
    { path: 'a/b', rule: 'must be an integer or a null' },
    { path: 'kind', rule: 'must be one of "file", "folder"' },
    { path: 'where.inside.inside', rule: 'is required' },
  ])
  t.deepEqual(await issuesOf(search, ['ab']), [{ path: '', rule: 'must be an object' }])
  t.deepEqual(await issuesOf({ properties: { s: { pattern: '^[\\w-.]+$', maxLength: 3 } } }, { s: '****' }), [
    { path: 's', rule: 'must have at most 3 characters' },
    { path: 's', rule: 'must match "^[\\\\w-.]+$"' },
  ])
})

test('foreign-tools-1: a foreign schema is shown as it came, without what is not known', async (t) => {
  const struct = await structOf(search)
  const { $schema: _, $id: __, 'x-vendor': ___, ...shown } = search
  t.deepEqual(inlineSchema(struct), shown)
  t.true(isObjectStruct(struct) && isRuled(struct))
  t.deepEqual(inlineSchema(await structOf({})), { type: 'object' })
  t.deepEqual(inlineSchema(await structOf({ description: 'half \ud800' })), {
    type: 'object',
    description: 'half \ufffd',
  })
})

test('foreign-tools-1: schemas of earlier drafts mean what they meant', async (t) => {
  const tuple = { properties: { pair: { items: [{ type: 'string' }, { type: 'number' }], additionalItems: false } } }
  t.deepEqual(await issuesOf(tuple, { pair: ['a', 1] }), [])
  t.is((await issuesOf(tuple, { pair: ['a', 'b'] }))[0]?.path, 'pair.1')
  const draft4 = {
    $schema: 'http://json-schema.org/draft-04/schema#',
    properties: { n: { minimum: 1, exclusiveMinimum: true } },
  }
  t.deepEqual(await issuesOf({ ...draft4, id: 'x' }, { n: 1 }), [])
})

const nested = (depth: number): object =>
  Array.from({ length: depth }).reduce<object>((inside) => ({ properties: { a: inside } }), {})

test('foreign-tools-2: a foreign schema that is too much or leads out of itself is refused with its place', async (t) => {
  const refused: [unknown, string, RegExp][] = [
    [null, '', /must be a schema/u],
    [true, '', /must be an object/u],
    [[], '', /must be a schema/u],
    [{ type: 'string' }, 'type', /must be object/u],
    [{ properties: { a: 1 } }, 'properties.a', /must be a schema/u],
    [{ properties: [] }, 'properties', /must be an object/u],
    [{ properties: { a: { $ref: 'https://example.org/a' } } }, 'properties.a.$ref', /same schema/u],
    [{ properties: { a: { $ref: '#/$defs/none' } } }, 'properties.a.$ref', /that is a schema/u],
    [{ properties: { a: { $ref: '#anchor' } } }, 'properties.a.$ref', /same schema/u],
    [{ properties: { a: { $ref: '#/constructor' } } }, 'properties.a.$ref', /that is a schema/u],
    [{ properties: { a: { pattern: '(' } } }, 'properties.a.pattern', /regular expression/u],
    [{ properties: { a: { pattern: 'a'.repeat(1_001) } } }, 'properties.a.pattern', /at most 1000/u],
    [{ patternProperties: { '(': {} } }, 'patternProperties', /regular expressions/u],
    [{ anyOf: [] }, 'anyOf', /list of schemas/u],
    [{ required: [1] }, 'required', /list of names/u],
    [{ minProperties: -1 }, 'minProperties', /whole number/u],
    [{ type: 'objekt' }, 'type', /types of JSON/u],
    [nested(40), /^properties\.a/u.source, /nested so deep/u],
    [{ enum: Array.from({ length: 6_000 }, (_, at) => at) }, 'enum', /at most 5000/u],
    [{ description: 'x'.repeat(200_000) }, 'description', /characters of text/u],
    [{ allOf: Array.from({ length: 201 }, () => ({ $ref: '#' })) }, 'allOf.200.$ref', /at most 200/u],
  ]
  for (const [schema, path, rule] of refused) {
    const issue = await refusal(schema)
    t.regex(issue.rule, rule, JSON.stringify(schema).slice(0, 80))
    if (!path.startsWith('^')) t.regex(issue.path, new RegExp(`^${path.replaceAll('$', '\\$')}`, 'u'))
  }
})

test('foreign-tools-2: no keyword of a library takes effect by surprise', async (t) => {
  t.deepEqual(
    await issuesOf({ $async: true, nullable: true, $data: 1, properties: { id: { id: 'x' } } }, { id: 1 }),
    [],
  )
  const names = JSON.parse('{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}') as object
  t.deepEqual(await issuesOf(names, JSON.parse('{"constructor":1}')), [
    { path: 'constructor', rule: 'must be a string' },
  ])
  t.deepEqual(await issuesOf({ properties: { 'a"];process.exit(1);//': { type: 'string' } } }, {}), [])
})

test('foreign-tools-3: no check by a foreign schema goes on for long', async (t) => {
  const slow = await structOf({ properties: { a: { type: 'string', pattern: '^(a+)+$' } } })
  t.deepEqual(parse(slow, { a: `${'a'.repeat(64)}b` }), {
    ok: false,
    issues: [{ path: '', rule: 'takes too long to check' }],
  })
  t.true(parse(slow, { a: 'aaa' }).ok, 'the next check is none the worse for it')
  const both = await structOf({
    $ref: '#/$defs/a',
    $defs: {
      a: {
        anyOf: [
          { properties: { n: { $ref: '#/$defs/a' } }, required: ['x'] },
          { properties: { n: { $ref: '#/$defs/a' } }, required: ['y'] },
        ],
      },
    },
  })
  const deep = Array.from({ length: 40 }).reduce<object>((n) => ({ n }), {})
  const parsed = parse(both, deep)
  t.false(parsed.ok)
})

test('a foreign schema judges as an independent checker does', async (t) => {
  const { $id: _, ...plain } = search
  const ajv = new Ajv2020({ strict: false, validateFormats: false }).compile(plain)
  const struct = await structOf(search)
  for (const value of [{}, { query: 'a' }, { query: 'ab' }, { query: 'ab', where: { inside: { inside: 1 } } }, 7, null])
    t.is(parse(struct, value).ok, ajv(value), JSON.stringify(value))
})

test('foreign-tools-1: names that every object has are asked for like any other', async (t) => {
  for (const name of ['constructor', 'toString', '__proto__']) {
    const schema = { required: [name] }
    t.deepEqual(await issuesOf(schema, {}), [{ path: name, rule: 'is required' }])
    t.deepEqual(await issuesOf(schema, JSON.parse(`{"${name}":1}`)), [])
  }
})

test('foreign-tools-1: of a value with thousands of faults no more are made than are told', async (t) => {
  const struct = await structOf({ properties: { a: { items: { const: 5 } } } })
  const value = { a: Array(20_000).fill(1) }
  const failures = [...struct.validator(value, { branch: [value], path: [] })]
  t.is(failures.length, mostIssues)
})

test('foreign-tools-2: a schema that leads back to itself for the same value is refused, a recursive one is not', async (t) => {
  const rule = 'must not lead back to itself for the same value'
  const circle = { $defs: { x: { $ref: '#/$defs/y' }, y: { allOf: [{ $ref: '#/$defs/x' }] } } }
  t.deepEqual(await refusal(circle), { path: '$defs.x.$ref', rule })
  t.deepEqual(await refusal({ $ref: '#' }), { path: '$ref', rule })
  const list = { $ref: '#/$defs/x', $defs: { x: { properties: { next: { $ref: '#/$defs/x' } } } } }
  t.deepEqual(await issuesOf(list, { next: { next: {} } }), [])
})

test('foreign-tools-3: a value that is too deep for a sound schema is told so', async (t) => {
  const list = { properties: { next: { $ref: '#' } } }
  let deep: object = {}
  for (let at = 0; at < 100_000; at += 1) deep = { next: deep }
  t.deepEqual(await issuesOf(list, deep), [{ path: '', rule: 'is nested too deep to check' }])
})

test('foreign-tools-2: a reference that leads back to itself by way of a choice is refused', async (t) => {
  const rule = 'must not lead back to itself for the same value'
  const back = { $ref: '#/properties/x' }
  for (const x of [back, { anyOf: [{ type: 'string' }, back] }, { oneOf: [back] }, { not: back }, { if: back }])
    t.is((await refusal({ properties: { x } })).rule, rule, JSON.stringify(x))
  const tree = { properties: { x: { anyOf: [{ type: 'string' }, { type: 'array', items: back }] } } }
  t.deepEqual(await issuesOf(tree, { x: [['a']] }), [])
})
