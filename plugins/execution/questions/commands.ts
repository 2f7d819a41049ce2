import {
  array,
  boolean,
  commandErrors,
  commandLine,
  count,
  defineCommand,
  isJsonObject,
  json,
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
import { answerTo, askedFrom, AskedQuestions, askedWhere, numberedAnswer, showQuestions } from '../runs/contract.js'

const Pending = open({ ...askedWhere, request: AskedQuestions })
type Question = AskedQuestions['questions'][number]

const show = (rows: Infer<typeof Pending>[]): string =>
  rows.length === 0
    ? 'No questions wait for an answer.'
    : rows
        .map(({ request, ...where }) => [
          [`question ${request.id}`, ...askedFrom(where)].join(', '),
          ...showQuestions(where.run_id, request),
        ])
        .map((lines) => lines.join('\n'))
        .join('\n\n')

const Run = open({ kind: string(), pending_questions: optional(array(AskedQuestions)) })
const Asking = open({ event: open({ requests: array(AskedQuestions) }) })

const at = (run_id: string): string => `/v1/runs/${encodeURIComponent(run_id)}`

interface Asked {
  readonly request?: AskedQuestions | undefined
  /** Somebody has answered it. */
  readonly isOver: boolean
}

/** What the run waits for; of a question of an agent what it waited for: to say the same again is no fault. */
const askedOf = async (client: Client, run_id: string): Promise<Asked> => {
  const run = parse(Run, await client.get(at(run_id)))
  const request = run.ok ? run.value.pending_questions?.[0] : undefined
  if (!run.ok || request !== undefined || run.value.kind !== 'parent_clarification') return { request, isOver: false }
  const events = parse(array(json()), await client.get(`${at(run_id)}/events`))
  const asking = (events.ok ? events.value : []).map((entry) => parse(Asking, entry)).find(({ ok }) => ok)
  return { request: asking?.ok === true ? asking.value.event.requests[0] : undefined, isOver: true }
}

/** Options by number, one answer. */
const optionsOf = (question: Question, text: string) => {
  const answer = numberedAnswer(question, text)
  if (!('wrong' in answer)) return answer
  const problem = `must name an option from 1 to ${question.options.length}, not "${answer.wrong}"`
  throw commandErrors.flag_invalid({ details: { flag: 'option', problem } })
}

const send = async (
  { client, args, output }: CommandInput,
  resolve: (request: AskedQuestions) => { [key: string]: Json },
): Promise<Json> => {
  const run_id = args['run_id'] ?? ''
  const { request, isOver } = await askedOf(client, run_id)
  const resolution = request === undefined ? { request_id: 'none' } : { request_id: request.id, ...resolve(request) }
  const run = await client.send('POST', `${at(run_id)}/questions`, { resolution })
  return isOver && output !== 'json' && isJsonObject(run) ? { ...run, is_again: true } : run
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
  const { request } = await askedOf(client, run_id)
  return client.send('POST', `${at(run_id)}/questions/${encodeURIComponent(request?.id ?? 'none')}/cancel`)
}

const Ended = open({ run_id: string(), status: string(), is_again: optional(boolean()) })
const showRun = ({ run_id, status, is_again }: Infer<typeof Ended>): string =>
  is_again === true
    ? `${run_id}  ${status}: it was answered so already.\n  ${commandLine('runs get', run_id)}`
    : `${run_id}  ${status}\n  ${commandLine('runs watch', run_id)}`

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
