import {
  array,
  commandErrors,
  commandLine,
  count,
  defineCommand,
  open,
  optional,
  parse,
  string,
  type Client,
  type Command,
  type CommandInput,
  type Infer,
  type Json,
} from '../../../core/plugin.js'
import { answerTo, AskedQuestions, numberedAnswer, showQuestions } from '../runs/contract.js'

const Pending = open({ run_id: string(), request: AskedQuestions })
type Question = AskedQuestions['questions'][number]

const show = (rows: Infer<typeof Pending>[]): string =>
  rows.length === 0
    ? 'No questions wait for an answer.'
    : rows
        .map(({ run_id, request }) => [`question ${request.id}, run ${run_id}`, ...showQuestions(run_id, request)])
        .map((lines) => lines.join('\n'))
        .join('\n\n')

const Run = open({ pending_questions: optional(array(AskedQuestions)) })

/** What the run waits for; undefined if it does not. */
const pendingOf = async (client: Client, run_id: string): Promise<AskedQuestions | undefined> => {
  const run = parse(Run, await client.get(`/v1/runs/${encodeURIComponent(run_id)}`))
  return run.ok ? run.value.pending_questions?.[0] : undefined
}

/** Options by number, one answer. */
const optionsOf = (question: Question, text: string) => {
  const answer = numberedAnswer(question, text)
  if (!('wrong' in answer)) return answer
  const problem = `must name an option from 1 to ${question.options.length}, not "${answer.wrong}"`
  throw commandErrors.flag_invalid({ details: { flag: 'option', problem } })
}

const send = async (
  { client, args }: CommandInput,
  resolve: (request: AskedQuestions) => { [key: string]: Json },
): Promise<Json> => {
  const run_id = args['run_id'] ?? ''
  const pending = await pendingOf(client, run_id)
  const resolution = pending === undefined ? { request_id: 'none' } : { request_id: pending.id, ...resolve(pending) }
  return client.send('POST', `/v1/runs/${encodeURIComponent(run_id)}/questions`, { resolution })
}

const answer = (input: CommandInput): Promise<Json> => {
  const { args, flags } = input
  const { option } = flags
  if (args['answer'] !== undefined && option !== undefined)
    throw commandErrors.flag_invalid({ details: { flag: 'option', problem: 'does not go with <answer>' } })
  return send(input, ({ questions }) => {
    if (typeof option !== 'string') {
      const texts = (args['answer'] ?? '').split('|')
      return { answers: questions.map((question, at) => answerTo(question, texts[at] ?? '')) }
    }
    const numbers = option.split('/')
    if (numbers.length !== questions.length)
      throw commandErrors.flag_invalid({
        details: { flag: 'option', problem: `must answer ${count(questions.length, 'question')}, separated by /` },
      })
    return { answers: questions.map((question, at) => optionsOf(question, numbers[at] ?? '')) }
  })
}

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
const showRun = ({ run_id, status }: Infer<typeof Ended>): string =>
  `${run_id}  ${status}\n  ${commandLine('runs watch', run_id)}`

export const commands: readonly Command[] = [
  defineCommand({
    path: ['questions', 'list'],
    route: 'GET /v1/questions',
    summary: 'Questions that wait for an answer.',
    run: ({ client }) => client.get('/v1/questions'),
    answer: array(Pending),
    show,
  }),
  defineCommand({
    path: ['questions', 'answer'],
    route: 'POST /v1/runs/{run_id}/questions',
    summary: 'Answers by numbers, labels or in your own words; several questions are separated by | or, numbers, by /.',
    args: ['run_id', 'answer?'],
    flags: {
      option: { kind: 'text', summary: 'Number of the option: 2, or 1,3 of several, or 1/2 for two questions.' },
    },
    oneOf: ['<answer>', '--option'],
    run: answer,
    answer: Ended,
    show: showRun,
  }),
  defineCommand({
    path: ['questions', 'decline'],
    summary: 'Declines to answer; the run goes on.',
    args: ['run_id'],
    run: decline,
    answer: Ended,
    show: showRun,
  }),
  defineCommand({
    path: ['questions', 'cancel'],
    summary: 'Cancels the run that asks.',
    args: ['run_id'],
    run: cancel,
    answer: Ended,
    show: showRun,
  }),
]
