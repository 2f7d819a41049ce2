import { inlineSchema, type JsonSchema } from '../../../core/base/schema.js'
import type { Facts } from '../gather.js'
import { anchor, code, fieldTable, page, table } from '../markdown.js'

/**
 * Frames of the streams themselves. They are made in `core/http/stream.ts` and `core/events/subscriber.ts`; a test compares.
 */
export const frames: readonly { readonly name: string; readonly summary: string; readonly data: JsonSchema }[] = [
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
        skipped_is_estimate: { type: 'boolean' },
      },
    },
  },
]

export const eventsPage = ({ modules, operations }: Facts): string => {
  const streams = operations.filter(
    ({ operation }) => operation['responses'][200]?.content?.['text/event-stream'] !== undefined,
  )
  const events = modules.events
    .map(({ owner, value }) => ({ owner, name: value.name, summary: value.summary, data: inlineSchema(value.data) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const all = [...events, ...frames.map((frame) => ({ owner: 'core', ...frame }))]
  return page(
    '# Events',
    'Server-sent events of ' +
      `${streams.map(({ method, path }) => `[${method} ${path}](routes.md#${anchor(`${method} ${path}`)})`).join(', ')}. ` +
      '' +
      `A frame has the event's name, its id and its data as JSON; the data also carries the name as ` +
      `${code('type')}.`,
    'Ids are decimal numbers that only grow, over restarts too. A client that comes back with `Last-Event-ID` ' +
      'or `?cursor=` gets what it missed, or a `stream_gap`.',
    table(
      ['event', 'when', 'from'],
      all.map(({ name, summary, owner }) => [`[${code(name)}](#${anchor(name)})`, summary, owner]),
    ),
    ...all.map(({ name, summary, data }) => [`### ${name}`, summary, fieldTable(data)]),
  )
}
