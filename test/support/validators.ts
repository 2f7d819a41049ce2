/**
 * Compiles the schemas of an OpenAPI document. That takes half a second of each test file that asks a daemon, so the
 * code for the usual document is kept with the bundle.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'
import type { JsonObject } from '../../core/base/schema.js'
import { createCheck, type OpenapiCheck, type Validators } from './openapi-check.js'

type Tree = { readonly [key: string]: any }

const inComponents = '#/components/schemas/'
const address = 'https://openapi/'
/** Components are schemas of their own, so that each is compiled once, whatever refers to it. */
const readdress = (schema: object): object => JSON.parse(JSON.stringify(schema).replaceAll(inComponents, address))

const createAjv = (components: Tree, source: boolean): Ajv2020 => {
  // Whether the schemas are schemas is asked of the document in a test of its own; most are used a few times.
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    validateFormats: false,
    validateSchema: false,
    meta: false,
    inlineRefs: false,
    code: { optimize: false, source },
  })
  for (const [name, schema] of Object.entries<object>(components['schemas']))
    ajv.addSchema(readdress(schema), address + name)
  return ajv
}

/** Compiles schemas that refer to the components of a document. */
export const createValidators = (components: Tree): Validators => {
  const ajv = createAjv(components, false)
  const compiled = new Map<object, ValidateFunction>()
  const of = (schema: object): ValidateFunction => {
    const known = compiled.get(schema) ?? ajv.compile(readdress(schema))
    compiled.set(schema, known)
    return known
  }
  return { of }
}

const known = new Map<string, OpenapiCheck>()

/** Daemons of one test file mostly have the same document: what was compiled for one serves all. */
export const createOpenapiCheck = (document: JsonObject): OpenapiCheck => {
  const text = JSON.stringify(document)
  const { components }: Tree = document
  const check = known.get(text) ?? createCheck(document, createValidators(components))
  known.set(text, check)
  return check
}

/** A module with a function for the schema of each answer of a document, by the text of the schema. */
export const codeOfAnswers = ({ paths, components }: Tree): string => {
  const ajv = createAjv(components, true)
  const responses = [
    ...Object.values<Tree>(paths).flatMap((methods) =>
      Object.values<Tree>(methods).flatMap((operation) => Object.values<Tree>(operation['responses'])),
    ),
    ...Object.values<Tree>(components['responses']),
  ]
  const texts = new Set(
    responses
      .flatMap(({ content = {} }) => Object.entries<Tree>(content))
      .flatMap(([type, { schema }]) => (type.endsWith('json') ? JSON.stringify(schema) : [])),
  )
  const names: Record<string, string> = {}
  const exported = [...texts].map((text, number) => {
    names[`v${number}`] = `${address}answer/${number}`
    ajv.addSchema(readdress(JSON.parse(text)), names[`v${number}`])
    return `[${JSON.stringify(text)}, exports.v${number}]`
  })
  return `${standalone.default(ajv, names)}\nmodule.exports = new Map([${exported.join(',\n')}])\n`
}
