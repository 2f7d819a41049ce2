import {
  commandLine,
  defineCommand,
  listedRows,
  number,
  open,
  readRows,
  showRows,
  showSize,
  string,
  visibleLine,
  type Command,
  type Infer,
  showTime,
  pageFlags,
} from '../../../core/plugin.js'
import { sourceCommands } from './sources/commands.js'

const Row = open({
  observation_id: string(),
  source_id: string(),
  retention_state: string(),
  media_type: string(),
  byte_length: number(),
  captured_at_ms: number(),
})
const showRow = (row: Infer<typeof Row>): string =>
  [
    visibleLine(row.observation_id),
    showTime(row.captured_at_ms),
    visibleLine(row.source_id),
    visibleLine(row.media_type),
    showSize(row.byte_length),
    ...(row.retention_state === 'active' ? [] : [visibleLine(row.retention_state)]),
  ].join('  ')
const showList = (rows: Infer<typeof Row>[]): string => (rows.length === 0 ? 'None yet.' : rows.map(showRow).join('\n'))

const queryOf = (flags: Readonly<Record<string, string | boolean | undefined>>): string =>
  Object.entries({ source_id: flags['source'], stream_id: flags['stream'], include_purged: flags['include-purged'] })
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]))
    .join('&')

export const commands: readonly Command[] = [
  ...sourceCommands,
  defineCommand({
    path: ['observations', 'list'],
    route: 'GET /v1/observations',
    summary: 'What sources have sent, in order of capture.',
    flags: {
      source: { kind: 'text', value: 'id', summary: 'Of this source alone.' },
      stream: { kind: 'text', value: 'id', summary: 'Of this stream of the source alone.' },
      'include-purged': { kind: 'switch', summary: 'Also what was purged.' },
      ...pageFlags,
    },
    fields: { 'query.source_id': '--source', 'query.stream_id': '--stream' },
    run: (input) => {
      const query = queryOf(input.flags)
      return readRows(input, `/v1/observations${query === '' ? '' : `?${query}`}`)
    },
    answer: listedRows(Row),
    show: showRows(showList),
  }),
  defineCommand({
    path: ['observations', 'get'],
    route: 'GET /v1/observations/{observation_id}',
    summary: 'One observation.',
    args: ['observation_id'],
    run: ({ client, args }) => client.get(`/v1/observations/${encodeURIComponent(args['observation_id'] ?? '')}`),
  }),
  defineCommand({
    path: ['observations', 'materialize'],
    route: 'POST /v1/observation-materializations',
    summary: 'Gives the newest observations of a source to a run.',
    args: ['session_id', 'source_id', 'content'],
    flags: {
      stream: { kind: 'text', value: 'id', summary: 'Of this stream of the source alone.' },
      most: { kind: 'text', value: 'number', summary: 'So many; three when absent.' },
    },
    fields: {
      'body.target_session_id': '<session_id>',
      'body.selection.source_id': '<source_id>',
      'body.selection.max_observations': '--most',
      'body.selection.stream_id': '--stream',
      'body.request.content': '<content>',
    },
    run: ({ client, args, flags }) => {
      const { stream, most } = flags
      return client.send('POST', '/v1/observation-materializations', {
        target_session_id: args['session_id'] ?? '',
        selection: {
          type: typeof stream === 'string' ? 'latest_from_stream' : 'latest_from_source',
          source_id: args['source_id'] ?? '',
          ...(typeof stream === 'string' && { stream_id: stream }),
          ...(typeof most === 'string' && { max_observations: /^\d{1,9}$/u.test(most) ? Number(most) : most }),
        },
        request: { content: args['content'] ?? '' },
      })
    },
    answer: open({ run_id: string(), session_id: string() }),
    show: ({ run_id }) => `Run ${visibleLine(run_id)} was made. See it with: ${commandLine('runs get', run_id)}`,
  }),
]
