/**
 * Structs made from a JSON Schema that somebody else wrote, such as that of the input of a foreign tool. The schema is
 * bounded first; what is checked by it is checked within a time.
 */
import * as ss from 'superstruct'
import type { ErrorObject, Options, ValidateFunction } from 'ajv'
import { mostIssues, type Issue, type Parsed } from '../parse.js'
import type { JsonSchema } from '../json-schema.js'
import { jsonObject, note, rule, type JsonObject, type StructOf } from '../schema.js'
import { markRuled } from '../struct-notes.js'
import { boundSchema } from './bounded-schema.js'
import { patternOf } from './plain-keywords.js'
import { schemaIssue } from './schema-issue.js'
import { timeBound } from './time-bound.js'

/** Milliseconds that one check may take, and the making of one. */
const checkMs = 250
const makeMs = 1_000

type Check = (value: unknown) => readonly Issue[]
interface Compiler {
  compile(schema: JsonSchema): ValidateFunction
  removeSchema(schema: JsonSchema): unknown
}
interface Compilers {
  readonly now: Compiler
  readonly before: Compiler
}

const options: Options = {
  strict: false,
  validateSchema: false,
  meta: false,
  validateFormats: false,
  allErrors: true,
  ownProperties: true,
  inlineRefs: false,
  logger: false,
  code: { optimize: false, regExp: Object.assign(patternOf, { code: 'RegExp' }) },
}

let loaded: Promise<Compilers> | undefined
/** Loaded when the first foreign schema comes: a start does not wait for it. */
const loadCompilers = (): Promise<Compilers> =>
  (loaded ??= Promise.all([import('ajv/dist/2020.js'), import('ajv')]).then(([{ Ajv2020 }, { Ajv }]) => ({
    now: new Ajv2020(options),
    before: new Ajv(options),
  })))

/** Earlier drafts write lists of known lengths in another way. */
const isOfEarlierDraft = (value: unknown, schema: JsonSchema): boolean => {
  const named: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, '$schema') : undefined
  if (typeof named === 'string') return /draft-0[3-7]/u.test(named)
  return /"items":\[/u.test(JSON.stringify(schema))
}

/** The compiler's own memory of the schema goes at once: lists of tools change for years. */
const compiled = (compiler: Compiler, schema: JsonSchema): ValidateFunction | undefined => {
  try {
    return timeBound(makeMs, () => compiler.compile(schema))
  } catch {
    return undefined
  } finally {
    compiler.removeSchema(schema)
  }
}

const tooLong: Issue = { path: '', rule: 'takes too long to check' }
const tooDeep: Issue = { path: '', rule: 'is nested too deep to check' }
const uncheckable: Issue = { path: '', rule: 'cannot be checked: the schema of the input is broken' }

const errorsOf = (validate: ValidateFunction, value: unknown): readonly ErrorObject[] | undefined =>
  timeBound(checkMs, () => (validate(value) === true ? [] : (validate.errors ?? []).slice(0, mostIssues)))

/** Made when it is first used: of hundreds of tools a run uses few. */
const createCheck = (compiler: Compiler, schema: JsonSchema): Check => {
  let validate: ValidateFunction | undefined
  let isBroken = false
  return (value) => {
    if (validate === undefined && !isBroken) {
      validate = compiled(compiler, schema)
      isBroken = validate === undefined
    }
    if (validate === undefined) return [uncheckable]
    try {
      return errorsOf(validate, value)?.map(schemaIssue) ?? [tooLong]
    } catch {
      return [tooDeep]
    }
  }
}

const structOf = (schema: JsonSchema, check: Check): StructOf<JsonObject> => {
  const make = (): StructOf<JsonObject> =>
    new ss.Struct<JsonObject, null>({
      type: 'foreign',
      schema: null,
      validator: (value, { path }) =>
        check(value).map((issue) => ({
          path: [...path, ...(issue.path === '' ? [] : issue.path.split('.'))],
          refinement: 'foreign',
          message: issue.rule,
        })),
    })
  return markRuled(note(make, () => schema))
}

const faultOf = (schema: JsonObject): string | undefined => {
  const bounded = boundSchema(schema)
  if (bounded.ok) return undefined
  const { path, rule: broken } = bounded.issue
  return `must be a JSON Schema of an object that can be checked by: ${path === '' ? 'it' : path} ${broken}`
}

/** A JSON Schema that `fromJsonSchema` takes. */
export const foreignSchema = (): StructOf<JsonObject> =>
  rule(jsonObject(), 'A JSON Schema of an object.', (schema) => faultOf(schema) ?? true)

/**
 * A struct of objects that fit a JSON Schema (drafts 4 to 7, 2020-12) that somebody else wrote; or what is wrong with
 * the schema: it is too large or too deep, refers to something outside of itself, or holds what is no schema. Its
 * `format` and `default` are shown and do nothing; keywords that are not known are left out.
 */
export const fromJsonSchema = async (value: unknown): Promise<Parsed<StructOf<JsonObject>>> => {
  const bounded = boundSchema(value)
  if (!bounded.ok) return { ok: false, issues: [bounded.issue] }
  const { now, before } = await loadCompilers()
  const compiler = isOfEarlierDraft(value, bounded.schema) ? before : now
  return { ok: true, value: structOf(bounded.schema, createCheck(compiler, bounded.schema)) }
}
