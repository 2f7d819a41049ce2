/** Messages with buttons, and their names (slack-32, slack-33). */
import type { JsonObject } from '../../../../core/plugin.js'
import type { LiveMessage } from '../../live/contract.js'
import { escapedToEdit, escapeText, mostEdited } from '../api/mrkdwn.js'

/** Before the number of a button in its `action_id`. */
export const buttonPrefix = 'holdfast_button_'
/** The `action_id` of the field for an answer in words. */
export const answerAction = 'holdfast_answer'
/** Longest text of a section, which is the shortest of all that a message is made of. */
export const mostText = 3000
/** Buttons in one row. */
const mostInRow = 5

const rowsOf = ({ buttons }: LiveMessage): JsonObject[] => {
  const elements = buttons.map(({ label, token }, at): JsonObject => ({
    type: 'button',
    action_id: `${buttonPrefix}${at}`,
    value: token,
    text: { type: 'plain_text', text: label, emoji: false },
  }))
  const rows: JsonObject[] = []
  for (let at = 0; at < elements.length; at += mostInRow)
    rows.push({ type: 'actions', elements: elements.slice(at, at + mostInRow) })
  return rows
}

/** A field for words: what is typed there comes as if it were a button. */
const answerField: JsonObject = {
  type: 'input',
  dispatch_action: true,
  label: { type: 'plain_text', text: 'Answer', emoji: false },
  element: {
    type: 'plain_text_input',
    action_id: answerAction,
    dispatch_action_config: { trigger_actions_on: ['on_enter_pressed'] },
  },
}

/** Words and blocks: without buttons and questions there are none, and those that there were go. */
export const shownMessage = (message: LiveMessage): { readonly text: string; readonly blocks: JsonObject[] } => {
  const { purpose, text, asks_for_reply = false } = message
  const below = [...rowsOf(message), ...(asks_for_reply ? [answerField] : [])]
  const section: JsonObject = { type: 'section', text: { type: 'plain_text', text, emoji: false } }
  // What is too long for an edit as it is sent is whole in its section.
  const isLong = purpose === 'request' && escapeText(text).length > mostEdited
  return { text: escapedToEdit(text), blocks: below.length === 0 && !isLong ? [] : [section, ...below] }
}
