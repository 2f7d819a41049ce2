/** The OpenAPI document of a running daemon, read as a client would. */
import test from 'ava'
import { Validator } from '@seriousme/openapi-schema-validator'
import { startTestDaemon } from '../support/daemon.js'
import { textOf } from '../support/openapi-check.js'
import { createValidators } from '../support/validators.js'
import { operationsOf } from './client.js'

const documentOf = async (t: any): Promise<any> =>
  (await (await startTestDaemon(t)).request('GET', '/v1/openapi.json')).body

test('http-1: the document of a running daemon is valid OpenAPI 3.1, and every $ref in it leads somewhere', async (t) => {
  const document = await documentOf(t)
  const { valid, errors } = await new Validator().validate(structuredClone(document))
  t.true(valid, JSON.stringify(errors))
  const refs = new Set([...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/gu)].map(([, ref]) => ref ?? ''))
  t.true(refs.size > 0)
  for (const ref of refs)
    t.not(
      ref
        .slice(2)
        .split('/')
        .reduce((node, key) => node?.[key], document),
      undefined,
      ref,
    )
})

test('every example in the document is what its schema says', async (t) => {
  const document = await documentOf(t)
  const { of } = createValidators(document.components)
  let examples = 0
  const check = (where: string, { schema, example, examples: many = {} }: any): void => {
    const values = [...(example === undefined ? [] : [example]), ...Object.values<any>(many).map(({ value }) => value)]
    const validate = of(schema)
    for (const value of values) {
      examples += 1
      t.true(validate(value), `${where}: ${textOf(validate)} in ${JSON.stringify(value)}`)
    }
  }
  const checkContent = (where: string, { content = {} }: any): void => {
    for (const media of Object.values<any>(content)) if (media.schema !== undefined) check(where, media)
  }
  for (const { id, template, method, parameters, responses } of operationsOf(document)) {
    const { requestBody } = document.paths[template][method.toLowerCase()]
    if (requestBody !== undefined) checkContent(`body of ${id}`, requestBody)
    for (const parameter of parameters) check(`parameter ${parameter.name} of ${id}`, parameter)
    for (const [status, response] of Object.entries<any>(responses)) checkContent(`${status} of ${id}`, response)
  }
  for (const [name, response] of Object.entries<any>(document.components.responses)) checkContent(name, response)
  t.true(examples > 50, `${examples} examples`)
})

test('a route that changes something says what an acknowledged change survives, and a problem has one status', async (t) => {
  const document = await documentOf(t)
  const statuses = new Map<string, string>()
  for (const { id, template, method, responses } of operationsOf(document)) {
    const operation = document.paths[template][method.toLowerCase()]
    t.truthy(operation.summary, id)
    if (method !== 'GET' && !id.startsWith('permissions.')) t.truthy(operation['x-durability'], id)
    for (const [status, response] of Object.entries<any>(responses)) {
      for (const code of Object.keys(response.content?.['application/problem+json']?.examples ?? {})) {
        t.is(statuses.get(code) ?? status, status, `${code} in ${id}`)
        statuses.set(code, status)
      }
    }
  }
})
