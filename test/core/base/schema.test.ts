import test from 'ava'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { Struct, type Failure, validate } from 'superstruct'
import { walk } from '../../../core/base/schema-walk.js'
import { parse, quickCheck } from '../../../core/base/parse.js'
import * as s from '../../../core/base/schema.js'
import type { AnyStruct } from '../../../core/base/schema.js'
import { SubmitInputRequest } from '../../../plugins/execution/runs/contract.js'
import { compareStruct, valuesNear } from '../../support/schema-check.js'

interface Tree {
  label: string
  children: Tree[]
}
const tree: s.Struct<Tree, any> = s.lazy('Tree', () =>
  s.object({ label: s.string({ max: 3 }), children: s.array(tree) }),
)

/** One of every constructor, and of every option that has a JSON Schema. */
const structs: Record<string, AnyStruct> = {
  string: s.string(),
  shortString: s.string({ min: 1, max: 3 }),
  pattern: s.string({ pattern: '^[a-c]+$' }),
  number: s.number(),
  range: s.number({ min: -1.5, max: 2.5 }),
  integer: s.integer(),
  smallInteger: s.integer({ min: 0, max: 3 }),
  timestamp: s.timestamp(),
  boolean: s.boolean(),
  json: s.json(),
  literal: s.literal('on'),
  literalNumber: s.literal(7),
  literalBoolean: s.literal(false),
  enums: s.enums(['a', 'b']),
  array: s.array(s.integer()),
  bounded: s.array(s.string(), { min: 1, max: 2 }),
  record: s.record(s.boolean()),
  jsonObject: s.jsonObject(),
  object: s.object({ a: s.integer(), b: s.optional(s.string()) }),
  empty: s.object({}),
  open: s.open({ a: s.integer(), b: s.optional(s.string()) }),
  optional: s.object({ o: s.optional(s.array(s.integer())) }),
  defaulted: s.object({ d: s.defaulted(s.integer(), 4) }),
  nullable: s.nullable(s.string()),
  nullableObject: s.nullable(s.object({ a: s.boolean() })),
  doc: s.doc(s.string(), 'Words.'),
  docOptional: s.object({ d: s.doc(s.optional(s.string()), 'Words.') }),
  optionalDoc: s.object({ d: s.optional(s.doc(s.string(), 'Words.')) }),
  defaultedObject: s.object({
    d: s.defaulted(s.tagged('type', { a: s.object({ type: s.literal('a') }), b: s.object({ type: s.literal('b') }) }), {
      type: 'a' as const,
    }),
  }),
  tagged: s.tagged('type', {
    text: s.object({ type: s.literal('text'), text: s.string() }),
    number: s.object({ type: s.literal('number'), n: s.integer() }),
  }),
  taggedOpen: s.tagged('type', {
    a: s.open({ type: s.literal('a') }),
    b: s.open({ type: s.literal('b'), x: s.boolean() }),
  }),
  taggedInside: s.object({
    list: s.array(s.doc(s.tagged('type', { a: s.open({ type: s.literal('a'), x: s.boolean() }) }), 'One of them.')),
  }),
  having: s.having('type', s.tagged('type', { a: s.object({ type: s.literal('a') }) }), s.object({ name: s.string() })),
  havingNamed: s.having(
    'type',
    s.tagged('type', { a: s.object({ type: s.literal('a') }), b: s.object({ type: s.literal('b') }) }),
    s.named('Handle', s.object({ name: s.string() })),
  ),
  union: s.union(s.string(), s.array(s.string())),
  exact: s.union(s.object({ a: s.integer() }), s.object({ a: s.optional(s.integer()), b: s.boolean() })),
  filled: s.union(s.object({ a: s.defaulted(s.integer(), 4) }), s.object({ b: s.optional(s.integer()) })),
  listOfNamed: s.object({ list: s.array(s.named('Item', s.object({ a: s.integer() }))) }),
  named: s.named('Name', s.object({ a: s.integer() })),
  inNamed: s.object({ n: s.named('Inner', s.enums(['x', 'y'])) }),
  lazy: tree,
  deep: s.object({ list: s.array(s.nullable(s.record(s.object({ t: s.optional(tree) })))) }),
}

test('a struct and its JSON Schema agree on every value', (t) => {
  const seed = Number(process.env['HOLDFAST_SEED'] ?? fc.sample(fc.integer({ min: 0 }), 1)[0])
  t.log(`seed ${seed}`)
  let accepted = 0
  for (const [name, struct] of Object.entries(structs)) {
    const found = compareStruct(struct, { seed, runs: 400 })
    t.is(found.disagreement, undefined, `${name}: ${found.disagreement}`)
    t.true(found.accepted > 0, `${name} accepted nothing`)
    accepted += found.accepted
  }
  t.log(`${Object.keys(structs).length} structs, ${accepted} values accepted`)
})

test('a quick yes is only given to what the struct gives back as it is', (t) => {
  const seed = fc.sample(fc.integer({ min: 0 }), 1)[0] ?? 0
  t.log(`seed ${seed}`)
  let quick = 0
  const wanted = new Set(
    'tagged taggedOpen taggedInside having havingNamed exact named inNamed lazy listOfNamed'.split(' '),
  )
  for (const [name, struct] of Object.entries(structs)) {
    const fits = quickCheck(struct)
    if (wanted.has(name)) t.true(fc.sample(valuesNear(struct), { numRuns: 200, seed }).some(fits), `${name} is known`)
    for (const value of fc.sample(valuesNear(struct), { numRuns: 200, seed }).filter(fits)) {
      t.deepEqual(validate(value, struct, { coerce: true }), [undefined, value], `${name}: ${JSON.stringify(value)}`)
      quick += 1
    }
  }
  t.true(quick > 1000, String(quick))
})

test('a rule of one field asks for a walk only where that field is there', (t) => {
  const even = s.rule(s.integer(), 'must be even', (n) => n % 2 === 0)
  const inField = s.object({ text: s.string(), even: s.optional(even), deep: s.optional(s.object({ even })) })
  const whole = s.rule(s.object({ a: s.integer(), b: s.integer() }), 'must rise', ({ a, b }) => a < b)
  t.true(quickCheck(inField)({ text: 'x' }))
  for (const value of [{ text: 'x', even: 3 }, { text: 'x', deep: { even: 3 } }, { text: 3 }, { text: 'x', more: 1 }])
    t.false(quickCheck(inField)(value), JSON.stringify(value))
  t.true(quickCheck(s.object({ text: s.string(), deep: s.optional(s.array(even)) }))({ text: 'x' }))
  for (const struct of [whole, s.doc(whole, 'Two.'), s.named('Rising', whole), s.object({ whole }), s.record(even)])
    t.false(quickCheck(struct)({ a: 3, b: 1 }) || quickCheck(struct)({ whole: { a: 2, b: 1 } }))
  t.true(quickCheck(SubmitInputRequest)({ content: 'Hello' }), 'a plain submission')
})

test('values near a schema hit both sides of its limits', (t) => {
  const values = fc.sample(valuesNear(s.integer({ min: 0, max: 3 })), { numRuns: 300, seed: 1 })
  for (const edge of [-1, 0, 3, 4]) t.true(values.includes(edge), String(edge))
})

test('the comparison notices a struct whose schema says something else', (t) => {
  const lying = s.doc(s.string(), 'Claims to be short.', { maxLength: 1 })
  t.regex(String(compareStruct(lying, { seed: 1, runs: 300 }).disagreement), /struct accepts/u)
})

test('defaults are filled in, also inside lists and unions', (t) => {
  const inner = s.object({ n: s.defaulted(s.integer(), 5) })
  t.deepEqual(parse(s.object({ list: s.array(inner), more: s.defaulted(inner, { n: 1 }) }), { list: [{}, { n: 2 }] }), {
    ok: true,
    value: { list: [{ n: 5 }, { n: 2 }], more: { n: 1 } },
  })
  t.deepEqual(
    parse(
      s.tagged('k', {
        a: s.object({ k: s.literal('a'), n: s.defaulted(s.integer(), 5) }),
        b: s.object({ k: s.literal('b') }),
      }),
      { k: 'a' },
    ),
    { ok: true, value: { k: 'a', n: 5 } },
  )
  t.deepEqual(parse(s.record(inner), { x: {} }), { ok: true, value: { x: { n: 5 } } })
  t.deepEqual(parse(s.nullable(inner), {}), { ok: true, value: { n: 5 } })
  t.deepEqual(parse(s.named('D', inner), {}), { ok: true, value: { n: 5 } })
})

test('null for a field that may be left out is its absence, unless the field has a null of its own', (t) => {
  const struct = s.object({
    word: s.optional(s.doc(s.string(), 'A word.')),
    list: s.optional(s.array(s.object({ deep: s.optional(s.integer()) }))),
    count: s.defaulted(s.integer(), 5),
    cleared: s.optional(s.nullable(s.string())),
    any: s.optional(s.json()),
    tree: s.optional(tree),
  })
  const given = { word: null, list: [{ deep: null }], count: null, cleared: null, any: null, tree: null }
  t.deepEqual(parse(struct, given), { ok: true, value: { list: [{}], count: 5, cleared: null, any: null } })
  t.is(given.word, null)
  t.deepEqual(parse(s.open({ word: s.optional(s.string()) }), { word: null, other: null }), {
    ok: true,
    value: { other: null },
  })
  t.false(parse(s.object({ word: s.string() }), { word: null }).ok)
  const some = s.rule(s.object({ word: s.optional(s.string()) }), 'is empty', (value) => Object.keys(value).length > 0)
  t.false(parse(some, { word: null }).ok)
})

test('a schema for those who know no components has no references, and ends where it stands within itself', (t) => {
  const leaf = s.named('Leaf', s.object({ word: s.string() }))
  const schema = s.wholeSchema(s.object({ leaf: s.optional(s.doc(leaf, 'A leaf.')), tree }))
  t.notRegex(JSON.stringify(schema), /\$ref/u)
  t.like(schema['properties'], { leaf: { type: 'object', description: 'A leaf.', required: ['word'] } })
})

test('what is shown by a sentence is checked as it is', (t) => {
  const struct = s.object({ leaf: s.optional(s.brief(s.named('Lone', s.object({ word: s.string() })), 'A leaf.')) })
  t.deepEqual(s.wholeSchema(struct)['properties'], { leaf: { type: 'object', description: 'A leaf.' } })
  t.true(parse(struct, { leaf: { word: 'a' } }).ok)
  for (const leaf of [{ word: 1 }, {}, { word: 'a', more: 1 }, 'a']) t.false(parse(struct, { leaf }).ok)
})

test('the schema of input lets such a field be null, the schema of an answer does not', (t) => {
  const struct = s.object({
    word: s.optional(s.string()),
    kind: s.optional(s.doc(s.enums(['a', 'b']), 'A kind.')),
    tree: s.optional(tree),
    needed: s.integer(),
  })
  const takes = (schema: object): boolean =>
    new Ajv2020({ strict: false })
      .addSchema({ $id: 'https://x/', components: { schemas: { Tree: s.inlineSchema(tree) }, all: schema } })
      .getSchema('https://x/#/components/all')?.({ word: null, kind: null, tree: null, needed: 1 }) === true
  t.true(takes(s.inputSchema(struct)))
  t.false(takes(s.inlineSchema(struct)))
  t.like(s.inputSchema(struct)['properties'], {
    word: { type: ['string', 'null'] },
    kind: { description: 'A kind.', anyOf: [{ enum: ['a', 'b'] }, { type: 'null' }] },
    needed: s.jsonSchema(s.integer()),
  })
})

test('input is not changed, and a default is not shared between values', (t) => {
  const struct = s.object({
    list: s.defaulted(s.array(s.string()), []),
    seen: s.defaulted(s.object({ n: s.defaulted(s.integer(), 1) }), { n: 1 }),
  })
  const input = {}
  const [one, two] = [parse(struct, input), parse(struct, input)]
  t.deepEqual(input, {})
  if (!one.ok || !two.ok) return t.fail()
  one.value.list.push('x')
  t.deepEqual(two.value.list, [])
  t.deepEqual(parse(struct, {}), { ok: true, value: { list: [], seen: { n: 1 } } })
})

test('issues name the path and the rule, never the value', (t) => {
  const struct = s.object({
    a: s.object({ b: s.array(s.integer({ max: 5 })) }),
    k: s.enums(['x', 'y']),
    l: s.optional(s.literal('on')),
    u: s.optional(s.union(s.string(), s.integer())),
    r: s.optional(s.open({})),
    p: s.optional(s.string({ pattern: '^a$' })),
  })
  const rows: [unknown, string, RegExp][] = [
    [{ k: 'x' }, 'a', /required/u],
    [{ a: { b: [1, 9] }, k: 'x' }, 'a.b.1', /at most 5/u],
    [{ a: { b: ['secret'] }, k: 'x' }, 'a.b.0', /integer/u],
    [{ a: { b: [] }, k: 'secret' }, 'k', /^must be one of "x", "y"$/u],
    [{ a: { b: [] }, k: 'x', secret: 1 }, 'secret', /not a known/u],
    [{ a: { b: [] }, k: 'x', p: 'secret' }, 'p', /must match/u],
    [{ a: { b: [] }, k: 'x', l: 'secret' }, 'l', /^must be "on"$/u],
    [{ a: { b: [] }, k: 'x', u: ['secret'] }, 'u', /allowed forms/u],
    [{ a: { b: [] }, k: 'x', r: 'secret' }, 'r', /an object/u],
    ['secret', '', /object/u],
    [null, '', /object/u],
    [[], '', /object/u],
  ]
  for (const [value, path, rule] of rows) {
    const parsed = parse(struct, value)
    if (parsed.ok) return t.fail(JSON.stringify(value))
    t.is(parsed.issues[0]?.path, path)
    t.regex(parsed.issues[0]?.rule ?? '', rule)
    t.false(parsed.issues.some((issue) => issue.rule.includes('secret')))
  }
})

test('issues and values are those that superstruct finds', (t) => {
  const seed = fc.sample(fc.integer({ min: 0 }), 1)[0] ?? 0
  t.log(`seed ${seed}`)
  const told = (failures: readonly Failure[]): unknown => failures.map(({ path, type }) => [path, type])
  const orThrown = (check: () => unknown): unknown => {
    try {
      return check()
    } catch (error) {
      return `${error}`
    }
  }
  const unspeakable = 'TypeError: Cannot convert object to primitive value'
  for (const [name, struct] of Object.entries(structs))
    for (const value of fc.sample(valuesNear(struct), { numRuns: 100, seed })) {
      const found = orThrown(() => {
        const walked = walk(struct, value, Infinity)
        return walked.ok ? walked.value : told(walked.failures)
      })
      const wanted = orThrown(() => {
        const [error, made] = validate(value, struct, { coerce: true })
        return error === undefined ? made : told(error.failures())
      })
      // It cannot tell of a value that is no text; the path and the rule are told all the same.
      if (wanted === unspeakable) t.true(Array.isArray(found) && found.length > 0, name)
      else t.deepEqual(found, wanted, name)
    }
})

test('a value that no message can hold is named by its path and its rule', (t) => {
  const [text, on] = [s.optional(s.string()), s.optional(s.enums(['x', 'y']))]
  const either = s.optional(s.union(s.string(), s.array(s.string())))
  const struct = s.object({ a: s.object({ text, on, either }) })
  const throwing = {
    toString() {
      throw 1
    },
  }
  for (const strange of [{ toString: 1 }, Object.create(null), throwing])
    for (const [value, issue] of [
      [{ a: { text: strange } }, { path: 'a.text', rule: 'must be a string' }],
      [{ a: { on: strange } }, { path: 'a.on', rule: 'must be one of "x", "y"' }],
      [{ a: { other: strange } }, { path: 'a.other', rule: 'is not a known field' }],
      [{ a: { either: strange } }, { path: 'a.either', rule: 'must be of one of the allowed forms' }],
    ] as const) {
      const parsed = parse(struct, value)
      t.deepEqual(parsed.ok ? undefined : parsed.issues[0], issue)
    }
})

test('a value with very many faults is looked at no further than the first of them', (t) => {
  let looks = 0
  const wrong = s.rule(s.string(), 'must be another', () => {
    looks += 1
    return false
  })
  const parsed = parse(s.object({ list: s.array(wrong) }), { list: Array.from({ length: 10_000 }, () => 'x') })
  t.deepEqual([parsed.ok ? 0 : parsed.issues.length, looks], [20, 20])
})

test('keys of the prototype are ordinary keys', (t) => {
  const value: unknown = JSON.parse('{"__proto__":{"polluted":true},"constructor":1,"toString":2}')
  t.false(parse(s.object({}), value).ok)
  const kept = parse(s.jsonObject(), value)
  t.true(kept.ok)
  t.is(Reflect.get({}, 'polluted'), undefined)
  t.is(kept.ok && Object.getPrototypeOf(kept.value), Object.prototype)
  t.false(parse(s.tagged('type', { a: s.object({ type: s.literal('a') }) }), { type: 'constructor' }).ok)
})

test('every emitted schema is a strict JSON Schema', (t) => {
  for (const [name, struct] of Object.entries(structs)) {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true })
    const named = [...s.namedSchemas(struct)].map(([reference, schema]) => [reference.split('/').at(-1), schema])
    const components = { schemas: Object.fromEntries(named) }
    ajv.addKeyword('components')
    t.notThrows(() => ajv.compile({ ...s.inlineSchema(struct), components }), name)
    t.notThrows(() => ajv.compile({ ...s.inputSchema(struct), components }), `${name} as input`)
  }
})

test('superstruct makes a struct when it first checks something, once', (t) => {
  let makes = 0
  const inner = s.note(
    () => {
      makes += 1
      return s.string()
    },
    () => ({ type: 'string' }),
  )
  const outer = s.named('Outer', s.object({ a: s.optional(s.doc(inner, 'Inside.')), b: s.nullable(inner) }))
  t.deepEqual(Object.keys(outer.schema), ['a', 'b'], 'its fields are known')
  t.like(s.jsonSchema(outer), { $ref: '#/components/schemas/Outer' })
  t.is(makes, 0)
  for (const b of ['x', null, 'y']) t.true(parse(outer, { b }).ok)
  t.is(walk(outer, { b: 1 }, 9).ok, false)
  t.is(makes, 1)
  t.true(outer.is({ b: null }) && outer instanceof Struct, 'to superstruct it is one of its own')
})

test('a schema is made when it is asked for, once', (t) => {
  let asked = 0
  const inner = s.note(s.string, () => {
    asked += 1
    return { type: 'string' }
  })
  const outer = s.named('Outer', s.object({ inner: s.optional(s.doc(inner, 'Inside.')) }))
  t.is(asked, 0)
  t.like(s.inlineSchema(outer), { properties: { inner: { type: 'string', description: 'Inside.' } } })
  t.is(s.inlineSchema(outer), s.inlineSchema(outer))
  t.is(asked, 1)
})

test('a struct with a name is optional if what it names is', (t) => {
  t.true(s.isOptional(s.named('Perhaps', s.optional(s.string()))))
  t.false(s.isOptional(s.named('Always', s.string())))
})
