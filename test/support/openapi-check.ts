/**
 * Is an answer described by the daemon's own OpenAPI document? Every answer
 * that a test receives goes through here.
 */
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { fault } from '../../core/base/assert.js'
import type { JsonObject } from '../../core/base/schema.js'

/** An answer as it came. `body` is parsed where the content type is JSON. */
export interface Seen {
  readonly method: string
  /** With or without a query. */
  readonly path: string
  readonly status: number
  readonly contentType: string | undefined
  readonly body: unknown
}

export interface OpenapiCheck {
  /** What is wrong with the answer; undefined if it is described. */
  find(seen: Seen): string | undefined
  /** Throws if the answer is not described. */
  assert(seen: Seen): void
}

type Tree = { readonly [key: string]: any }

const literals = (template: string): number => template.split('/').filter((segment) => !segment.startsWith('{')).length
const matches = (wanted: readonly string[], got: readonly string[]): boolean =>
  wanted.length === got.length &&
  wanted.every((segment, index) => segment === got[index] || (segment.startsWith('{') && got[index] !== ''))

/** Routes that match nothing answer with one of these. */
const withoutRoute = new Map([
  [404, 'route_not_found'],
  [405, 'method_not_allowed'],
])

const problemFault = ({ status, contentType, body }: Seen): string | undefined => {
  if (contentType !== 'application/problem+json')
    return `a ${status} must be application/problem+json, not ${contentType}`
  const { type, code, status: named, title, detail }: Tree = typeof body === 'object' && body !== null ? body : {}
  if (named !== status) return `the problem names status ${named}`
  if (type !== `urn:service:problem:${code}`) return `the problem has type ${type} for code ${code}`
  return typeof title === 'string' && typeof detail === 'string' ? undefined : 'the problem has no title or detail'
}

/** JSON Schemas of a document's answers, as functions. */
export interface Validators {
  of(schema: object): ValidateFunction
}

export const textOf = ({ errors }: ValidateFunction): string =>
  (errors ?? []).map(({ instancePath, message }) => `body${instancePath} ${message}`).join(', ')

export const createCheck = (document: JsonObject, validators: Validators): OpenapiCheck => {
  const { paths, components }: Tree = document
  const templates = Object.keys(paths)
    .sort((a, b) => literals(b) - literals(a))
    .map((template) => ({ template, segments: template.split('/') }))
  const operationOf = (method: string, path: string): Tree | undefined => {
    const name = (method === 'HEAD' ? 'GET' : method).toLowerCase()
    const got = path.split('/')
    const found = templates.find(
      ({ template, segments }) => matches(segments, got) && paths[template][name] !== undefined,
    )
    return found === undefined ? undefined : paths[found.template][name]
  }
  const resolve = (response: Tree): Tree =>
    typeof response['$ref'] === 'string' ? components.responses[response['$ref'].split('/').at(-1) ?? ''] : response

  const contentFault = (response: Tree, seen: Seen): string | undefined => {
    const type = seen.contentType?.split(';', 1)[0]?.trim() ?? ''
    const content: Tree | undefined = response['content']?.[type]
    if (content === undefined) return `content type ${type || 'none'} is not described for ${seen.status}`
    if (!type.endsWith('json') || seen.method === 'HEAD') return undefined
    const validate = validators.of(content['schema'])
    return validate(seen.body) ? undefined : textOf(validate)
  }
  const find = (seen: Seen): string | undefined => {
    if (seen.method === 'OPTIONS' && seen.status === 204) return undefined
    const problem = seen.status >= 400 && seen.method !== 'HEAD' ? problemFault(seen) : undefined
    if (problem !== undefined) return problem
    const operation = operationOf(seen.method, seen.path.split('?', 1)[0] ?? '')
    if (operation !== undefined) {
      const response: Tree | undefined = operation['responses'][String(seen.status)]
      return response === undefined ? `status ${seen.status} is not described` : contentFault(resolve(response), seen)
    }
    const common: Tree | undefined = components.responses[`Problem${seen.status}`]
    if (common !== undefined) return contentFault(common, seen)
    const { code }: Tree = typeof seen.body === 'object' && seen.body !== null ? seen.body : {}
    return withoutRoute.get(seen.status) === code
      ? undefined
      : `no route is described, yet the answer is ${seen.status} ${code}`
  }
  return {
    find,
    assert: (seen) => {
      const wrong = find(seen)
      if (wrong !== undefined)
        throw fault(
          `${seen.method} ${seen.path} answered ${seen.status}, which its OpenAPI document does not describe: ` +
            `${wrong}\n${JSON.stringify(seen.body)?.slice(0, 600)}`,
        )
    },
  }
}
