import { streamFrames } from '../../../core/http/openapi/stream-events.js'
import { inlineSchema } from '../../../core/base/schema.js'
import type { Facts } from '../gather.js'
import { anchor, code, fieldTable, page, table } from '../markdown.js'

export const eventsPage = ({ modules, operations }: Facts): string => {
  const streams = operations.filter(
    ({ operation }) => operation['responses'][200]?.content?.['text/event-stream'] !== undefined,
  )
  const events = modules.events
    .map(({ owner, value }) => ({ owner, name: value.name, summary: value.summary, data: inlineSchema(value.data) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const all = [...events, ...streamFrames.map((frame) => ({ owner: 'core', ...frame }))]
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
