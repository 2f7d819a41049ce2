/** How those show a file who name it; what is said with files in it, and its plain text. */
import {
  doc,
  integer,
  literal,
  named,
  object,
  optional,
  string,
  tagged,
  visibleLine,
  type Infer,
} from '../../../core/plugin.js'

/** An asset as those show it who name it: as it was when it was named. */
export const AttachmentRef = named(
  'AttachmentRef',
  object({
    id: doc(string(), 'Id of the asset.'),
    media_type: string(),
    uri: string(),
    file_name: optional(string()),
    sha256: optional(string()),
    byte_length: optional(integer({ min: 0 })),
    text_uri: optional(string()),
    text_sha256: optional(string()),
    text_byte_length: optional(integer({ min: 0 })),
    preview_image_uri: optional(string()),
    preview_image_media_type: optional(string()),
    preview_image_sha256: optional(string()),
    preview_image_byte_length: optional(integer({ min: 0 })),
  }),
)
/** The value form of `AttachmentRef`. */
export type AttachmentRef = Infer<typeof AttachmentRef>

const plain = /^[\p{L}\p{M}\p{N} ._+@~()-]*$/u
/** Names are given by others: one that could pass for more than a name is quoted, and none has a bracket of ours. */
const nameIn = (file_name: string): string =>
  plain.test(file_name)
    ? visibleLine(file_name)
    : visibleLine(JSON.stringify(file_name)).replaceAll(/[[<]/gu, '(').replaceAll(/[\]>]/gu, ')')

/** A file in one line of text, as models and readers of plain text are told of it. */
export const fileLine = ({
  file_name = '',
  media_type,
  id,
}: Pick<AttachmentRef, 'file_name' | 'media_type'> & { readonly id?: string }): string =>
  `[file ${nameIn(file_name)}, ${visibleLine(media_type)}${id === undefined ? '' : `, asset ${visibleLine(id)}`}]`

/** One part of what is said: words, or a file. */
export const OutputPart = tagged('type', {
  text: object({ type: literal('text'), text: string() }),
  attachment: object({ type: literal('attachment'), attachment: AttachmentRef }),
})
/** The value form of `OutputPart`. */
export type OutputPart = Infer<typeof OutputPart>

/** A file for whoever sees words alone, and has no use for an id. */
const mention = ({ file_name, media_type }: AttachmentRef): string => fileLine({ file_name, media_type })

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
