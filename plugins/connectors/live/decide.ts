/** Presses and replies of people at a platform: each decides one exact request, or nothing. */
import { Problem, type Log } from '../../../core/plugin.js'
import type { Approvals } from '../../execution/approvals/contract.js'
import type { Questions, UserQuestionResolution } from '../../execution/questions/contract.js'
import { answerTo, numberedAnswer, type Runs } from '../../execution/runs/contract.js'
import type { Question } from '../../execution/sessions/contract.js'
import { askOfToken } from './asks.js'
import type { LiveAct, LiveAnswer, LiveKind, LivePress, LiveReply } from './contract.js'
import { cutTo } from './cut.js'
import { openAsked, outcomeOf, type Asked } from './outcomes.js'
import { messagePlace, type AskRecord, type LiveStore } from './store.js'

/** Longest sentence for one person, in UTF-16 code units; longest answer in own words. */
const [mostSentence, mostAnswer] = [180, 20_000]

export interface DecideParts {
  readonly log: Log
  readonly runs: Runs
  readonly store: LiveStore
  readonly approvals: Approvals
  readonly questions: Questions
  readonly kinds: () => readonly LiveKind[]
  /** What people are called that decide right now, by the message. */
  readonly names: Map<string, string>
}

const answer = (type: LiveAnswer['type'], text: string): LiveAnswer => ({ type, text: cutTo(text, mostSentence) })
const unknown = answer('over', 'This is no longer open.')
const notAllowed = answer('not_allowed', 'You are not allowed to decide on this.')
const operatorAnswers = answer('not_allowed', 'An operator answers this question.')

/** Who may decide is what the settings of the connector say now. */
const mayDecide = ({ kinds }: DecideParts, ask: AskRecord, { actor_id }: LiveAct): boolean => {
  const chat = kinds()
    .find(({ plugin }) => plugin === ask.plugin)
    ?.chat(ask.address)
  return chat !== undefined && chat.connector === ask.connector && chat.approver_ids.includes(actor_id)
}

export const press = async (parts: DecideParts, pressed: LivePress): Promise<LiveAnswer> => {
  const ask = askOfToken(parts.store, pressed.token)
  if (ask === undefined || ask.plugin !== pressed.plugin || ask.connector !== pressed.connector) return unknown
  if (!mayDecide(parts, ask, pressed)) return notAllowed
  const option = ask.buttons.find(({ token }) => token === pressed.token)?.option
  const asked = openAsked(parts.runs, parts.runs.find(ask.run_id), ask)
  if (asked === undefined || option === undefined) return over(parts, ask)
  return asked.subject === 'approval'
    ? settle(parts, { ask, act: pressed }, (actor_id) =>
        parts.approvals.resolve(ask.run_id, {
          resolutions: [{ request_id: ask.request_id, behavior: option === 'allow' ? 'allow' : 'deny' }],
          actor_id,
        }),
      )
    : settleQuestion(parts, { ask, act: pressed }, chosen(asked, option))
}

export const reply = async (parts: DecideParts, replied: LiveReply): Promise<LiveAnswer | undefined> => {
  const { plugin, connector, message_id, text } = replied
  const [ask] = parts.store.asks.list({
    index: 'message',
    group: messagePlace(plugin, connector, message_id),
    limit: 1,
  })
  if (ask === undefined || ask.subject !== 'question') return undefined
  if (ask.decidable !== 'yes' || !mayDecide(parts, ask, replied)) return operatorAnswers
  const asked = openAsked(parts.runs, parts.runs.find(ask.run_id), ask)
  if (asked?.subject !== 'question') return over(parts, ask)
  const answers = answersIn(asked.request.questions, text)
  if (typeof answers === 'string') return answer('invalid', answers)
  return settleQuestion(parts, { ask, act: replied }, { request_id: ask.request_id, answers, declined: false })
}

type Answers = UserQuestionResolution['answers']

/** What a person wrote, question by question, or why it is no answer. */
const answersIn = (questions: readonly Question[], text: string): Answers | string => {
  if (text.trim() === '') return 'Please reply with words.'
  if (text.length > mostAnswer) return 'This answer is too long.'
  const lines = questions.length === 1 ? [text] : text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length !== questions.length) return `Please reply with ${questions.length} lines, one for each question.`
  return questions.map((question, at) => oneAnswer(question, (lines[at] ?? '').trim()))
}

/** By number, by label, or in own words. Of several for a question that takes one, it is own words. */
const oneAnswer = (question: Question, text: string): Answers[number] => {
  const byNumber = question.options.length === 0 ? undefined : numberedAnswer(question, text)
  const found = byNumber === undefined || 'wrong' in byNumber ? answerTo(question, text) : byNumber
  const ids = [...new Set(found.selected_option_ids)]
  const fits = ids.length <= 1 || question.multi_select
  return fits
    ? { ...found, selected_option_ids: ids }
    : { question_id: question.id, selected_option_ids: [], freeform_answer: text }
}

const chosen = (asked: Extract<Asked, { subject: 'question' }>, option: string): UserQuestionResolution => {
  const { id: request_id, questions } = asked.request
  if (option === 'decline') return { request_id, answers: [], declined: true }
  const answers = questions.map(({ id }) => ({ question_id: id, selected_option_ids: [option] }))
  return { request_id, answers, declined: false }
}

interface Deciding {
  readonly ask: AskRecord
  readonly act: LiveAct
}

const settleQuestion = (
  parts: DecideParts,
  deciding: Deciding,
  resolution: UserQuestionResolution,
): Promise<LiveAnswer> =>
  settle(parts, deciding, (actor_id) => parts.questions.resolve(deciding.ask.run_id, { resolution, actor_id }))

/** Looks and decides in one turn of the event loop, so that of two who decide at once one learns of the other. */
const settle = async (
  parts: DecideParts,
  { ask, act }: Deciding,
  resolve: (actor_id: string) => Promise<void>,
): Promise<LiveAnswer> => {
  const { names, log } = parts
  const isFirst = !names.has(ask.ask_id)
  if (isFirst && act.actor_name !== undefined) names.set(ask.ask_id, act.actor_name.slice(0, 200))
  try {
    await resolve(`${act.plugin}:${act.connector}:${act.actor_id}`)
    return answer('decided', outcomeOf(parts.runs, ask, act.actor_name))
  } catch (error) {
    if (!(error instanceof Problem) || error.spec.status >= 500) {
      log.warn('a decision at a platform could not be recorded', { run_id: ask.run_id, error })
      return answer('failed', 'This could not be recorded. Please try again.')
    }
    const isOpen = openAsked(parts.runs, parts.runs.find(ask.run_id), ask) !== undefined
    return isOpen ? answer('invalid', 'This does not answer the question.') : over(parts, ask)
  } finally {
    if (isFirst) names.delete(ask.ask_id)
  }
}

const over = ({ runs, names }: DecideParts, ask: AskRecord): LiveAnswer =>
  answer('over', ask.outcome ?? outcomeOf(runs, ask, names.get(ask.ask_id)))
