/** One route as an operation of the OpenAPI document. */
import { isOptional, jsonSchema, type AnyStruct } from '../../base/schema.js'
import { httpErrors } from '../errors.js'
import { exampleOf } from './example.js'
import type { InputSchemas } from './input-schemas.js'
import { problemResponses, type ProblemsByStatus } from './operation-problems.js'
import { refusesKeys } from '../routes/idempotency.js'
import { defaultBodyLimit, type Access, type Route } from '../routes/route.js'
import { securityOf } from './security.js'
import type { DescribedEvents } from './stream-events.js'
import type { Entry } from '../routes/table.js'

type Parameter = Readonly<Record<string, unknown>>

const fieldsOf = (struct: AnyStruct | undefined): [string, AnyStruct][] =>
  Object.entries<AnyStruct>(struct?.schema ?? {})

const parameters = ({ params, query, idempotent, reply }: Route): Parameter[] => [
  ...fieldsOf(params).map(([name, field]) => ({ name, in: 'path', required: true, schema: jsonSchema(field) })),
  ...fieldsOf(query)
    .filter(([name]) => reply.kind !== 'stream' || name !== 'cursor')
    .map(([name, field]) => ({ name, in: 'query', required: !isOptional(field), schema: jsonSchema(field) })),
  ...(idempotent === true
    ? [
        {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description: 'The same key with the same payload has one effect and one answer.',
          schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
        },
      ]
    : []),
  ...(reply.kind === 'stream' ? cursors : []),
  ...(reply.kind === 'bytes' ? ranges : []),
]

const cursor = { type: 'string', pattern: '^\\s*\\d{0,20}\\s*$' } as const
const cursors: readonly Parameter[] = [
  {
    name: 'cursor',
    in: 'query',
    required: false,
    description:
      'Replays what follows this event id; 0 replays the whole window. The larger of this and Last-Event-ID counts.',
    schema: cursor,
  },
  {
    name: 'Last-Event-ID',
    in: 'header',
    required: false,
    description: 'Sent by browsers when they reconnect.',
    schema: cursor,
  },
]

const ranges: readonly Parameter[] = [
  {
    name: 'Range',
    in: 'header',
    required: false,
    description:
      'One part of the bytes, such as `bytes=0-1023`, answered with 206; several at once are answered with all.',
    schema: { type: 'string' },
  },
  {
    name: 'If-Range',
    in: 'header',
    required: false,
    description: 'The `ETag` of an answer: a part is given only of the same bytes, else all of them.',
    schema: { type: 'string' },
  },
  {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'The `ETag` of an answer: where the bytes are the same, the answer is 304 and has none.',
    schema: { type: 'string' },
  },
]
const binary = { '*/*': { schema: { type: 'string', format: 'binary' }, example: 'Bytes.' } } as const

const requestBody = (
  { body, bodyForm, bodyOptional, bodyLimit, example }: Route,
  bodies: InputSchemas,
): Record<string, unknown> =>
  body === undefined
    ? {}
    : {
        requestBody: {
          required: bodyOptional !== true,
          description: `At most ${bodyLimit ?? defaultBodyLimit} bytes.`,
          content: {
            [bodyForm === 'bytes' ? '*/*' : 'application/json']: {
              schema: bodies.of(body),
              ...(example?.body !== undefined && { example: example.body }),
            },
          },
        },
        'x-body-limit-bytes': bodyLimit ?? defaultBodyLimit,
      }

const success = ({ reply, example }: Route, events: DescribedEvents): Record<string, unknown> => {
  if (reply.kind === 'stream') return events.answer
  if (reply.kind === 'bytes') return { description: 'The bytes.', content: binary }
  if (reply.kind === 'text')
    return {
      description: 'Text.',
      content: {
        [reply.type.split(';', 1).join('')]: { schema: { type: 'string' }, example: example?.reply ?? 'Text.' },
      },
    }
  return {
    description: reply.status === 202 ? 'Accepted: durable, and worked on from now.' : 'Done.',
    content: {
      'application/json': {
        schema: jsonSchema(reply.body),
        ...(example?.reply === undefined
          ? { examples: { shape: { summary: 'Made-up values.', value: exampleOf(reply.body) } } }
          : { example: example.reply }),
      },
    },
  }
}

/** The first part of the id. */
export const tagOf = ({ id }: Route): string => id.split('.', 1).join('')

const openTo: Readonly<Record<Access, string>> = {
  public: 'Needs no token.',
  read: 'Open to the read-only token.',
  admin: 'Needs the admin token.',
  ingress: 'Has a check of its own.',
}
const safety = {
  A: 'What it changes is on disk before the answer.',
  B: 'What it changes is on disk within a second.',
  C: 'What it changes can be made again.',
} as const

const keyOf = (route: Route): string =>
  route.idempotent === true ? 'Takes an idempotency key.' : refusesKeys(route) ? 'Takes no idempotency key.' : ''

const descriptionOf = (route: Route, access: Access): string =>
  [route.summary, openTo[access], route.durability === undefined ? '' : safety[route.durability], keyOf(route)]
    .filter((sentence) => sentence !== '')
    .join(' ')

const ownProblems = ({ problems = [], reply }: Route) =>
  reply.kind === 'stream'
    ? [...problems, httpErrors.invalid_event_cursor]
    : reply.kind === 'bytes'
      ? [...problems, httpErrors.range_not_satisfiable]
      : problems

export interface Shared {
  readonly shared: ProblemsByStatus
  readonly bodies: InputSchemas
  readonly events: DescribedEvents
}
export const describeOperation = (
  { route, access }: Entry,
  { shared, bodies, events }: Shared,
): Record<string, unknown> => {
  const found = parameters(route)
  return {
    operationId: route.id,
    summary: route.summary,
    description: descriptionOf(route, access),
    tags: [tagOf(route)],
    ...(found.length > 0 && { parameters: found }),
    ...requestBody(route, bodies),
    responses: {
      [String(route.reply.status)]: success(route, events),
      ...(route.reply.kind === 'bytes' && {
        206: { description: 'The part that was asked for.', content: binary },
        304: { description: 'The bytes are those that the client has.' },
      }),
      ...problemResponses(ownProblems(route), shared),
    },
    security: securityOf({ route, access }),
    'x-access': access,
    ...(route.durability !== undefined && { 'x-durability': route.durability }),
  }
}
