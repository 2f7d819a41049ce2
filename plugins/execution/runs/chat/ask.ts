/** Approvals and questions of a run, asked where the conversation is. */
import { count, visibleLine, type Dialogue, type Json } from '../../../../core/plugin.js'
import { grantText } from '../../tools/contract.js'
import { answerTo, numberedAnswer, type TypedAnswer } from '../terminal/answer-text.js'
import { showQuestion, showRequest, type AskedApproval, type AskedQuestions } from '../terminal/request-text.js'
import type { Sheet } from './sheet.js'

/** What a person made of a request: an answer for the run, or that there is none. */
export type Answer<T> = { readonly type: 'given'; readonly value: T } | { readonly type: 'interrupt' | 'end' | 'gone' }

export interface Asking {
  readonly dialogue: Dialogue
  readonly sheet: Sheet
  /** Takes the question back. */
  readonly signal: AbortSignal
}

/** Asks until `read` makes something of what was said: a text in place of it is told. */
const ask = async <T>(
  { dialogue, sheet, signal }: Asking,
  prompt: string,
  read: (text: string) => { readonly value: T } | string,
): Promise<Answer<T>> => {
  for (;;) {
    const said = await dialogue.hear(prompt, { signal })
    if (said === undefined) return { type: 'gone' }
    if (said.type !== 'text') return said
    const answer = read(said.text.trim())
    if (typeof answer !== 'string') return { type: 'given', value: answer.value }
    sheet.line(answer)
  }
}

const howTo = ({ tool_name, grant_rule }: AskedApproval): string =>
  [
    '  y allows it once, n denies it, n REASON also tells the model why.',
    ...(grant_rule === undefined
      ? []
      : [`  a allows it, and in this session from now on ${grantText(tool_name, grant_rule)}.`]),
  ].join('\n')

const readDecision = (request: AskedApproval, text: string): { readonly value: Json } | string => {
  const { id: request_id, grant_rule } = request
  if (/^(?:a|always)$/iu.test(text) && grant_rule !== undefined)
    return { value: { request_id, behavior: 'allow', grant: {} } }
  if (/^(?:y|yes|allow)$/iu.test(text)) return { value: { request_id, behavior: 'allow' } }
  const [all, reason = ''] = /^(?:n|no|deny)(?:[\s,:]+(.*))?$/isu.exec(text) ?? []
  if (all === undefined) return howTo(request)
  return { value: { request_id, behavior: 'deny', ...(reason !== '' && { reason }) } }
}

/** Rows of a request that are shown whole, and of a longer one: its beginning stays on the screen. */
const most = { rows: 40, shown: 16 }

/** The body of `POST /v1/runs/{run_id}/approvals`. */
export const askApproval = async (asking: Asking, request: AskedApproval): Promise<Answer<Json>> => {
  const text = showRequest({ ...request, input_digest: undefined }).join('\n')
  const leftOut = asking.sheet.block(text, most)
  if (leftOut > 0) asking.sheet.line(`  … ${count(leftOut, 'more line')}: s shows all of it.`)
  asking.sheet.line(howTo(request))
  const answer = await ask(asking, `  allow ${visibleLine(request.tool_name)}? `, (said) =>
    leftOut > 0 && /^(?:s|show)$/iu.test(said) ? `${text}\n${howTo(request)}` : readDecision(request, said),
  )
  return answer.type === 'given' ? { type: 'given', value: { resolutions: [answer.value] } } : answer
}

type Question = AskedQuestions['questions'][number]
type QuestionAnswer = TypedAnswer | 'declined'

const readAnswer = (question: Question, text: string): { readonly value: QuestionAnswer } | string => {
  const { options, multi_select } = question
  if (text === '') return '  Type an answer; /decline gives none.'
  if (text === '/decline') return { value: 'declined' }
  if (options.length === 0 || !/^[\d\s,]+$/u.test(text)) return { value: answerTo(question, text) }
  const numbered = numberedAnswer(question, text)
  if ('wrong' in numbered) return `  ${numbered.wrong} is no option: 1 to ${options.length}, or your own words.`
  if (multi_select !== true && numbered.selected_option_ids.length > 1) return '  Choose one.'
  return { value: numbered }
}

const hintOf = ({ options, multi_select }: Question): string => {
  if (options.length === 0) return '  Answer in your own words; /decline gives no answer.'
  const numbers = multi_select === true ? 'Numbers such as 1,2' : 'A number'
  return `  ${numbers}, or your own words; /decline gives no answer.`
}

/** The body of `POST /v1/runs/{run_id}/questions`. */
export const askQuestions = async (asking: Asking, { id, questions }: AskedQuestions): Promise<Answer<Json>> => {
  const answers: TypedAnswer[] = []
  for (const question of questions) {
    asking.sheet.line([...showQuestion(question), hintOf(question)].join('\n'))
    const answer = await ask(asking, '  answer: ', (text) => readAnswer(question, text))
    if (answer.type !== 'given') return answer
    if (answer.value === 'declined')
      return { type: 'given', value: { resolution: { request_id: id, declined: true, answers: [] } } }
    answers.push(answer.value)
  }
  return { type: 'given', value: { resolution: { request_id: id, answers } } }
}
