import {
  array,
  commandLine,
  cursorFlag,
  defineCommand,
  listedRows,
  number,
  open,
  optional,
  readRows,
  shellWord,
  showRows,
  string,
  visibleBlock,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
  type Json,
  showTime,
  idWord,
  wholeSpan,
} from '../../../core/plugin.js'
import { cadenceOf } from './cadence-flags.js'
import { overlapPolicies } from './contract.js'
import { statusText } from './record/store.js'

const pathOf = (args: CommandInput['args']): string => `/v1/schedules/${encodeURIComponent(args['schedule_id'] ?? '')}`

const Cadence = open({
  type: string(),
  fire_at_ms: optional(number()),
  every_seconds: optional(number()),
  expression: optional(string()),
  timezone: optional(string()),
})
const Execution = open({
  fire_at_ms: number(),
  status: string(),
  run_id: optional(string()),
  error: optional(string()),
})
const Schedule = open({
  schedule_id: string(),
  name: string(),
  target_session_id: string(),
  status: string(),
  cadence: Cadence,
  next_fire_at_ms: optional(number()),
  last_error: optional(string()),
  last_scheduler_error: optional(string()),
  recent_executions: array(Execution),
  flow_start: optional(
    open({
      playbook_ref: open({ playbook_id: string(), version: string() }),
      request: optional(open({ content: optional(string()) })),
    }),
  ),
})
type Schedule = Infer<typeof Schedule>

const moment = (ms: number): string => showTime(ms).replace('.000', '')

const cadenceText = ({ type, fire_at_ms, every_seconds, expression, timezone }: Schedule['cadence']): string => {
  if (type === 'once') return `once at ${moment(fire_at_ms ?? 0)}`
  if (type !== 'interval') return `${expression} in ${timezone}`
  return `every ${wholeSpan((every_seconds ?? 0) * 1000) ?? `${every_seconds} s`}`
}

const flowsText = ({ playbook_ref: { playbook_id, version } }: NonNullable<Schedule['flow_start']>): string =>
  visibleLine(`flows of ${playbook_id} ${version}`)

const row = ({ schedule_id, name, status, cadence, next_fire_at_ms, flow_start }: Schedule): string =>
  [
    visibleLine(schedule_id),
    statusText(status),
    visibleLine(name),
    `(${cadenceText(cadence)})`,
    ...(flow_start === undefined ? [] : [flowsText(flow_start)]),
    ...(next_fire_at_ms === undefined ? [] : [`next ${moment(next_fire_at_ms)}`]),
  ].join('  ')

const showAll = (schedules: Schedule[]): string =>
  schedules.length === 0
    ? 'No schedules yet. Make one: holdfast schedules create SESSION TEXT --every 1h'
    : schedules.map(row).join('\n')

const flowLines = ({ target_session_id, flow_start }: Schedule): string[] => {
  if (flow_start === undefined) return []
  const said = visibleLine(flow_start.request?.content ?? '')
  return [
    `  starts   ${flowsText(flow_start)}${said === '' ? '' : `: ${said}`}`,
    `           all: ${visibleLine(commandLine(`flows list --session=${shellWord(target_session_id)}`))}`,
  ]
}

const detail = (schedule: Schedule): string =>
  [
    row(schedule),
    `  session  ${idWord(schedule.target_session_id)}`,
    ...flowLines(schedule),
    ...(schedule.last_error === undefined ? [] : [`  error    ${visibleBlock(schedule.last_error, 11)}`]),
    ...(schedule.last_scheduler_error === undefined || schedule.last_scheduler_error === schedule.last_error
      ? []
      : [`  waits    ${visibleBlock(schedule.last_scheduler_error, 11)}`]),
    ...schedule.recent_executions
      .slice(-5)
      .map(
        ({ fire_at_ms, status, run_id, error }) =>
          `  ${moment(fire_at_ms)}  ${statusText(status)}` +
          (run_id === undefined ? '' : `  ${run_id}`) +
          (error === undefined ? '' : `  ${visibleLine(error)}`),
      ),
    `  next     ${visibleLine(commandLine('schedules preview', schedule.schedule_id))}`,
  ].join('\n')

const Preview = open({ fires: array(open({ utc: string(), local: string(), notes: array(string()) })) })
const showPreview = ({ fires }: Infer<typeof Preview>): string => {
  if (fires.length === 0) return 'It fires no more.'
  return fires
    .map(({ utc, local, notes }) =>
      [`${utc.replace('.000', '')}  ${local}`, ...notes.map((note) => `  ${note}`)].join('\n'),
    )
    .join('\n')
}

const text = (value: string | boolean | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined

/** Whatever is no number is sent as it is: the daemon says what is wrong with it. */
const numeric = (value: string): number | string =>
  value.trim() === '' || Number.isNaN(Number(value)) ? value : Number(value)

const create = async (input: CommandInput): Promise<Json> => {
  const { client, args, flags } = input
  const most = text(flags['max-executions'])
  const content = args['text'] ?? ''
  return client.send('POST', '/v1/schedules', {
    name: text(flags['name']) ?? content.trim().slice(0, 60),
    target_session_id: args['session_id'] ?? '',
    cadence: cadenceOf(input),
    request: { content },
    ...(flags['overlap'] !== undefined && { overlap_policy: flags['overlap'] }),
    ...(flags['misfire'] !== undefined && { misfire_policy: { type: flags['misfire'] } }),
    ...(most !== undefined && { max_executions: numeric(most) }),
  })
}

const createFlags = {
  name: { kind: 'text', summary: 'What it is called; the beginning of the text when absent.' },
  at: {
    kind: 'text',
    value: 'time',
    summary: 'Once: the next 17:30, a moment such as 2027-01-31T09:00:00+01:00, or Unix milliseconds.',
  },
  every: {
    kind: 'text',
    value: 'span',
    summary: 'Again and again: every 90 seconds, 5m, 2h or 1d; at least 5 seconds.',
  },
  cron: {
    kind: 'text',
    value: 'expression',
    summary: 'Cron expression: minute, hour, day of month, month, day of week.',
  },
  timezone: { kind: 'text', summary: 'IANA time zone of --cron; UTC when absent.' },
  overlap: { kind: 'text', summary: 'What becomes of a fire while a run of the schedule is active; skip when absent.' },
  misfire: { kind: 'text', summary: 'What becomes of fires that were missed; coalesce_once when absent.' },
  'max-executions': { kind: 'text', summary: 'Executions after which it is completed.' },
} as const

const fields = {
  'body.cadence.fire_at_ms': '--at',
  'body.cadence.every_seconds': '--every',
  'body.cadence.expression': '--cron',
  'body.cadence.timezone': '--timezone',
  'body.overlap_policy': '--overlap',
  'body.misfire_policy': '--misfire',
  'body.target_session_id': '<session_id>',
  'body.request.content': '<text>',
}

const actions = [
  ['trigger', 'Makes one execution now.'],
  ['pause', 'Takes no more fires until it is resumed.'],
  ['resume', 'Lets a paused schedule fire again.'],
  ['cancel', 'Ends a schedule for good.'],
] as const

export const commands: readonly Command[] = [
  defineCommand({
    path: ['schedules', 'list'],
    route: 'GET /v1/schedules',
    summary: 'Schedules by id.',
    flags: { session: { kind: 'text', summary: 'Only those whose runs go to this session.' }, ...cursorFlag },
    fields: { 'query.session_id': '--session' },
    run: (input) =>
      readRows(
        input,
        '/v1/schedules?limit=100' +
          (typeof input.flags['session'] === 'string'
            ? `&session_id=${encodeURIComponent(input.flags['session'])}`
            : ''),
      ),
    answer: listedRows(Schedule),
    show: showRows(showAll),
  }),
  defineCommand({
    path: ['schedules', 'get'],
    route: 'GET /v1/schedules/{schedule_id}',
    summary: 'One schedule and its last executions.',
    args: ['schedule_id'],
    run: ({ client, args }) => client.get(pathOf(args)),
    answer: Schedule,
    show: detail,
  }),
  defineCommand({
    path: ['schedules', 'create'],
    route: 'POST /v1/schedules',
    summary: 'Plans runs of a session: --at, --every or --cron.',
    args: ['session_id', 'text'],
    flags: createFlags,
    oneOf: ['--at', '--every', '--cron'],
    choices: { overlap: overlapPolicies, misfire: ['coalesce_once', 'skip_missed'] },
    fields,
    run: create,
    answer: Schedule,
    show: detail,
  }),
  defineCommand({
    path: ['schedules', 'preview'],
    route: 'GET /v1/schedules/{schedule_id}/preview',
    summary: 'The next fires in UTC and local time.',
    args: ['schedule_id'],
    flags: { count: { kind: 'text', summary: 'How many, 1 to 100.' } },
    run: ({ client, args, flags }) =>
      client.get(`${pathOf(args)}/preview?count=${encodeURIComponent(String(flags['count'] ?? 5))}`),
    answer: Preview,
    show: showPreview,
  }),
  ...actions.map(([action, summary]) =>
    defineCommand({
      path: ['schedules', action],
      route: `POST /v1/schedules/{schedule_id}/${action}`,
      summary,
      args: ['schedule_id'],
      run: ({ client, args }) => client.send('POST', `${pathOf(args)}/${action}`),
      answer: open({ schedule: Schedule }),
      show: ({ schedule }) => detail(schedule),
    }),
  ),
]
