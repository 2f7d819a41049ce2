/**
 * The text that a submission carries, and the rules about how it may carry it (runs-5 to runs-7).
 */
import { runErrors } from './errors.js'
import type { InputItem, SubmitInputRequest } from './submission.js'

/** Throws for input in two forms, for none, and for what needs a plugin that is not there. */
export const inputText = ({ content, input_items: items = [], attachments = [] }: SubmitInputRequest): string => {
  if (items.length === 0 && attachments.length === 0) return carried(content)
  if (items.length > 0 && (content !== '' || attachments.length > 0)) {
    throw runErrors.run_input_conflict({
      errors: [{ path: 'body.input_items', rule: 'cannot be combined with content or attachments' }],
    })
  }
  for (const [at, item] of items.entries()) checkItem(item, `body.input_items.${at}`)
  for (const [at, asset] of attachments.entries()) checkAsset(asset, `body.attachments.${at}`)
  const stranger = attachments.length > 0 ? 'body.attachments.0' : strangerIn(items)
  if (stranger !== undefined)
    throw runErrors.assets_unavailable({ errors: [{ path: stranger, rule: 'needs a plugin that keeps assets' }] })
  return carried(items.flatMap((item) => (item.type === 'text' ? [item.text] : [])).join('\n'))
}

const carried = (text: string): string => {
  if (text.trim() === '')
    throw runErrors.run_input_missing({ errors: [{ path: 'body.content', rule: 'must carry input' }] })
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
