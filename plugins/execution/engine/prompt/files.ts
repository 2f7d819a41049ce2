/** Puts files into a question, their words or as pictures: they are read then, and the journal only names them. */
import { createCache, Problem } from '../../../../core/plugin.js'
import { fileLine, type Assets, type AttachmentRef } from '../../../media/assets/contract.js'
import type { ModelMessage, ModelRequest, TextPart } from '../../models/contract.js'
import { createFrame } from './frame.js'
import { added, isPicture, mostCharacters } from './mention.js'
import { createPictureRoom, mostPictureMebibytes, newestPictures, type ShownPictures } from './picture-room.js'

/** A question with what its files say. */
export interface ShownRequest {
  readonly request: ModelRequest
  /** To be called when it has been answered: others may have their pictures sent. */
  done(): void
}

export interface ShownFiles {
  /**
   * The same request where it names no file. `images`: the model takes pictures. Waits for room for them until the
   * signal aborts.
   */
  show(request: ModelRequest, how: { readonly images: boolean; readonly signal: AbortSignal }): Promise<ShownRequest>
}

const tag = 'attached_file'
const frame = createFrame([tag])
/** Texts that are kept: the messages that a run goes on to send. */
const mostKept = 64
/** Pictures that are kept, of 4 MiB each at most. */
const mostKeptPictures = 4
/** Most bytes of a character. */
const widest = 4

const hasFile = ({ content }: ModelMessage): boolean =>
  content.some((part) => 'file' in part && part.file !== undefined)

/**
 * How many messages of a conversation are known to have none: its array comes again with more at its end, and what is
 * in it does not change.
 */
const without = new WeakMap<readonly ModelMessage[], number>()

const nameFile = (messages: readonly ModelMessage[]): boolean => {
  const fresh = messages.slice(without.get(messages))
  if (fresh.some(hasFile)) return true
  without.set(messages, messages.length)
  return false
}

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
  `${frame(tag, `${fileLine(file)}\n${text}`)}${note}`

type Places = ShownPictures['places']

const noPictures = 'This model is shown no pictures.'
const noRoom = `It is not shown: newer pictures are, and those of a question have ${mostPictureMebibytes} MiB at most.`
const below = 'It is shown further down.'

/** In base64. */
const picture = async (assets: Assets, { id }: AttachmentRef): Promise<string> => {
  const opened = await assets.open(id, 'raw')
  try {
    return Buffer.concat([...opened.pieces(0, opened.bytes)]).toString('base64')
  } finally {
    await opened.close()
  }
}

/** Undefined where it cannot be read now. */
const orGone = async <T>(reading: Promise<T> | undefined): Promise<T | undefined> => {
  try {
    return await reading
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

/** Undefined where the words that it should have cannot be read now. */
const read = async (assets: Assets | undefined, file: AttachmentRef): Promise<string | undefined> => {
  if (file.text_uri === undefined) return framed(file, 'There are no words in it that could be shown.')
  const words = await orGone(assets && wordsOf(assets, file))
  if (words === undefined) return undefined
  return framed(file, words.text, words.whole ? '' : `\nOnly its first ${mostCharacters} characters are shown.`)
}

export const createFiles = (assets: () => Assets | undefined): ShownFiles => {
  const kept = createCache<string>(mostKept)
  const pictures = createCache<string>(mostKeptPictures)
  const room = createPictureRoom()
  const textOf = async (file: AttachmentRef): Promise<string> => {
    const key = JSON.stringify([file.id, file.text_sha256])
    const text = kept.get(key) ?? (await read(assets(), file))
    if (text === undefined) return framed(file, 'Its words cannot be read now.')
    kept.set(key, text)
    return text
  }
  const imageOf = async (file: AttachmentRef): Promise<TextPart> => {
    const keeper = assets()
    const base64 = pictures.get(file.id) ?? (await orGone(keeper && picture(keeper, file)))
    if (base64 === undefined) return added(framed(file, 'It cannot be read now.'))
    pictures.set(file.id, base64)
    return { ...added(fileLine(file)), image: { media_type: file.media_type, base64 } }
  }
  const partOf =
    (places: Places | undefined) =>
    async (part: TextPart): Promise<TextPart> => {
      const { file } = part
      if (file === undefined) return part
      if (!isPicture(file)) return added(await textOf(file))
      const place = places?.get(file.id)
      if (place === part) return imageOf(file)
      return added(framed(file, places === undefined ? noPictures : place === undefined ? noRoom : below))
    }
  const messageOf = async (message: ModelMessage, places: Places | undefined): Promise<ModelMessage> => {
    if (message.role !== 'user' || !hasFile(message)) return message
    return { ...message, content: await Promise.all(message.content.map(partOf(places))) }
  }
  return {
    async show(request, { images, signal }) {
      if (!nameFile(request.messages)) return { request, done: () => {} }
      const { places, bytes } = images ? newestPictures(request.messages) : { places: undefined, bytes: 0 }
      const done = await room.take(bytes, signal)
      try {
        const messages = await Promise.all(request.messages.map((message) => messageOf(message, places)))
        return { request: { ...request, messages }, done }
      } catch (error) {
        done()
        throw error
      }
    },
  }
}
