/** Runs as text for terminals. */
import {
  array,
  boolean,
  commandLine,
  number,
  open,
  optional,
  parse,
  string,
  visibleBlock,
  visibleLine,
  type Infer,
  type Json,
  showTime,
  idWord,
} from '../../../../core/plugin.js'
import { fileText, ShownFile } from '../../../media/assets/contract.js'
import { answerLines, ShownAnswer } from './answered.js'
import { AskedApproval, AskedQuestions, showApproval, showQuestions } from './request-text.js'

/** What was put out, as far as it is shown. */
export const ShownOutput = open({
  content: string(),
  artifacts: optional(array(ShownFile)),
  parts: optional(array(open({ attachment: optional(ShownFile) }))),
})

/** The files of an output, each once. */
export const filesOf = ({ artifacts = [], parts = [] }: Infer<typeof ShownOutput>): readonly ShownFile[] => [
  ...new Map(
    [...parts.flatMap(({ attachment }) => attachment ?? []), ...artifacts].map((file) => [file.id, file] as const),
  ).values(),
]

export const RunAnswer = open({
  run_id: string(),
  session_id: string(),
  status: string(),
  submitted_at_ms: optional(number()),
  started_at_ms: optional(number()),
  finished_at_ms: optional(number()),
  request: open({
    text_preview: optional(string()),
    provider: optional(string()),
    model: optional(string()),
    fallback_model: optional(string()),
    runtime_revision: optional(number()),
  }),
  error: optional(string()),
  answer_ended: optional(string()),
  waiting_for_model_route: optional(
    open({ attempts: number(), next_attempt_at_ms: number(), code: string(), message: string() }),
  ),
  isolation: optional(string()),
  worktree: optional(open({ path: string(), base_commit: string(), state: string() })),
  model_call_held: optional(open({ until_ms: number() })),
  outputs: optional(array(ShownOutput)),
  input_attachments: optional(array(ShownFile)),
  input_metadata: optional(open({ service_flow: optional(open({ flow_id: string() })) })),
  tool_files: optional(array(ShownFile)),
  outputs_truncated: optional(boolean()),
  pending_approvals: optional(array(AskedApproval)),
  pending_questions: optional(array(AskedQuestions)),
  daemon_held: optional(boolean()),
  kind: optional(string()),
  answered: optional(ShownAnswer),
})
export type RunRow = Infer<typeof RunAnswer>
type Row = RunRow

/** What an open run waits for, where its status does not say it. */
const statusOf = ({ status, waiting_for_model_route: wait, model_call_held: held, daemon_held }: Row): string => {
  if (wait !== undefined || held !== undefined) return `${status} (waits for model)`
  return daemon_held === true ? `${status} (daemon holds)` : status
}

export const oneLine = (text: string, most = 60): string => {
  const line = visibleLine(text.replaceAll(/\s+/gu, ' ').trim())
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}

export const showRuns = (rows: Row[]): string =>
  rows.length === 0
    ? 'No runs here. Start one: holdfast runs submit SESSION TEXT'
    : rows
        .map((row) =>
          [
            row.run_id,
            ...(row.submitted_at_ms === undefined ? [] : [showTime(row.submitted_at_ms)]),
            statusOf(row).padEnd(25),
            idWord(row.session_id),
            oneLine(row.request.text_preview ?? ''),
          ].join('  '),
        )
        .join('\n')

const timeLine = ({ submitted_at_ms, started_at_ms, finished_at_ms }: Row): string[] => {
  const told = Object.entries({ submitted: submitted_at_ms, begun: started_at_ms, ended: finished_at_ms }).flatMap(
    ([what, ms]) => (ms === undefined ? [] : [`${what} ${showTime(ms)}`]),
  )
  return told.length === 0 ? [] : [`  time     ${told.join(', ')}`]
}

const fileLine = (file: ShownFile): string => `  file     ${fileText(file)}`

/** The retry of a flow's root run is none of the flow, which stays failed. */
const anew = ({ run_id, input_metadata }: Row): string => {
  const flow_id = input_metadata?.service_flow?.flow_id
  return flow_id === undefined
    ? `once more: ${commandLine('runs retry', run_id)}`
    : `start another flow, as its flow says: ${visibleLine(commandLine('flows get', flow_id))}`
}

/** A fallback model says which step tells why. */
const routeLines = ({ run_id, request: { provider = '-', model = '', fallback_model } }: Row): string[] => [
  `  route    ${visibleLine(`${provider} ${model}`)}`,
  ...(model !== '' && model === fallback_model
    ? [`  fallback the model before it failed: ${commandLine('runs events', run_id)}`]
    : []),
]

/** Of an answer that `max_output_tokens` or the server ended, and of one whose reason to end nobody knows. */
export const endTexts: Readonly<Record<string, string>> = {
  cut: 'the answer was cut at the limit of its length',
  unexplained: 'the answer ended for a reason that nobody knows and may not be whole',
}

const endLine = ({ answer_ended: ended = '' }: Row): string[] =>
  endTexts[ended] === undefined ? [] : [`  ${(ended === 'cut' ? ended : 'ended').padEnd(8)} ${endTexts[ended]}`]

export const showRun = (run: Row): string =>
  [
    `${run.run_id}  ${run.status}`,
    `  session  ${idWord(run.session_id)}`,
    ...timeLine(run),
    ...routeLines(run),
    ...(run.request.runtime_revision === undefined ? [] : [`  settings revision ${run.request.runtime_revision}`]),
    ...(run.request.text_preview === undefined ? [] : [`  input    ${oneLine(run.request.text_preview, 100)}`]),
    ...(run.input_attachments ?? []).map(fileLine),
    ...worktreeLines(run),
    ...(run.outputs_truncated === true ? [`  older outputs: ${commandLine('runs events', run.run_id)}`] : []),
    ...(run.tool_files ?? []).map(fileLine),
    ...(run.outputs ?? []).flatMap((output) => [
      `  output   ${visibleBlock(output.content, 11)}`,
      ...filesOf(output).map(fileLine),
    ]),
    ...(run.answered === undefined ? [] : answerLines(run.answered)),
    ...endLine(run),
    ...(run.status === 'completed' && (run.outputs ?? []).length === 0 && run.kind !== 'parent_clarification'
      ? ['  output   none: the last answer of the model was empty']
      : []),
    ...(run.error === undefined ? [] : [`  error    ${visibleBlock(run.error, 11)}`]),
    // A retry of a turn would say nothing in its channel (floor-7).
    ...(run.status === 'failed' && run.kind !== 'channel_delivery' ? [`           ${anew(run)}`] : []),
    ...(run.daemon_held === true ? ['  waits    for you: the daemon holds and begins no run: holdfast release'] : []),
    ...heldCall(run),
    ...routeWait(run),
    ...(run.status === 'queued' || run.status === 'running'
      ? [`  next     ${visibleLine(commandLine('explain', run.run_id))}`]
      : []),
    ...(run.pending_approvals ?? []).flatMap((asked) => showApproval(run.run_id, asked)),
    ...(run.pending_questions ?? []).flatMap((asked) => showQuestions(run.run_id, asked)),
  ].join('\n')

/** Where a run works, or what became of that. */
export const worktreeText = ({ status, isolation, worktree }: Row): string | undefined => {
  if (worktree !== undefined)
    return [
      visibleLine(worktree.path),
      `(${worktree.state.replace('_', ' ')}, from ${worktree.base_commit.slice(0, 12)})`,
    ].join(' ')
  if (isolation !== 'worktree') return undefined
  return status === 'queued' || status === 'running'
    ? 'is made when the run begins'
    : 'gone: the run left nothing there'
}

const worktreeLines = (run: Row): string[] => {
  const text = worktreeText(run)
  return text === undefined
    ? []
    : [
        `  worktree ${text}`,
        ...(run.worktree?.state === 'kept'
          ? [`           remove: ${commandLine('worktrees remove', run.run_id)}`]
          : []),
      ]
}

const heldCall = ({ model_call_held: held }: Row): string[] =>
  held === undefined
    ? []
    : [`  waits    its server has asked for time: the model is called at ${showTime(held.until_ms)}`]

const routeWait = ({ waiting_for_model_route: wait }: Row): string[] =>
  wait === undefined
    ? []
    : [
        `  waits    for the model route; attempt ${wait.attempts + 1} at ` + `${showTime(wait.next_attempt_at_ms)}`,
        `           ${visibleLine(wait.code)}: ${oneLine(wait.message, 300)}`,
      ]

/** The run that an event of a stream tells of. */
export const runOf = (event: string, data: Json): Row | undefined => {
  if (event !== 'run_updated') return undefined
  const parsed = parse(open({ run: RunAnswer }), data)
  return parsed.ok ? parsed.value.run : undefined
}

/** One line for an event of a stream; undefined for those that are not worth one. */
export const showStreamed = (event: string, data: Json): string | undefined => {
  const run = runOf(event, data)
  if (run !== undefined) return showRun(run)
  return event === 'stream_gap' ? 'Some events were missed.' : undefined
}

/** Exit code of whom watches a run, by what it came to; undefined while it goes on. */
const codes = new Map([
  ['completed', 0],
  ['failed', 1],
  ['cancelled', 1],
  ['interrupted', 130],
  ['waiting_for_approval', 3],
  ['waiting_for_user_question', 3],
])
export const watchCode = (event: string, data: Json): number | undefined => codes.get(runOf(event, data)?.status ?? '')
