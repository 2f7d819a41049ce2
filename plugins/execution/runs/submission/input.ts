/** What a run is told (runs-5 to runs-16). */
import { mostAddress, ReplyHandle, ReplyTargetRequest } from '../../deliveries/contract.js'
import {
  array,
  defaulted,
  doc,
  having,
  jsonObject,
  literal,
  named,
  object,
  optional,
  string,
  tagged,
  type Infer,
} from '../../../../core/plugin.js'
import type { AttachmentRef } from '../../../media/assets/contract.js'
import { GenerationSettings } from '../../models/contract.js'
import { Isolation, type InterceptedNote } from '../../sessions/contract.js'
import { runErrors } from '../record/errors.js'
import type { RunOrigin } from '../record/origin.js'
import type { ReceiptKey } from '../record/receipts.js'
import { CompletionRequirement, type RunKind } from '../record/run-record.js'

/** Not blank, and nothing that would lead elsewhere or hide. */
const namePattern = '^[^/\\\\\\x00-\\x1f\\x7f-\\x9f]*[^/\\\\\\s\\x00-\\x1f\\x7f-\\x9f][^/\\\\\\x00-\\x1f\\x7f-\\x9f]*$'

const id = () => string({ min: 1, max: 400 })
const assetFields = {
  file_name: doc(string({ max: 400 }), 'Must not be blank.'),
  media_type: doc(string({ min: 1, max: 200 }), 'The media type of the content.'),
  content_base64: doc(string(), 'Must not be empty.'),
}
/** A file in the request itself (runs-7). */
export const InlineAsset = named('InlineAsset', object(assetFields))
/** The value form of `InlineAsset`. */
export type InlineAsset = Infer<typeof InlineAsset>
/** One piece of input (runs-5 to runs-7). */
export const InputItem = tagged('type', {
  text: object({ type: literal('text'), text: string() }),
  asset_reference: object({
    type: literal('asset_reference'),
    asset_id: id(),
    file_name: optional(
      doc(
        string({
          min: 1,
          max: 255,
          pattern: namePattern,
          told: 'must not be blank, and must hold no slash, backslash or control character',
        }),
        'What this run calls the file; the name that it is stored under when absent.',
      ),
    ),
  }),
  board_reference: object({
    type: literal('board_reference'),
    board_id: id(),
    revision_id: optional(doc(id(), 'The latest revision when absent.')),
  }),
  inline_asset: object({ type: literal('inline_asset'), ...assetFields }),
})
/** The value form of `InputItem`. */
export type InputItem = Infer<typeof InputItem>

/** Its fields, for the bodies of routes that add to them. */
export const submitFields = {
  provider: optional(
    doc(
      string({ min: 1, max: 200 }),
      "Route for this run; the session's route policy when absent, and without one the default route.",
    ),
  ),
  source_plugin: optional(doc(string({ min: 1, max: 200 }), 'The plugin that sent it.')),
  source_kind: optional(doc(string({ min: 1, max: 200 }), 'Kind of its source.')),
  actor_id: optional(doc(string({ min: 1, max: 200 }), 'Id of who sent the input, as its sender gave it.')),
  content: defaulted(doc(string(), 'What the model is told.'), ''),
  input_items: optional(
    doc(
      array(InputItem, { max: 100 }),
      'In place of content and attachments: texts, files of the request, stored ones, and boards.',
    ),
  ),
  attachments: optional(doc(array(InlineAsset, { max: 100 }), 'Files of the request; they are stored as assets.')),
  generation: optional(GenerationSettings),
  completion_requirements: optional(
    doc(array(CompletionRequirement, { max: 20 }), 'What must hold before the run may complete; judged by the daemon.'),
  ),
  isolation: optional(
    doc(
      Isolation,
      'Whether the run works in the workspace or in a git worktree of its own; what its session says when absent.',
    ),
  ),
  metadata: optional(doc(jsonObject(), 'Kept with the run and shown as input_metadata.')),
  binding_keys: optional(
    doc(
      array(string({ max: 1000 }), { max: 100 }),
      'Keys that belong to this session from now on, trimmed; a key that belongs to another session is refused.',
    ),
  ),
  reply_targets: optional(
    doc(
      array(having('type', ReplyTargetRequest, ReplyHandle), { max: 100 }),
      "Where the outputs of this run go, in place of the session's targets.",
    ),
  ),
  reply_plugin: optional(
    doc(string({ min: 1, max: 100 }), 'With reply_address: a target that comes before reply_targets.'),
  ),
  reply_address: optional(string({ min: 1, max: mostAddress })),
}
/** What a run is told, as a schedule or another owner of submissions keeps it. */
export const SubmitInputRequest = named('SubmitInputRequest', object(submitFields))
/** The value form of `SubmitInputRequest`. */
export type SubmitInputRequest = Infer<typeof SubmitInputRequest>

/** A run to be accepted, by a route or by a plugin. */
export interface Submission {
  readonly session_id: string
  readonly input: SubmitInputRequest
  /** `input` when absent. */
  readonly kind?: RunKind
  /** What made the run, if that is no caller. */
  readonly origin?: RunOrigin
  /** A repeated submission with this key gives the run of the first. */
  readonly receipt?: ReceiptKey
  /** True to refuse with `session_busy` instead of queueing. */
  readonly alone?: boolean
  /** True for a run that stays queued until its session is woken: one of very many that are submitted at once. */
  readonly patient?: boolean
  /** The ended run that this one repeats. */
  readonly retry_of?: string
  /** Model answers, at most, where that is fewer than any run has. */
  readonly max_turns?: number
  /** Its outputs go nowhere, whatever its session says. */
  readonly targets?: 'none'
  /** What lists show of what it is told; the beginning of that when absent. */
  readonly preview?: string
  /** Stored files that the run is told of, beside those that `input` names. */
  readonly files?: readonly AttachmentRef[]
  /** Ids of further assets that the run names. */
  readonly named?: readonly string[]
  /** What interceptors made of what it is told: of `prepare`. */
  readonly intercepted?: InterceptedNote
}

type Form = Pick<SubmitInputRequest, 'content' | 'input_items' | 'attachments'>

/** Throws for input in two forms, and for a file without a name or content. */
const checkForm = ({ content, input_items: items = [], attachments = [] }: Form): void => {
  if (items.length > 0 && (content !== '' || attachments.length > 0))
    throw runErrors.run_input_conflict({
      errors: [{ path: 'body.input_items', rule: 'cannot be combined with content or attachments' }],
    })
  for (const [at, item] of items.entries()) checkItem(item, `body.input_items.${at}`)
  for (const [at, asset] of attachments.entries()) checkAsset(asset, `body.attachments.${at}`)
}

/** Throws for input in two forms, for none, and for files that are not stored: `files` are those that are. */
export const inputText = (input: SubmitInputRequest, files: readonly AttachmentRef[] = []): string => {
  const { content, input_items: items = [], attachments = [] } = input
  checkForm(input)
  const stranger = attachments.length > 0 ? 'body.attachments.0' : strangerIn(items)
  if (stranger !== undefined)
    throw runErrors.assets_unavailable({ errors: [{ path: stranger, rule: 'needs a plugin that keeps it' }] })
  const text = items.length === 0 ? content : wordsIn(items)
  return files.length > 0 && text.trim() === '' ? '' : carried(text)
}

const wordsIn = (items: readonly InputItem[]): string =>
  items.flatMap((item) => (item.type === 'text' ? [item.text] : [])).join('\n')

/** A file of a request, or the id of a stored one, and where the request has it. */
export interface GivenFile {
  readonly path: string
  readonly file: Extract<InputItem, { type: 'inline_asset' | 'asset_reference' }>
}

/** The files that a submission names, and what it is without them. Throws as `inputText`. */
export const partFiles = (
  input: SubmitInputRequest,
): { readonly given: GivenFile[]; readonly rest: SubmitInputRequest } => {
  checkForm(input)
  const { input_items: items = [], attachments = [], ...rest } = input
  const given = items.flatMap((file, at): GivenFile[] =>
    file.type === 'inline_asset' || file.type === 'asset_reference' ? [{ path: `body.input_items.${at}`, file }] : [],
  )
  const attached = attachments.map((file, at): GivenFile => ({
    path: `body.attachments.${at}`,
    file: { type: 'inline_asset', ...file },
  }))
  const kept = items.filter(({ type }) => type === 'text' || type === 'board_reference')
  return { given: [...given, ...attached], rest: { ...rest, ...(kept.length > 0 && { input_items: kept }) } }
}

/** What a submission is told as items in their order, and where the request has each. */
export const inputItems = ({ content, input_items = [], attachments = [] }: Form): readonly PlacedItem[] => [
  ...(content.trim() === '' ? [] : [{ path: 'body.content', item: { type: 'text' as const, text: content } }]),
  ...input_items.map((item, at) => ({ path: `body.input_items.${at}`, item })),
  ...attachments.map((file, at) => ({
    path: `body.attachments.${at}`,
    item: { type: 'inline_asset' as const, ...file },
  })),
]
interface PlacedItem {
  readonly path: string
  readonly item: InputItem
}

/** Most bytes of a request that holds a submission, and those of them that are its files. */
export const mostSubmissionBytes = 25_165_824
export const fileBytesOf = ({ attachments = [], input_items = [] }: Partial<Form>): number =>
  [...attachments, ...input_items.filter((item) => item.type === 'inline_asset')].reduce(
    (sum, { content_base64 }) => sum + content_base64.length,
    0,
  )

const carried = (text: string): string => {
  if (text.trim() === '')
    throw runErrors.run_input_missing({
      errors: [{ path: 'body.content', rule: 'must carry input where no file does' }],
    })
  return text
}

const checkItem = (item: InputItem, path: string): void => {
  if (item.type === 'inline_asset') checkAsset(item, path)
}

const checkAsset = (asset: { readonly file_name: string; readonly content_base64: string }, path: string): void => {
  const empty =
    asset.file_name.trim() === '' ? 'file_name' : asset.content_base64.trim() === '' ? 'content_base64' : undefined
  if (empty !== undefined)
    throw runErrors.inline_asset_empty({ errors: [{ path: `${path}.${empty}`, rule: 'must not be empty' }] })
}

const strangerIn = (items: readonly InputItem[]): string | undefined => {
  const at = items.findIndex(({ type }) => type !== 'text')
  return at < 0 ? undefined : `body.input_items.${at}`
}
