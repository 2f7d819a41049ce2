/** Events of the streams as the OpenAPI document shows them: a schema for the data of each event name. */
import type { EventSpec } from '../../events/contract.js'
import { inlineSchema, type JsonSchema } from '../../base/schema.js'
import type { Entry } from '../routes/table.js'

interface Shown {
  readonly name: string
  readonly summary: string
  readonly data: JsonSchema
}

/** Frames of the streams themselves. They are made in `core/http/server/stream.ts` and `core/events/subscriber.ts`. */
export const streamFrames: readonly Shown[] = [
  { name: 'heartbeat', summary: 'Nothing happened for ten seconds. It has no id.', data: { properties: {} } },
  {
    name: 'stream_gap',
    summary: 'Events were lost to this client; read the state again and go on from here.',
    data: {
      required: ['skipped', 'resume_after_id', 'reason', 'scope', 'skipped_is_estimate'],
      properties: {
        skipped: { type: 'integer', description: 'How many events of this view were lost.' },
        resume_after_id: { type: 'string', description: 'The id to go on from.' },
        reason: {
          enum: ['restart_epoch', 'replay_window', 'live_lag'],
          description: 'The daemon was restarted; the event fell out of the replay window; the client was too slow.',
        },
        scope: { type: 'string', description: '`global`, or what the stream is filtered by.' },
        skipped_is_estimate: { type: 'boolean', description: 'True if `skipped` could not be counted.' },
      },
    },
  },
]

const componentOf = (name: string): string =>
  `${name.replaceAll(/(?:^|_)([a-z])/gu, (_, letter: string) => letter.toUpperCase())}Event`

const isObject = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null

/** The data of a frame is the data of the event with its name as `type`. */
const schemaOf = ({ name, summary, data }: Shown): JsonSchema => ({
  type: 'object',
  description: summary,
  properties: {
    type: { const: name, description: 'The name of the event.' },
    ...(isObject(data['properties']) ? data['properties'] : {}),
  },
  required: ['type', ...(Array.isArray(data['required']) ? data['required'] : [])],
})

/** Events that the routes declare, each once, with the frames of the streams themselves. */
export const eventsOf = (entries: readonly Entry[]): readonly EventSpec<object>[] => [
  ...new Map(
    entries
      .flatMap(({ route: { reply } }) => (reply.kind === 'stream' ? (reply.events ?? []) : []))
      .map((event) => [event.name, event]),
  ).values(),
]

/** The components of the events, and what a stream's answer says of them. */
export const describeEvents = (events: readonly EventSpec<object>[]) => {
  const shown = [
    ...events.map(({ name, summary, data }) => ({ name, summary, data: inlineSchema(data) })),
    ...streamFrames,
  ].toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return {
    schemas: Object.fromEntries(shown.map((event) => [componentOf(event.name), schemaOf(event)])),
    answer: {
      description:
        'Server-sent events until the client or the daemon ends the stream. The data of a frame is JSON and fits the ' +
        `schema that \`x-events\` gives for its event: ${shown.map(({ name }) => `\`${name}\``).join(', ')}.`,
      content: {
        'text/event-stream': {
          schema: {
            type: 'string',
            contentSchema: {
              oneOf: shown.map(({ name }) => ({ $ref: `#/components/schemas/${componentOf(name)}` })),
            },
          },
          example: 'event: heartbeat\ndata: {"type":"heartbeat"}\n\n',
          'x-events': Object.fromEntries(
            shown.map(({ name }) => [name, { $ref: `#/components/schemas/${componentOf(name)}` }]),
          ),
        },
      },
    },
  }
}
export type DescribedEvents = ReturnType<typeof describeEvents>
