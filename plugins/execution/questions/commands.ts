import {
  array,
  boolean,
  defineCommand,
  open,
  optional,
  parse,
  string,
  visibleBlock,
  visibleLine,
  type Client,
  type Command,
  type CommandInput,
  type Infer,
  type Json,
} from '../../../core/plugin.js'

const Question = open({
  id: string(),
  question: string(),
  options: array(open({ id: string(), label: string() })),
  multi_select: boolean(),
})
const Request = open({ id: string(), questions: array(Question) })
const Pending = open({ run_id: string(), request: Request })
type Question = Infer<typeof Question>
type Request = Infer<typeof Request>

const show = (answer: Json): string => {
  const rows = parse(array(Pending), answer)
  if (!rows.ok) return JSON.stringify(answer, null, 2)
  if (rows.value.length === 0) return 'No questions wait for an answer.'
  return rows.value
    .map(({ run_id, request }) =>
      [
        ...request.questions.map(
          ({ question, options }) =>
            `${visibleBlock(question, 4)}  (${visibleLine(options.map(({ label }) => label).join(', '))})`,
        ),
        `  holdfast questions answer ${run_id} ` +
          `"${request.questions.map(({ options }) => options[0]?.label ?? 'TEXT').join(' | ')}"`,
        `  holdfast questions decline ${run_id}`,
      ].join('\n'),
    )
    .join('\n')
}

const Run = open({ pending_questions: optional(array(Request)) })

/** What the run waits for; undefined if it does not. */
const pendingOf = async (client: Client, run_id: string): Promise<Request | undefined> => {
  const run = parse(Run, await client.get(`/v1/runs/${encodeURIComponent(run_id)}`))
  return run.ok ? run.value.pending_questions?.[0] : undefined
}

/** One answer: labels or ids of options, separated by commas; anything else is text of one's own. */
const answerTo = (question: Question, text: string) => {
  const named = text.split(',').map((piece) => piece.trim().toLowerCase())
  const chosen = question.options.filter(
    ({ id, label }) => named.includes(id.toLowerCase()) || named.includes(label.toLowerCase()),
  )
  return chosen.length === named.length
    ? { question_id: question.id, selected_option_ids: chosen.map(({ id }) => id) }
    : { question_id: question.id, selected_option_ids: [], freeform_answer: text.trim() }
}

const send = async (
  { client, args }: CommandInput,
  resolve: (request: Request) => { [key: string]: Json },
): Promise<Json> => {
  const run_id = args['run_id'] ?? ''
  const pending = await pendingOf(client, run_id)
  const resolution = pending === undefined ? { request_id: 'none' } : { request_id: pending.id, ...resolve(pending) }
  return client.send('POST', `/v1/runs/${encodeURIComponent(run_id)}/questions`, { resolution })
}

const answer = (input: CommandInput): Promise<Json> =>
  send(input, (request) => {
    const texts = (input.args['answer'] ?? '').split('|')
    return { answers: request.questions.map((question, at) => answerTo(question, texts[at] ?? '')) }
  })

const decline = (input: CommandInput): Promise<Json> => send(input, () => ({ declined: true, answers: [] }))

const cancel = async ({ client, args }: CommandInput): Promise<Json> => {
  const run_id = args['run_id'] ?? ''
  const pending = await pendingOf(client, run_id)
  return client.send(
    'POST',
    `/v1/runs/${encodeURIComponent(run_id)}/questions/${encodeURIComponent(pending?.id ?? 'none')}/cancel`,
  )
}

const Ended = open({ run_id: string(), status: string() })
const showRun = (run: Json): string => {
  const parsed = parse(Ended, run)
  return parsed.ok
    ? `${parsed.value.run_id}  ${parsed.value.status}\n  holdfast runs watch ${parsed.value.run_id}`
    : JSON.stringify(run, null, 2)
}

export const questionCommands: readonly Command[] = [
  defineCommand({
    path: ['questions', 'list'],
    summary: 'Questions that wait for an answer.',
    run: ({ client }) => client.get('/v1/questions'),
    show,
  }),
  defineCommand({
    path: ['questions', 'answer'],
    summary: 'Answers by labels or in your own words; several questions are separated by |.',
    args: ['run_id', 'answer'],
    run: answer,
    show: showRun,
  }),
  defineCommand({
    path: ['questions', 'decline'],
    summary: 'Declines to answer; the run goes on.',
    args: ['run_id'],
    run: decline,
    show: showRun,
  }),
  defineCommand({
    path: ['questions', 'cancel'],
    summary: 'Cancels the run that asks.',
    args: ['run_id'],
    run: cancel,
    show: showRun,
  }),
]
