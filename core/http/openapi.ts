/** The API as an OpenAPI 3.1 document, made from the routes. Contract 1, "Versioning". */
import type { ProblemFactory } from '../errors.js'
import { fault } from '../assert.js'
import {
  inlineSchema,
  partsOf,
  schemaName,
  unsafeCast,
  type AnyStruct,
  type JsonObject,
  type JsonSchema,
} from '../schema.js'
import { describeOperation } from './operation.js'
import { sharedProblems, describeProblems, problemSchema } from './operation-problems.js'
import type { RouteTable } from './table.js'

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
  const components = createComponents()
  for (const entry of table.list()) {
    const { params, query, body, reply, method, path } = entry.route
    for (const struct of [params, query, body, reply.kind === 'json' ? reply.body : undefined])
      if (struct !== undefined) components.add(struct)
    const methods = (paths[template(path)] ??= {})
    methods[method.toLowerCase()] = describeOperation(entry, shared)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Holdfast',
      version,
      description:
        'Durable agent sessions and the runs inside them. Errors are problem documents with a stable `code`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: { Problem: problemSchema, ...components.schemas() },
      responses: Object.fromEntries(
        [...shared].map(([status, factories]) => [`Problem${status}`, describeProblems(status, factories)]),
      ),
      securitySchemes: {
        admin: { type: 'http', scheme: 'bearer', description: 'The admin token: every route.' },
        read_only: {
          type: 'http',
          scheme: 'bearer',
          description: 'The read-only token: routes whose x-access is `read`.',
        },
      },
    },
  }
}

/** Named structs that the routes reach. A name stands for one shape. */
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
  return { add, schemas: () => Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1))) }
}
