/** Puts the words of files into a question: they are read when a model is asked, and the journal only names them. */
import { createCache, Problem } from '../../../../core/plugin.js'
import type { Assets, AttachmentRef } from '../../../media/assets/contract.js'
import type { ModelMessage, ModelRequest, TextPart } from '../../models/contract.js'
import { createFrame } from './frame.js'
import { lineOf, mostCharacters } from './mention.js'

export interface ShownFiles {
  /** The same request where it names no file. Never rejects. */
  show(request: ModelRequest): Promise<ModelRequest>
}

const tag = 'attached_file'
const frame = createFrame([tag])
/** Texts that are kept: the messages that a run goes on to send. */
const mostKept = 64
/** Most bytes of a character. */
const widest = 4

const hasFile = ({ content }: ModelMessage): boolean =>
  content.some((part) => 'file' in part && part.file !== undefined)

const wordsOf = async (assets: Assets, { id }: AttachmentRef): Promise<{ text: string; whole: boolean }> => {
  const opened = await assets.open(id, 'text')
  try {
    const bytes = Buffer.concat([...opened.pieces(0, Math.min(opened.bytes, mostCharacters * widest))])
    const characters = Array.from(new TextDecoder().decode(bytes)).slice(0, mostCharacters)
    const text = characters.join('')
    return { text, whole: Buffer.byteLength(text) === opened.bytes }
  } finally {
    await opened.close()
  }
}

const framed = (file: AttachmentRef, text: string, note = ''): string =>
  `${frame(tag, `${lineOf(file)}\n${text}`)}${note}`

/** Undefined where the words that it should have cannot be read now. */
const read = async (assets: Assets | undefined, file: AttachmentRef): Promise<string | undefined> => {
  if (file.text_uri === undefined) return framed(file, 'There are no words in it that could be shown.')
  if (assets === undefined) return undefined
  try {
    const { text, whole } = await wordsOf(assets, file)
    return framed(file, text, whole ? '' : `\nOnly its first ${mostCharacters} characters are shown.`)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return undefined
  }
}

export const createFiles = (assets: () => Assets | undefined): ShownFiles => {
  const kept = createCache<string>(mostKept)
  const textOf = async (file: AttachmentRef): Promise<string> => {
    const key = JSON.stringify([file.id, file.text_sha256])
    const text = kept.get(key) ?? (await read(assets(), file))
    if (text === undefined) return framed(file, 'Its words cannot be read now.')
    kept.set(key, text)
    return text
  }
  const partOf = async (part: TextPart): Promise<TextPart> =>
    part.file === undefined ? part : { type: 'text', text: await textOf(part.file) }
  const messageOf = async (message: ModelMessage): Promise<ModelMessage> => {
    if (message.role !== 'user' || !hasFile(message)) return message
    return { role: 'user', content: await Promise.all(message.content.map(partOf)) }
  }
  return {
    async show(request) {
      if (!request.messages.some(hasFile)) return request
      return { ...request, messages: await Promise.all(request.messages.map(messageOf)) }
    },
  }
}
