/** An output as it is recorded: its parts and its plain text say the same. */
import { attachmentParts, plainText, type OutputPart } from '../../../media/assets/contract.js'
import type { OutputDraft } from '../../sessions/contract.js'

const isBlank = (text: string): boolean => text.trim() === ''
const says = (part: OutputPart): boolean => part.type === 'attachment' || !isBlank(part.text)

/**
 * Files that come alone are shown among what is said. The content of one with parts is made from these, so that who
 * sees words alone misses nothing.
 */
export const settledOutput = (draft: OutputDraft): OutputDraft => {
  const { content, parts = [], artifacts = [] } = draft
  const said = parts.filter(says)
  const shown = said.length === 0 && isBlank(content) ? attachmentParts(artifacts) : said
  if (shown.length === 0) return draft
  return { ...draft, content: plainText(shown), parts: shown }
}
