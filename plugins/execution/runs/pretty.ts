/** Runs as readable text, with the command that answers what a run waits for. */
import {
  array,
  open,
  optional,
  parse,
  string,
  number,
  visibleBlock,
  visibleLine,
  type Infer,
  type Json,
} from '../../../core/plugin.js'

const Row = open({
  run_id: string(),
  session_id: string(),
  status: string(),
  request: open({ text_preview: optional(string()), provider: optional(string()), model: optional(string()) }),
  error: optional(string()),
  waiting_for_model_route: optional(
    open({ attempts: number(), next_attempt_at_ms: number(), code: string(), message: string() }),
  ),
  outputs: optional(array(open({ content: string() }))),
  pending_approvals: optional(array(open({ id: string(), tool_name: string() }))),
  pending_questions: optional(
    array(
      open({ id: string(), questions: array(open({ question: string(), options: array(open({ label: string() })) })) }),
    ),
  ),
})
type Row = Infer<typeof Row>

const Event = open({
  timestamp_ms: number(),
  event: open({ type: string(), error: optional(string()), output: optional(open({ content: string() })) }),
})

/** Indented JSON, for answers of another shape. */
const plain = (answer: Json): string => JSON.stringify(answer, null, 2)

const oneLine = (text: string, most = 60): string => {
  const line = visibleLine(text.replaceAll(/\s+/gu, ' ').trim())
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}

export const showRuns = (answer: Json): string => {
  const rows = parse(array(Row), answer)
  if (!rows.ok) return plain(answer)
  if (rows.value.length === 0) return 'No runs yet. Start one: holdfast runs submit SESSION TEXT'
  return rows.value
    .map(
      (run) =>
        `${run.run_id}  ${run.status.padEnd(25)}  ${visibleLine(run.session_id)}  ${oneLine(run.request.text_preview ?? '')}`,
    )
    .join('\n')
}

export const showRun = (answer: Json): string => {
  const parsed = parse(Row, answer)
  return parsed.ok ? showRow(parsed.value) : plain(answer)
}

const showRow = (run: Row): string =>
  [
    `${run.run_id}  ${run.status}`,
    `  session  ${visibleLine(run.session_id)}`,
    `  route    ${visibleLine(`${run.request.provider ?? '-'} ${run.request.model ?? ''}`)}`,
    ...(run.request.text_preview === undefined ? [] : [`  input    ${oneLine(run.request.text_preview, 100)}`]),
    ...(run.outputs ?? []).map(({ content }) => `  output   ${visibleBlock(content, 11)}`),
    ...(run.status === 'completed' && (run.outputs ?? []).length === 0
      ? ['  output   none: the last answer of the model was empty']
      : []),
    ...(run.error === undefined ? [] : [`  error    ${visibleBlock(run.error, 11)}`]),
    ...(run.status === 'failed' ? [`           once more: holdfast runs retry ${run.run_id}`] : []),
    ...routeWait(run),
    ...waits(run),
  ].join('\n')

const routeWait = ({ waiting_for_model_route: wait }: Row): string[] =>
  wait === undefined
    ? []
    : [
        `  waits    for the model route; attempt ${wait.attempts + 1} at ` +
          `${new Date(wait.next_attempt_at_ms).toISOString()}`,
        `           ${visibleLine(wait.code)}: ${oneLine(wait.message, 300)}`,
      ]

const waits = (run: Row): string[] => [
  ...(run.pending_approvals ?? []).map(
    ({ id, tool_name }) => `  asks     to use ${visibleLine(tool_name)}: holdfast approvals allow ${run.run_id} ${id}`,
  ),
  ...(run.pending_questions ?? []).flatMap(({ questions }) => [
    ...questions.map(
      ({ question, options }) =>
        `  asks     ${visibleBlock(question, 11)} (${visibleLine(options.map(({ label }) => label).join(', '))})`,
    ),
    `           holdfast questions answer ${run.run_id} ANSWER`,
  ]),
]

export const showEvents = (answer: Json): string => {
  const parsed = parse(array(Event), answer)
  if (!parsed.ok) return plain(answer)
  const start = parsed.value[0]?.timestamp_ms ?? 0
  return parsed.value
    .map(({ timestamp_ms, event }) => {
      const more = event.error ?? event.output?.content
      return (
        `+${((timestamp_ms - start) / 1000).toFixed(3).padStart(9)} s  ` +
        `${event.type}${more === undefined ? '' : `  ${oneLine(more, 100)}`}`
      )
    })
    .join('\n')
}

/** One line for an event of a stream; undefined for those that are not worth one. */
export const showStreamed = (event: string, data: Json): string | undefined => {
  if (event === 'run_updated') {
    const parsed = parse(open({ run: Row }), data)
    return parsed.ok ? showRow(parsed.value.run) : undefined
  }
  return event === 'stream_gap' ? 'Some events were missed.' : undefined
}

/** True if this event says that the run has ended. */
export const saysEnded = (event: string, data: Json): boolean => {
  const parsed = parse(open({ run: Row }), data)
  return (
    event === 'run_updated' &&
    parsed.ok &&
    ['completed', 'failed', 'interrupted', 'cancelled'].includes(parsed.value.run.status)
  )
}
