/** Files of a submission: those in it are stored, and all are found by their ids when the run is accepted. */
import {
  addInline,
  assetAt,
  attachmentOf,
  placedAt,
  type Assets,
  type AttachmentRef,
} from '../../../media/assets/contract.js'
import type { Boards } from '../../../media/boards/contract.js'
import { runErrors } from '../record/errors.js'
import { replayed } from '../record/receipts.js'
import type { ControlContext } from '../lifecycle/executor.js'
import {
  inputItems,
  partFiles,
  type InlineAsset,
  type InputItem,
  type Submission,
  type SubmitInputRequest,
} from './input.js'

/** True for most: nothing in it is to be looked through. */
const hasNone = ({ input_items, attachments }: SubmitInputRequest): boolean =>
  input_items === undefined && attachments === undefined

/** The same input, its files stored and named by their ids. What was stored before one that is refused stays stored. */
export const keepFiles = async (assets: Assets | undefined, input: SubmitInputRequest): Promise<SubmitInputRequest> => {
  if (assets === undefined || hasNone(input)) return input
  const { given } = partFiles(input)
  if (!given.some(({ file }) => file.type === 'inline_asset')) return input
  /** The same bytes may be stored under another name: the run is told of the one that they were given with. */
  const stored = async (file: InlineAsset, path: string): Promise<InputItem> => {
    const { asset_id } = await addInline(assets.add, file, path)
    return { type: 'asset_reference', asset_id, file_name: file.file_name }
  }
  const items: InputItem[] = []
  for (const { path, item } of inputItems(input))
    items.push(item.type === 'inline_asset' ? await stored(item, path) : item)
  const { attachments: _, ...rest } = input
  return { ...rest, content: '', input_items: items }
}

type BoardItem = Extract<InputItem, { type: 'board_reference' }>

/** The boards that an input names, with their places. Throws `assets_unavailable` where nothing keeps boards. */
const boardsIn = (
  boards: Boards | undefined,
  { input_items = [] }: SubmitInputRequest,
): readonly { readonly path: string; readonly item: BoardItem }[] => {
  const named = input_items.flatMap((item, at) =>
    item.type === 'board_reference' ? [{ path: `body.input_items.${at}`, item }] : [],
  )
  const [first] = named
  if (first === undefined || boards !== undefined) return named
  throw runErrors.assets_unavailable({ errors: [{ path: first.path, rule: 'needs a plugin that keeps it' }] })
}

/** The same input with words in the place of each board, to be checked. Throws where one is not there. */
export const wordBoards = (boards: Boards | undefined, input: SubmitInputRequest): SubmitInputRequest => {
  for (const { path, item } of boardsIn(boards, input)) {
    try {
      boards?.check(item)
    } catch (error) {
      throw placedAt(error, path)
    }
  }
  const worded = input.input_items?.map((item): InputItem =>
    item.type === 'board_reference' ? { type: 'text', text: item.board_id } : item,
  )
  return worded === undefined ? input : { ...input, input_items: worded }
}

/** The same input, each board in it as stored files: its picture and its words. */
const keepBoards = async (
  boards: Boards | undefined,
  input: SubmitInputRequest,
): Promise<Pick<Submission, 'input' | 'named'>> => {
  if (boardsIn(boards, input).length === 0 || boards === undefined) return { input }
  const { input_items: items = [] } = input
  const [kept, named]: [InputItem[], string[]] = [[], []]
  for (const [at, item] of items.entries()) {
    if (item.type !== 'board_reference') {
      kept.push(item)
      continue
    }
    const referred = await boards.refer(item).catch((error: unknown) => {
      throw placedAt(error, `body.input_items.${at}`)
    })
    kept.push(...referred.files.map(({ id }): InputItem => ({ type: 'asset_reference', asset_id: id })))
    named.push(...referred.named)
  }
  return { input: { ...input, input_items: kept }, named }
}

/** The submission with its files stored. A repeated one, and one for a daemon without assets, is left as it is. */
export const storeFiles = async (context: ControlContext, submission: Submission): Promise<Submission> => {
  if (hasNone(submission.input)) return submission
  const { ended_at_ms } = context.sessions.get(submission.session_id)
  if (ended_at_ms !== undefined || replayed(context.store, submission.receipt) !== undefined) return submission
  const input = await keepFiles(context.assets(), submission.input)
  return { ...submission, ...(await keepBoards(context.boards(), input)) }
}

type Given = Pick<Submission, 'input' | 'files'>

/** The same bytes under two names are two files. */
const asGiven = ({ id, file_name }: AttachmentRef): string => JSON.stringify([id, file_name])

/** The files that are named by their ids, and the input without them. Throws `asset_not_found` with its place. */
export const findFiles = <T extends Given>(assets: Assets | undefined, submission: T): T => {
  if (assets === undefined || hasNone(submission.input)) return submission
  const { given, rest } = partFiles(submission.input)
  const files = new Map((submission.files ?? []).map((one) => [asGiven(one), one]))
  for (const { path, file } of given) {
    if (file.type === 'inline_asset') return submission
    const found = attachmentOf(assetAt(assets, file.asset_id, path))
    const named = file.file_name === undefined ? found : { ...found, file_name: file.file_name }
    files.set(asGiven(named), named)
  }
  return { ...submission, input: rest, files: [...files.values()] }
}
