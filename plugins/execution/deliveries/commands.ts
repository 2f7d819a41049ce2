import {
  commandLine,
  count,
  cursorFlag,
  defineCommand,
  integer,
  listedRows,
  open,
  optional,
  readRows,
  showRows,
  string,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
  showTime,
} from '../../../core/plugin.js'
import { deliveryStatuses } from './contract.js'

const Row = open({
  delivery_id: string(),
  status: string(),
  session_id: string(),
  run_id: optional(string()),
  target: string(),
  attempts: integer(),
  next_attempt_at_ms: optional(integer()),
  last_error: optional(string()),
  terminal_error: optional(string()),
  dead_letter_resolution_reason: optional(string()),
})
type Row = Infer<typeof Row>

const line = (row: Row): string => {
  const why = row.terminal_error ?? row.last_error
  const what = [
    row.delivery_id,
    row.status,
    row.target,
    `session ${row.session_id}`,
    ...(row.run_id === undefined ? [] : [`run ${row.run_id}`]),
    count(row.attempts, 'attempt'),
    ...(why === undefined ? [] : [why]),
  ]
    .map(visibleLine)
    .join('  ')
  if (row.status === 'dead_lettered')
    return row.dead_letter_resolution_reason === undefined
      ? `${what}\n  ${visibleLine(commandLine('deliveries replay', row.delivery_id))}`
      : `${what}  ${visibleLine(row.dead_letter_resolution_reason)}`
  return row.next_attempt_at_ms === undefined || row.status !== 'retrying'
    ? what
    : `${what}  next ${showTime(row.next_attempt_at_ms)}`
}

const showAll =
  (empty: string) =>
  (rows: Row[]): string =>
    rows.length === 0 ? empty : rows.map(line).join('\n')

const filters = ['session-id', 'run-id', 'plugin', 'status', 'limit'] as const
const pathOf = (path: string, flags: CommandInput['flags']): string => {
  const query = new URLSearchParams()
  for (const name of filters) if (typeof flags[name] === 'string') query.set(name.replace('-', '_'), flags[name])
  return query.size === 0 ? path : `${path}?${query.toString()}`
}

const scope = {
  'session-id': { kind: 'text', summary: 'Only deliveries of this session.' },
  'run-id': { kind: 'text', summary: 'Only deliveries of this run.' },
  plugin: { kind: 'text', summary: 'Only deliveries by this reply plugin.' },
  limit: { kind: 'text', summary: 'Most deliveries to show, at most 100.' },
  ...cursorFlag,
} as const

const list = defineCommand({
  path: ['deliveries', 'list'],
  route: 'GET /v1/deliveries',
  summary: 'Outputs on their way to reply targets, by time.',
  flags: { ...scope, status: { kind: 'text', summary: 'Only those in this status.' } },
  choices: { status: deliveryStatuses },
  run: (input) => readRows(input, pathOf('/v1/deliveries', input.flags)),
  answer: listedRows(Row),
  show: showRows(showAll('There are no deliveries.')),
})

const deadLetter = defineCommand({
  path: ['deliveries', 'dead-letter'],
  route: 'GET /v1/deliveries/dead-letter',
  summary: 'Deliveries that are no longer attempted, with the command that sends them again.',
  flags: scope,
  run: (input) => readRows(input, pathOf('/v1/deliveries/dead-letter', input.flags)),
  answer: listedRows(Row),
  show: showRows(showAll('There are no dead letters.')),
})

const idPath = (args: CommandInput['args']): string => `/v1/deliveries/${encodeURIComponent(args['delivery_id'] ?? '')}`

const get = defineCommand({
  path: ['deliveries', 'get'],
  route: 'GET /v1/deliveries/{delivery_id}',
  summary: 'One delivery.',
  args: ['delivery_id'],
  run: ({ client, args }) => client.get(idPath(args)),
  answer: Row,
  show: line,
})

const replay = defineCommand({
  path: ['deliveries', 'replay'],
  route: 'POST /v1/deliveries/{delivery_id}/replay',
  summary: 'Sends a dead letter again; --force does so even if it was sent again before.',
  args: ['delivery_id'],
  flags: { force: { kind: 'switch', summary: 'Make another delivery.' } },
  run: ({ client, args, flags }) =>
    client.send('POST', `${idPath(args)}/replay${flags['force'] === true ? '?force=true' : ''}`),
  answer: open({ delivery: Row }),
  show: ({ delivery }) => line(delivery),
})

const resolve = defineCommand({
  path: ['deliveries', 'resolve'],
  route: 'POST /v1/deliveries/{delivery_id}/resolve',
  summary: 'Says that nobody has to see to a dead letter any more.',
  args: ['delivery_id'],
  flags: { reason: { kind: 'text', summary: 'Why; shown to all who see the delivery.' } },
  fields: { 'body.reason': '--reason' },
  run: ({ client, args, flags }) =>
    client.send('POST', `${idPath(args)}/resolve`, {
      ...(typeof flags['reason'] === 'string' && { reason: flags['reason'] }),
    }),
  answer: Row,
  show: line,
})

export const commands: readonly Command[] = [list, deadLetter, get, replay, resolve]
