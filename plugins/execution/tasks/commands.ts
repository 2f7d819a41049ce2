import {
  array,
  boolean,
  defineCommand,
  integer,
  open,
  optional,
  string,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
  type Json,
} from '../../../core/plugin.js'
import { taskStatuses } from './contract.js'

const Row = open({
  id: string(),
  title: string(),
  status: string(),
  blocked_by: optional(array(string())),
  metadata: optional(
    open({ stop_requested: optional(boolean()), exit_code: optional(integer()), terminal_reason: optional(string()) }),
  ),
})
const View = open({ retrieval_status: string(), task: Row, output_excerpt: string(), output_text: optional(string()) })

const listPath = ({ args }: CommandInput): string =>
  `/v1/sessions/${encodeURIComponent(args['session_id'] ?? '')}/tasks`
const path = (input: CommandInput): string => `${listPath(input)}/${encodeURIComponent(input.args['task_id'] ?? '')}`

/** What the status does not say. */
const more = ({ blocked_by = [], metadata = {} }: Infer<typeof Row>): string[] => [
  ...(blocked_by.length > 0 ? [`waits for ${blocked_by.join(', ')}`] : []),
  ...(metadata.stop_requested === true ? ['is being stopped'] : []),
  ...(metadata.exit_code === undefined ? [] : [`exit code ${metadata.exit_code}`]),
  ...(metadata.terminal_reason === undefined || metadata.terminal_reason === 'exited'
    ? []
    : [metadata.terminal_reason]),
]

const line = (row: Infer<typeof Row>): string =>
  [row.id, row.status.padEnd(11), row.title, ...more(row)].map(visibleLine).join('  ')

const showAll = (rows: Infer<typeof Row>[]): string => (rows.length === 0 ? 'No tasks.' : rows.map(line).join('\n'))

const showOutput = ({ task, output_text, output_excerpt }: Infer<typeof View>): string =>
  `${line(task)}\n${output_text ?? output_excerpt}`

const list = (input: CommandInput): Promise<Json> =>
  input.client.get(
    typeof input.flags['status'] === 'string'
      ? `${listPath(input)}?status=${encodeURIComponent(input.flags['status'])}`
      : listPath(input),
  )

const output = (input: CommandInput): Promise<Json> => {
  const query = new URLSearchParams()
  if (input.flags['full'] === true) query.set('full', 'true')
  if (typeof input.flags['tail-bytes'] === 'string') query.set('tail_bytes', input.flags['tail-bytes'])
  if (typeof input.flags['wait-ms'] === 'string') {
    query.set('wait', 'true')
    query.set('timeout_ms', input.flags['wait-ms'])
  }
  return input.client.get(`${path(input)}/output?${query.toString()}`)
}

const stop = (input: CommandInput): Promise<Json> =>
  input.client.send(
    'POST',
    `${path(input)}/stop`,
    typeof input.flags['reason'] === 'string' ? { reason: input.flags['reason'] } : {},
  )

const args = ['session_id', 'task_id']

export const commands: readonly Command[] = [
  defineCommand({
    path: ['tasks', 'list'],
    route: 'GET /v1/sessions/{session_id}/tasks',
    summary: 'The tasks of a session.',
    args: ['session_id'],
    flags: { status: { kind: 'text', summary: 'Only tasks in this status.' } },
    choices: { status: taskStatuses },
    run: list,
    answer: array(Row),
    show: showAll,
  }),
  defineCommand({
    path: ['tasks', 'get'],
    route: 'GET /v1/sessions/{session_id}/tasks/{task_id}',
    summary: 'One task.',
    args,
    run: (input) => input.client.get(path(input)),
  }),
  defineCommand({
    path: ['tasks', 'output'],
    route: 'GET /v1/sessions/{session_id}/tasks/{task_id}/output',
    summary: 'What a task has put out.',
    args,
    flags: {
      full: { kind: 'switch', summary: 'All that is kept.' },
      'tail-bytes': { kind: 'text', summary: 'Bytes of the end that are shown.' },
      'wait-ms': { kind: 'text', summary: 'Waits for the end of the task, at most so many milliseconds.' },
    },
    fields: { 'query.timeout_ms': '--wait-ms' },
    run: output,
    answer: View,
    show: showOutput,
  }),
  defineCommand({
    path: ['tasks', 'stop'],
    route: 'POST /v1/sessions/{session_id}/tasks/{task_id}/stop',
    summary: 'Stops a task with everything it has started.',
    args,
    flags: { reason: { kind: 'text', summary: 'Kept with the task.' } },
    run: stop,
    answer: Row,
    show: line,
  }),
]
