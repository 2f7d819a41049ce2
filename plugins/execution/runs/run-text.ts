/**
 * Runs as text for terminals, and what a run asks a person for, with the command lines that answer it. Approvals and
 * questions show the same.
 */
import {
  array,
  commandLine,
  open,
  optional,
  parse,
  string,
  number,
  visibleBlock,
  visibleLine,
  type Infer,
  type Json,
  boolean,
  json,
  nullable,
} from '../../../core/plugin.js'

const asked = { id: string(), created_at_ms: optional(number()), expires_at_ms: optional(number()) }
/** A tool call that waits for permission, as far as it is shown. */
export const AskedApproval = open({
  ...asked,
  tool_name: string(),
  input: json(),
  input_digest: optional(string()),
  reason: optional(nullable(string())),
})
/** Questions that wait for an answer, as far as they are shown. */
export const AskedQuestions = open({
  ...asked,
  questions: array(
    open({
      id: string(),
      question: string(),
      options: array(open({ id: string(), label: string(), description: optional(string()) })),
      multi_select: optional(boolean()),
    }),
  ),
})
export type AskedApproval = Infer<typeof AskedApproval>
export type AskedQuestions = Infer<typeof AskedQuestions>
type Asked = AskedQuestions['questions'][number]

const indent = 11
const row = (name: string, text: string): string => `  ${name.padEnd(indent - 2)}${visibleBlock(text, indent)}`

/** The lines that allow and deny one request. */
export const approvalLines = (run_id: string, request_id: string) => ({
  allow: commandLine('approvals allow', run_id, request_id),
  deny: commandLine('approvals deny', run_id, request_id),
})

/** Options are named by number, one for each question: their labels are the words of a model. */
export const questionLines = (run_id: string, { questions }: AskedQuestions) => ({
  answer: questions.every(({ options }) => options.length > 0)
    ? commandLine(`questions answer --option ${questions.map(() => '1').join('/')}`, run_id)
    : commandLine('questions answer', run_id, questions.map(() => 'TEXT').join(' | ')),
  decline: commandLine('questions decline', run_id),
})

/** What would be done, whole: nobody decides on what was cut. */
export const showRequest = ({ tool_name, input, input_digest, reason }: AskedApproval): string[] => [
  row('asks', `to use ${visibleLine(tool_name)}${reason === undefined || reason === null ? '' : `: ${reason}`}`),
  row('input', JSON.stringify(input, null, 2)),
  ...(input_digest === undefined ? [] : [row('digest', `sha256 ${input_digest}`)]),
]

export const showApproval = (run_id: string, request: AskedApproval): string[] => {
  const { allow, deny } = approvalLines(run_id, request.id)
  return [
    ...showRequest(request),
    row('allows', `this input, once; the next call of ${visibleLine(request.tool_name)} asks again`),
    row('allow', visibleLine(allow)),
    row('deny', visibleLine(deny)),
  ]
}

const showQuestion = ({ question, options, multi_select }: Asked): string[] => [
  row('asks', multi_select === true ? `${question} (one or more)` : question),
  ...options.map(({ label, description }, at) =>
    row(String(at + 1), description === undefined ? label : `${label}: ${description}`),
  ),
]

export const showQuestions = (run_id: string, request: AskedQuestions): string[] => {
  const { questions } = request
  const { answer, decline } = questionLines(run_id, request)
  return [
    ...questions.flatMap(showQuestion),
    row('answer', visibleLine(answer)),
    row('or', visibleLine(commandLine('questions answer', run_id, questions.map(() => 'TEXT').join(' | ')))),
    row('decline', visibleLine(decline)),
  ]
}

export const RunAnswer = open({
  run_id: string(),
  session_id: string(),
  status: string(),
  request: open({ text_preview: optional(string()), provider: optional(string()), model: optional(string()) }),
  error: optional(string()),
  waiting_for_model_route: optional(
    open({ attempts: number(), next_attempt_at_ms: number(), code: string(), message: string() }),
  ),
  outputs: optional(array(open({ content: string() }))),
  outputs_truncated: optional(boolean()),
  pending_approvals: optional(array(AskedApproval)),
  pending_questions: optional(array(AskedQuestions)),
  daemon_held: optional(boolean()),
})
export const RunRows = array(RunAnswer)
type Row = Infer<typeof RunAnswer>

export const RunEvents = array(
  open({
    timestamp_ms: number(),
    event: open({
      type: string(),
      error: optional(string()),
      output: optional(open({ content: string() })),
      tool_names: optional(array(string())),
      tool_name: optional(string()),
      outcome: optional(string()),
      attempt: optional(number()),
      code: optional(string()),
      message: optional(string()),
      to: optional(string()),
    }),
  }),
)

const oneLine = (text: string, most = 60): string => {
  const line = visibleLine(text.replaceAll(/\s+/gu, ' ').trim())
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}

export const showRuns = (rows: Row[]): string =>
  rows.length === 0
    ? 'No runs here. Start one: holdfast runs submit SESSION TEXT'
    : rows
        .map(
          ({ run_id, status, session_id, request }) =>
            `${run_id}  ${status.padEnd(25)}  ${visibleLine(session_id)}  ${oneLine(request.text_preview ?? '')}`,
        )
        .join('\n')

export const showRun = (run: Row): string =>
  [
    `${run.run_id}  ${run.status}`,
    `  session  ${visibleLine(run.session_id)}`,
    `  route    ${visibleLine(`${run.request.provider ?? '-'} ${run.request.model ?? ''}`)}`,
    ...(run.request.text_preview === undefined ? [] : [`  input    ${oneLine(run.request.text_preview, 100)}`]),
    ...(run.outputs_truncated === true ? [`  older outputs: ${commandLine('runs events', run.run_id)}`] : []),
    ...(run.outputs ?? []).map(({ content }) => `  output   ${visibleBlock(content, 11)}`),
    ...(run.status === 'completed' && (run.outputs ?? []).length === 0
      ? ['  output   none: the last answer of the model was empty']
      : []),
    ...(run.error === undefined ? [] : [`  error    ${visibleBlock(run.error, 11)}`]),
    ...(run.status === 'failed' ? [`           once more: ${commandLine('runs retry', run.run_id)}`] : []),
    ...(run.daemon_held === true ? ['  waits    for you: the daemon holds and begins no run: holdfast release'] : []),
    ...routeWait(run),
    ...(run.pending_approvals ?? []).flatMap((asked) => showApproval(run.run_id, asked)),
    ...(run.pending_questions ?? []).flatMap((asked) => showQuestions(run.run_id, asked)),
  ].join('\n')

const routeWait = ({ waiting_for_model_route: wait }: Row): string[] =>
  wait === undefined
    ? []
    : [
        `  waits    for the model route; attempt ${wait.attempts + 1} at ` +
          `${new Date(wait.next_attempt_at_ms).toISOString()}`,
        `           ${visibleLine(wait.code)}: ${oneLine(wait.message, 300)}`,
      ]

type ShownEvent = Infer<typeof RunEvents>[number]['event']

/** What an event or step says beside its name. */
const detailOf = (event: ShownEvent): string | undefined => {
  const { error, output, tool_names, tool_name, outcome, attempt, code, message, to } = event
  if (tool_names !== undefined) return tool_names.length === 0 ? undefined : `calls ${tool_names.join(', ')}`
  if (tool_name !== undefined) return `${tool_name}: ${outcome ?? ''}`
  if (attempt !== undefined) return `attempt ${attempt}, ${code ?? ''}: ${message ?? ''}`
  return error ?? output?.content ?? to
}

export const showEvents = (entries: Infer<typeof RunEvents>): string => {
  const start = entries[0]?.timestamp_ms ?? 0
  return entries
    .map(({ timestamp_ms, event }) => {
      const more = detailOf(event)
      return (
        `+${((timestamp_ms - start) / 1000).toFixed(3).padStart(9)} s  ` +
        `${event.type}${more === undefined ? '' : `  ${oneLine(more, 100)}`}`
      )
    })
    .join('\n')
}

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
