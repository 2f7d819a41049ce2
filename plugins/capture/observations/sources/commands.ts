import {
  array,
  defineCommand,
  listedRows,
  number,
  open,
  optional,
  searchedRows,
  secretFlags,
  showRows,
  showSize,
  string,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
  showTime,
  pageFlags,
} from '../../../../core/plugin.js'
import { auditEvents, sensitivities, sourceKinds } from '../record/structs.js'

const Source = open({
  source_id: string(),
  display_name: string(),
  kind: string(),
  status: string(),
  active_observation_count: number(),
  active_byte_length: number(),
})
const showSource = (source: Infer<typeof Source>): string =>
  `${visibleLine(source.source_id)}  ${visibleLine(source.kind)}  ${visibleLine(source.status)}  ` +
  `${source.active_observation_count} observations, ${showSize(source.active_byte_length)}  ` +
  visibleLine(source.display_name)
const showSources = (rows: Infer<typeof Source>[]): string =>
  rows.length === 0
    ? 'No sources yet. Create one: holdfast observation-sources create SOURCE --kind KIND --stdin'
    : rows.map(showSource).join('\n')

const Event = open({
  recorded_at_ms: number(),
  event: string(),
  source_id: string(),
  reason: optional(string()),
  observation_id: optional(string()),
})
const showEvent = ({ recorded_at_ms, event, source_id, reason, observation_id }: Infer<typeof Event>): string =>
  [showTime(recorded_at_ms), event, source_id, reason, observation_id]
    .flatMap((part) => (part === undefined ? [] : [visibleLine(part)]))
    .join('  ')

const base = '/v1/observation-sources'
const urlOf = ({ args }: Pick<CommandInput, 'args'>): string => `${base}/${encodeURIComponent(args['source_id'] ?? '')}`

/** A number as it was typed: the daemon says what is wrong with it. */
const numberOf = (value: string | boolean | undefined): number | string | undefined =>
  typeof value === 'string' ? (/^\d{1,15}$/u.test(value) ? Number(value) : value) : undefined

const create = async (input: CommandInput) => {
  const { client, args, flags } = input
  const source_id = args['source_id'] ?? ''
  const { kind, sensitivity } = flags
  const retention_seconds = numberOf(flags['retention-seconds'])
  const max_active_observations = numberOf(flags['max-observations'])
  return client.send('POST', base, {
    source_id,
    display_name: typeof flags['display-name'] === 'string' ? flags['display-name'] : source_id,
    upload_token: await input.secret(),
    ...(typeof kind === 'string' && { kind }),
    ...(typeof sensitivity === 'string' && { sensitivity }),
    ...(retention_seconds !== undefined && { retention_seconds }),
    ...(max_active_observations !== undefined && { max_active_observations }),
    ...(flags['purge-raw'] === true && { purge_raw_on_retention: true }),
    ...(flags['allow-output-delivery'] === true && { allow_output_delivery: true }),
  })
}

const secretFlag = Object.keys(secretFlags).map((flag) => `--${flag}`)

export const sourceCommands: readonly Command[] = [
  defineCommand({
    path: ['observation-sources', 'list'],
    route: 'GET /v1/observation-sources',
    summary: 'What machines may send observations as, by id.',
    flags: { query: { kind: 'text', summary: 'Only those whose id or name holds this text.' }, ...pageFlags },
    run: (input) => searchedRows(input, base),
    answer: listedRows(Source),
    show: showRows(showSources),
  }),
  defineCommand({
    path: ['observation-sources', 'get'],
    route: 'GET /v1/observation-sources/{source_id}',
    summary: 'One source.',
    args: ['source_id'],
    run: (input) => input.client.get(urlOf(input)),
  }),
  defineCommand({
    path: ['observation-sources', 'create'],
    route: 'POST /v1/observation-sources',
    summary: 'Creates a source, or gives one that is there other settings. The token is never a part of the line.',
    args: ['source_id'],
    flags: {
      ...secretFlags,
      kind: { kind: 'text', summary: 'What it sees or hears; of one that is there, the same as before.' },
      'display-name': { kind: 'text', summary: 'What people call it; its id when absent.' },
      sensitivity: { kind: 'text', summary: 'How careful one has to be with it; sensitive when absent.' },
      'retention-seconds': {
        kind: 'text',
        value: 'seconds',
        summary: 'How long observations are kept; a week when absent.',
      },
      'max-observations': { kind: 'text', value: 'number', summary: 'How many are kept at most; 512 when absent.' },
      'purge-raw': { kind: 'switch', summary: 'Delete the files of what is no longer kept.' },
      'allow-output-delivery': { kind: 'switch', summary: 'Let outputs of runs that see it leave the daemon.' },
    },
    oneOf: secretFlag,
    choices: { kind: sourceKinds, sensitivity: sensitivities },
    fields: {
      'body.source_id': '<source_id>',
      'body.upload_token': 'the token',
      'body.retention_seconds': '--retention-seconds',
      'body.purge_raw_on_retention': '--purge-raw',
      'body.max_active_observations': '--max-observations',
    },
    run: create,
    answer: Source,
    show: showSource,
  }),
  defineCommand({
    path: ['observation-sources', 'rotate-token'],
    route: 'POST /v1/observation-sources/{source_id}/rotate-token',
    summary: 'Gives a source another token. It is never a part of the line; a terminal does not show it.',
    args: ['source_id'],
    flags: {
      ...secretFlags,
      'grace-ms': {
        kind: 'text',
        value: 'ms',
        summary: 'How long the token before still opens; not at all when absent.',
      },
    },
    oneOf: secretFlag,
    fields: { 'body.upload_token': 'the token', 'body.grace_period_ms': '--grace-ms' },
    run: async (input) => {
      const grace_period_ms = numberOf(input.flags['grace-ms'])
      return input.client.send('POST', `${urlOf(input)}/rotate-token`, {
        upload_token: await input.secret(),
        ...(grace_period_ms !== undefined && { grace_period_ms }),
      })
    },
    answer: Source,
    show: showSource,
  }),
  defineCommand({
    path: ['observation-sources', 'revoke-token'],
    route: 'POST /v1/observation-sources/{source_id}/revoke-token',
    summary: 'Takes all tokens of a source away; what it has sent stays.',
    args: ['source_id'],
    flags: { reason: { kind: 'text', summary: 'Why; kept in the audit.' } },
    run: (input) => {
      const { reason } = input.flags
      return input.client.send('POST', `${urlOf(input)}/revoke-token`, typeof reason === 'string' ? { reason } : {})
    },
    answer: Source,
    show: showSource,
  }),
  defineCommand({
    path: ['observation-sources', 'audit'],
    route: 'GET /v1/observation-audit',
    summary: 'What happened to sources, uploads and capture agents, newest first.',
    flags: {
      source: { kind: 'text', value: 'id', summary: 'Of this source or machine alone.' },
      event: { kind: 'text', summary: 'Such events alone.' },
      limit: { kind: 'text', value: 'number', summary: 'So many; a hundred when absent.' },
    },
    choices: { event: auditEvents },
    fields: { 'query.source_id': '--source' },
    run: ({ client, flags }) => {
      const query = Object.entries({ source_id: flags['source'], event: flags['event'], limit: flags['limit'] })
        .flatMap(([name, value]) => (typeof value === 'string' ? [`${name}=${encodeURIComponent(value)}`] : []))
        .join('&')
      return client.get(`/v1/observation-audit${query === '' ? '' : `?${query}`}`)
    },
    answer: array(Event),
    show: (events) => (events.length === 0 ? 'Nothing yet.' : events.map(showEvent).join('\n')),
  }),
]
