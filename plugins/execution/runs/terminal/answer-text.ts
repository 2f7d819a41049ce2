/** What a person typed as the answer to a question. */
import { open, string, array, type Infer } from '../../../../core/plugin.js'

const Answerable = open({
  id: string(),
  options: array(open({ id: string(), label: string() })),
})
type Answerable = Infer<typeof Answerable>

/** The answer to one question, as the routes take it. */
export type TypedAnswer = { question_id: string; selected_option_ids: string[]; freeform_answer?: string }

const pieces = (text: string): string[] => text.split(',').map((piece) => piece.trim())

/** Labels or ids of options, separated by commas; anything else is text of one's own. */
export const answerTo = ({ id, options }: Answerable, text: string): TypedAnswer => {
  const named = pieces(text).map((piece) => piece.toLowerCase())
  const chosen = options.filter(
    (one) => named.includes(one.id.toLowerCase()) || named.includes(one.label.toLowerCase()),
  )
  return chosen.length === named.length
    ? { question_id: id, selected_option_ids: chosen.map((one) => one.id) }
    : { question_id: id, selected_option_ids: [], freeform_answer: text.trim() }
}

/** Options by number, as they are listed: `2`, or `1,3` of several; else the piece that names none. */
export const numberedAnswer = ({ id, options }: Answerable, text: string): TypedAnswer | { readonly wrong: string } => {
  const ids: string[] = []
  for (const piece of pieces(text)) {
    const option = /^[1-9]\d*$/u.test(piece) ? options[Number(piece) - 1] : undefined
    if (option === undefined) return { wrong: piece }
    ids.push(option.id)
  }
  return { question_id: id, selected_option_ids: ids }
}
