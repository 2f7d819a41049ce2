import {
  cursorFlag,
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
    new Date(row.captured_at_ms).toISOString(),
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
      ...cursorFlag,
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
]
