/** A file in a conversation: a line that says what it is, as long as nobody asks a model with it. */
import { fileLine, type AttachmentRef } from '../../../media/assets/contract.js'
import type { TextPart } from '../../models/contract.js'

/** Characters of a file that a model is told. */
export const mostCharacters = 12_000

export const mentionOf = (file: AttachmentRef): TextPart => ({ type: 'text', text: fileLine(file), file })

export const isPicture = ({ media_type }: AttachmentRef): boolean => media_type.startsWith('image/')
/** As many bytes of text as have the tokens of a picture, about 1,600. */
const pictureBytes = 6_400

/** About the bytes of what stands in its place when a model is asked; most letters have one. */
export const weighFile = (file: AttachmentRef): number =>
  256 + (isPicture(file) ? pictureBytes : Math.min(file.text_byte_length ?? 0, mostCharacters))

/** What the daemon adds to what was said: the words of a file, or what a hook tells. */
export const added = (text: string): TextPart => ({ type: 'text', text, added: true })
