import { codesOf, type Facts, type Operation } from '../gather.js'
import { anchor, code, fieldTable, json, page, table, typeText } from '../markdown.js'

const access: Readonly<Record<string, string>> = {
  public: 'anyone',
  read: 'read-only token',
  admin: 'admin token',
  ingress: 'its own check',
}
const durability: Readonly<Record<string, string>> = {
  A: 'on disk before the answer',
  B: 'on disk within a second',
  C: 'can be made again',
}

const bodyOf = ({ operation }: Operation): string[] => {
  const { requestBody } = operation
  if (requestBody === undefined) return []
  const [type = '', { schema, example }] = Object.entries<any>(requestBody.content)[0] ?? ['', {}]
  if (type !== 'application/json') return [`Body: the bytes themselves, at most ${operation['x-body-limit-bytes']}.`]
  const fields = fieldTable(schema)
  return [
    `Body${requestBody.required === true ? '' : ' (may be left out)'}, at most ` +
      `${operation['x-body-limit-bytes']} ` +
      `bytes${fields === '' ? `: ${schema.properties === undefined ? typeText(schema) : 'an empty object'}` : ''}.`,
    fields,
    ...(example === undefined ? [] : [json(example)]),
  ]
}

const replyOf = ({ operation }: Operation): string[] => {
  const [status = '', reply] = Object.entries<any>(operation['responses']).find(([each]) => each.startsWith('2')) ?? []
  const [type = '', { schema = {}, example = undefined } = {}] = Object.entries<any>(reply.content)[0] ?? []
  if (type !== 'application/json')
    return [
      `Answers ${status} with ${type === '*/*' ? 'the bytes' : code(type)}.${type === 'text/event-stream' ? ' See [events](events.md).' : ''}`,
    ]
  const fields = fieldTable(schema)
  return [
    `Answers ${status} with ${fields === '' || schema.type !== 'object' ? typeText(schema) : 'an object'}.`,
    fields,
    ...(example === undefined ? [] : [json(example)]),
  ]
}

const problemsOf = ({ operation }: Operation, shared: ReadonlySet<string>): string => {
  const own = Object.values<any>(operation['responses'])
    .flatMap(codesOf)
    .filter((each) => !shared.has(each))
  return own.length === 0
    ? ''
    : `Problems of its own: ${own.map((each) => `[${code(each)}](errors.md#${anchor(each)})`).join(', ')}.`
}

const parameters = ({ operation }: Operation): string =>
  table(
    ['parameter', 'in', 'type', '', 'meaning'],
    (operation['parameters'] ?? []).map(({ name, in: where, schema, required, description }: any) => [
      code(name),
      where,
      typeText(schema),
      required === true ? 'required' : '',
      String(description ?? schema.description ?? ''),
    ]),
  )

const routeOf = (operation: Operation, shared: ReadonlySet<string>): string[] => {
  const {
    method,
    path,
    id,
    operation: { summary, 'x-access': who, 'x-durability': when },
  } = operation
  const facts = [
    `Id ${code(id)}`,
    `open to: ${access[who]}`,
    ...(when === undefined ? [] : [`what it changes is ${durability[when]}`]),
  ]
  return [
    `### ${method} ${path}`,
    summary,
    `${facts.join('; ')}.`,
    parameters(operation),
    ...bodyOf(operation),
    ...replyOf(operation),
    problemsOf(operation, shared),
  ]
}

export const routesPage = ({ operations, shared }: Facts): string => {
  const common = new Set(shared)
  const ordered = operations.toSorted((a, b) => (`${a.path} ${a.method}` < `${b.path} ${b.method}` ? -1 : 1))
  return page(
    '# Routes',
    'Every route of the daemon, as in its OpenAPI document at `/v1/openapi.json`. Bodies are JSON; fields that ' +
      'are not listed are refused, and null for a field that is not required says the same as leaving it out. The admin ' +
      'token opens every route.',
    table(
      ['route', 'what it does'],
      ordered.map(({ method, path, operation }) => [
        `[${method} ${path}](#${anchor(`${method} ${path}`)})`,
        operation['summary'],
      ]),
    ),
    `Any route may answer with these problems: ${shared
      .toSorted()
      .map((each) => `[${code(each)}](errors.md#${anchor(each)})`)
      .join(', ')}.`,
    ...ordered.map((operation) => routeOf(operation, common)),
  )
}

export const schemasPage = ({ schemas }: Facts): string =>
  page(
    '# Schemas',
    'Shapes with a name of their own, as in the OpenAPI document.',
    ...Object.entries(schemas)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, schema]) => {
        const fields = fieldTable(schema)
        return [
          `### ${name}`,
          String(schema['description'] ?? ''),
          fields === '' || schema['type'] !== 'object' ? `${typeText(schema)}.` : '',
          fields,
        ]
      }),
  )
