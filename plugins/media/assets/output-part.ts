/** What is said with files in it, and its plain text. */
import { literal, object, string, tagged, type Infer } from '../../../core/plugin.js'
import { AttachmentRef, fileLine } from './attachment.js'

/** One part of what is said: words, or a file. */
export const OutputPart = tagged('type', {
  text: object({ type: literal('text'), text: string() }),
  attachment: object({ type: literal('attachment'), attachment: AttachmentRef }),
})
/** The value form of `OutputPart`. */
export type OutputPart = Infer<typeof OutputPart>

/** A file in one line, for whoever sees words alone. */
const mention = ({ file_name = '', media_type }: AttachmentRef): string => fileLine({ file_name, media_type })

/** The plain text of parts: words without the space around them and a line for each file, in their order. */
export const plainText = (parts: readonly OutputPart[]): string =>
  parts
    .map((part) => (part.type === 'text' ? part.text.trim() : mention(part.attachment)))
    .filter((line) => line !== '')
    .join('\n')

/** Files as parts. */
export const attachmentParts = (files: readonly AttachmentRef[]): OutputPart[] =>
  files.map((attachment) => ({ type: 'attachment', attachment }))

/** The files in parts, each once. */
export const filesIn = (parts: readonly OutputPart[]): AttachmentRef[] => [
  ...new Map(
    parts.flatMap((part) => (part.type === 'attachment' ? [[part.attachment.id, part.attachment] as const] : [])),
  ).values(),
]
