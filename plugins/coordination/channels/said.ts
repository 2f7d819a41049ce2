/** What a request says in its items: its files are stored, boards become files (channels-19). */
import { array, defaulted, doc, object, optional, string, type Infer } from '../../../core/plugin.js'
import { InputItem, inputItems, runErrors, type Runs } from '../../execution/runs/contract.js'
import {
  assetAt,
  attachmentOf,
  attachmentParts,
  placedAt,
  plainText,
  type Assets,
  type OutputPart,
} from '../../media/assets/contract.js'
import type { Boards } from '../../media/boards/contract.js'
import { mostMemberId } from './members.js'
import { mostText } from './posting.js'
import type { MessageOutput } from './record/record.js'
import { mostAddressed } from './record/addressing.js'
import { refuse } from './refuse.js'
import { Metadata } from './route-fields.js'

const MessageId = string({ max: 200 })
export const MessagePost = object({
  sender_actor_id: doc(string({ max: mostMemberId }), 'Who says it: a member, by its actor_id or member_id.'),
  sender_display_name: optional(
    doc(string({ max: 200 }), 'What the sender is called; for a session what the member is called when absent.'),
  ),
  sender_session_id: optional(doc(string({ max: 200 }), 'Required where a session says it.')),
  thread_root_message_id: optional(doc(MessageId, 'The thread that it belongs to; it opens one when absent.')),
  reply_to_message_id: optional(doc(MessageId, 'The message that it answers, in whose thread it is then.')),
  addressed_member_ids: optional(
    doc(array(string({ max: mostMemberId }), { max: mostAddressed }), 'Who is asked first, in order.'),
  ),
  input_items: optional(
    doc(array(InputItem, { max: 100 }), 'In place of content: texts, files of the request, stored ones, and boards.'),
  ),
  content: defaulted(doc(string({ max: mostText }), 'What is said where there are no input_items.'), ''),
  metadata: optional(doc(Metadata, 'Kept as it is.')),
})
export type MessagePost = Infer<typeof MessagePost>

export interface SaidParts {
  readonly runs: Pick<Runs, 'keepFiles'>
  readonly assets: () => Assets | undefined
  readonly boards: () => Boards | undefined
}

type Placed = ReturnType<typeof inputItems>[number]

const unavailable = (path: string) =>
  runErrors.assets_unavailable({ errors: [{ path, rule: 'needs a plugin that keeps it' }] })

/** People say nothing with boards: whoever sends one can draw on it (channels-19). */
const checkItems = ({ input_items = [], sender_session_id }: MessagePost): void => {
  let left = mostText
  for (const [at, item] of input_items.entries()) {
    if (item.type === 'board_reference' && sender_session_id === undefined)
      refuse(`input_items.${at}`, 'must be no board where no session says it')
    if (item.type === 'text') left -= item.text.length
  }
  if (left < 0) refuse('input_items', `must have at most ${mostText} characters of text`)
}

const partsOf = async ({ assets, boards }: SaidParts, { path, item }: Placed): Promise<OutputPart[]> => {
  if (item.type === 'text') return item.text.trim() === '' ? [] : [{ type: 'text', text: item.text }]
  const [files, surfaces] = [assets(), boards()]
  if (files === undefined || item.type === 'inline_asset') throw unavailable(path)
  if (item.type === 'board_reference') {
    if (surfaces === undefined) throw unavailable(path)
    const referred = await surfaces.refer(item).catch((error: unknown) => {
      throw placedAt(error, path)
    })
    return attachmentParts(referred.files)
  }
  const found = attachmentOf(assetAt(files, item.asset_id, path))
  return attachmentParts([item.file_name === undefined ? found : { ...found, file_name: item.file_name }])
}

/** Rejects with the problems of files and boards; what was stored before stays an asset that nothing names. */
export const saidIn = async (parts: SaidParts, body: MessagePost): Promise<MessageOutput> => {
  const { input_items = [], content } = body
  if (input_items.length === 0) return { content: content.trim(), parts: [], artifacts: [] }
  checkItems(body)
  const kept = await parts.runs.keepFiles({ content: '', input_items })
  const said: OutputPart[] = []
  for (const placed of inputItems(kept)) said.push(...(await partsOf(parts, placed)))
  return { content: plainText(said), parts: said, artifacts: [] }
}
