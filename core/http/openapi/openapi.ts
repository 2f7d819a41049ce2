/** The API as an OpenAPI 3.1 document, made from the routes (http-1). */
import type { ProblemFactory } from '../../base/errors.js'
import { fault } from '../../base/assert.js'
import {
  inlineSchema,
  partsOf,
  schemaName,
  unsafeCast,
  type AnyStruct,
  type JsonObject,
  type JsonSchema,
} from '../../base/schema.js'
import { createInputSchemas } from './input-schemas.js'
import { describeOperation, tagOf } from './operation.js'
import { sharedProblems, describeProblems, problemSchema } from './operation-problems.js'
import { securitySchemes } from './security.js'
import { describeEvents, eventsOf } from './stream-events.js'
import type { Entry, RouteTable } from '../routes/table.js'

export interface OpenapiOptions {
  readonly table: RouteTable
  readonly version: string
  /** Problems that any route may answer with, such as those of the store. */
  readonly problems: readonly ProblemFactory[]
}

const template = (path: string): string => path.replaceAll(/:([a-z0-9_]+)/gu, '{$1}')

/** Makes the document, again only after the routes have changed. */
export const createOpenapi = (options: OpenapiOptions): (() => JsonObject) => {
  let made: { readonly version: number; readonly document: JsonObject } | undefined
  return () => {
    const { version } = options.table
    if (made?.version !== version) made = { version, document: unsafeCast<JsonObject>(describe(options)) }
    return made.document
  }
}

const describe = ({ table, version, problems }: OpenapiOptions): Record<string, unknown> => {
  const shared = sharedProblems(problems)
  const paths: Record<string, Record<string, unknown>> = {}
  const { inputs, answers } = componentsOf(table)
  const bodies = createInputSchemas(inputs, answers)
  const events = describeEvents(eventsOf(table.list()))
  for (const entry of table.list()) {
    const { method, path } = entry.route
    const methods = (paths[template(path)] ??= {})
    methods[method.toLowerCase()] = describeOperation(entry, { shared, bodies, events })
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Holdfast',
      version,
      description:
        'Durable agent sessions and the runs inside them. Errors are problem documents with a stable `code`. ' +
        'In a request, null for a field that may be left out says the same as leaving it out.',
      contact: { name: 'The operator of this daemon' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: tagsOf(table.list()),
    paths,
    components: {
      schemas: { Problem: problemSchema, ...sorted({ ...bodies.components(), ...answers, ...events.schemas }) },
      responses: Object.fromEntries(
        [...shared].map(([status, factories]) => [`Problem${status}`, describeProblems(status, factories)]),
      ),
      securitySchemes: securitySchemes(table.list()),
    },
  }
}

/** Tags with the plugins whose routes have them. */
const tagsOf = (entries: readonly Entry[]): { name: string; description: string }[] => {
  const owners = new Map<string, Set<string>>()
  for (const { owner, route } of entries) owners.set(tagOf(route), (owners.get(tagOf(route)) ?? new Set()).add(owner))
  return [...owners]
    .map(([name, of]) => ({ name, description: `Routes of ${[...of].sort().join(', ')}.` }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

const sorted = <T>(named: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1)))

/** Named structs of the bodies, and those of everything else. */
const componentsOf = (table: RouteTable) => {
  const [inputs, answers, all] = [createComponents(), createComponents(), createComponents()]
  const add = (struct: AnyStruct | undefined, to: typeof all): void => {
    if (struct === undefined) return
    to.add(struct)
    all.add(struct)
  }
  for (const { route } of table.list()) {
    add(route.body, inputs)
    for (const struct of [route.params, route.query, route.reply.kind === 'json' ? route.reply.body : undefined])
      add(struct, answers)
  }
  for (const event of eventsOf(table.list())) add(event.data, answers)
  return { inputs: inputs.schemas(), answers: answers.schemas() }
}

/** Named structs that are reached. A name stands for one shape. */
const createComponents = () => {
  const seen = new Set<AnyStruct>()
  const found = new Map<string, JsonSchema>()
  const add = (struct: AnyStruct): void => {
    if (seen.has(struct)) return
    seen.add(struct)
    const name = schemaName(struct)
    if (name !== undefined) keep(name, inlineSchema(struct))
    for (const part of partsOf(struct)) add(part)
  }
  const keep = (name: string, schema: JsonSchema): void => {
    const known = found.get(name)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw fault(`two different schemas are named ${name}`)
    found.set(name, schema)
  }
  return { add, schemas: () => Object.fromEntries(found) }
}
