/** What people are shown of a request, and of what became of it: whole and as it is, or they do not decide on it. */
import { redactedTo, visible, visibleLine } from '../../../core/plugin.js'
import type { ApprovalRequest, UserQuestionRequest } from '../../execution/sessions/contract.js'
import { cutTo, shortened } from './cut.js'

/** A text, and whether it shows everything as it is. */
export interface Shown {
  readonly text: string
  readonly isWhole: boolean
  /** Its end is missing. */
  readonly isCut: boolean
}

/** Room for what is said below a request, in UTF-16 code units. */
const below = 400

export interface ShownParts {
  readonly redact: (text: string) => string
  /** Code units of a message. */
  readonly most: number
}

/** Text of a model as a chat may show it. What was redacted or cut hides something. */
const shown = (text: string, most: number, redact: (text: string) => string): Shown => {
  const safe = visible(redactedTo(text, most + 1, redact))
  if (safe.length <= most) return { text: safe, isWhole: safe === visible(text), isCut: false }
  return { text: shortened(safe, most), isWhole: false, isCut: true }
}

const wordOf = (text: string, most: number): string => cutTo(visibleLine(text), most)

/** A call that waits for permission, with its whole input. */
export const showApproval = (request: ApprovalRequest, { redact, most }: ShownParts): Shown => {
  const { tool_name, input, reason, cwd, input_digest } = request
  const head = [
    `Permission is needed to use ${wordOf(tool_name, 100)}.`,
    ...(cwd === undefined ? [] : [`It works in the folder ${wordOf(cwd, 200)} of the workspace.`]),
    ...(reason === null || reason.trim() === '' ? [] : [wordOf(redact(reason), 300)]),
  ].join('\n')
  const foot = input_digest === undefined ? '' : `\nsha256 ${input_digest.slice(0, 16)}`
  const room = most - below - head.length - foot.length - 2
  const { text, isWhole, isCut } = shown(JSON.stringify(input, null, 2), Math.max(20, room), redact)
  const isNamed = tool_name.length <= 100 && (cwd === undefined || cwd.length <= 200)
  return { text: `${head}\n${text}${foot}`, isWhole: isWhole && isNamed, isCut }
}

/** Questions with their options by number. */
export const showQuestions = ({ questions }: UserQuestionRequest, { redact, most }: ShownParts): Shown => {
  const lines = questions.flatMap(({ question, options, multi_select }) => [
    multi_select ? `${question} (one or more)` : question,
    ...options.map(({ label, description }, at) =>
      visibleLine(description === undefined ? `${at + 1}. ${label}` : `${at + 1}. ${label}: ${description}`),
    ),
  ])
  return shown(lines.join('\n'), most - below, redact)
}

/** Added where nobody decides in the chat. */
export const operatorDecides = 'An operator has to decide on this.'
/** The same where the request cannot be shown as it is. */
export const notShown = 'It cannot be shown here whole and as it is, so an operator has to allow it.'

/** How questions are answered, beside the buttons; `hasButtons` where each option is one. */
export const howToAnswer = ({ questions }: UserQuestionRequest, hasButtons: boolean): string => {
  if (questions.length > 1) return 'Reply to this message with one line for each question, in their order.'
  if (hasButtons) return 'Or reply to this message in your own words.'
  return (questions[0]?.options ?? []).length === 0
    ? 'Reply to this message with the answer.'
    : 'Reply to this message with a number, several as in 1,3 where more than one may be chosen, or in your own words.'
}

/** A label of a button. */
export const labelOf = (text: string, at: number): string => shortened(`${at + 1}. ${visibleLine(text)}`, 60)
