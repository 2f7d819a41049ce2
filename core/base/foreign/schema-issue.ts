/** What the checker of JSON Schemas says, in the form and the words of our own issues: never with the value. */
import type { ErrorObject } from 'ajv'
import type { Issue } from '../parse.js'
import { unknownField } from '../issue-rule.js'
import { wellFormedJson } from '../text/well-formed.js'

type Params = Readonly<Record<string, unknown>>

/** Longest list of allowed values that a rule tells. */
const shownValues = 500

const told = (values: unknown): string =>
  wellFormedJson(
    [values]
      .flat()
      .map((value) => JSON.stringify(value))
      .join(', ')
      .slice(0, shownValues),
  )

const kindOf = ({ type }: Params): string => {
  const kinds = [type].flat().map((kind) => (/^[aeiou]/u.test(String(kind)) ? `an ${kind}` : `a ${kind}`))
  return `must be ${kinds.join(' or ')}`
}
const limited =
  (most: string, least: string, what = '') =>
  ({ limit, comparison }: Params): string =>
    `must ${comparison === '<=' || comparison === '<' ? most : least} ${limit}${what}`

/** Rules by keyword; what is not here is said in the words of the checker. */
const rules: Readonly<Record<string, (params: Params) => string>> = {
  type: kindOf,
  required: () => 'is required',
  additionalProperties: () => unknownField,
  unevaluatedProperties: () => unknownField,
  enum: ({ allowedValues }) => `must be one of ${told(allowedValues)}`,
  const: ({ allowedValue }) => `must be ${told(allowedValue)}`,
  minLength: ({ limit }) => `must have at least ${limit} characters`,
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  minItems: ({ limit }) => `must have at least ${limit} items`,
  maxItems: ({ limit }) => `must have at most ${limit} items`,
  minimum: limited('be at most', 'be at least'),
  maximum: limited('be at most', 'be at least'),
  pattern: ({ pattern }) => `must match ${told(pattern)}`,
  anyOf: () => 'must be of one of the allowed forms',
  oneOf: () => 'must be of one of the allowed forms',
}

/** The member that an error is about, where it is told of the object around it. */
const memberOf = ({ missingProperty, additionalProperty, unevaluatedProperty, propertyName }: Params): string[] =>
  [missingProperty ?? additionalProperty ?? unevaluatedProperty ?? propertyName].filter(
    (name) => typeof name === 'string',
  )

export const schemaIssue = ({ instancePath, keyword, params, message = 'does not fit' }: ErrorObject): Issue => {
  const steps = instancePath.split('/').slice(1)
  const known = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  return {
    path: [...known, ...memberOf(params)].join('.'),
    rule: rules[keyword]?.(params) ?? message.replace('must NOT', 'must not'),
  }
}
