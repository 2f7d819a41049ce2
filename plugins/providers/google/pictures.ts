/** Pictures by the Gemini protocol: parts of an answer, one picture a call. */
import { fromBase64 } from '../../media/assets/contract.js'
import {
  longTextOf,
  makerErrors,
  nearestShape,
  readLifted,
  type Lifted,
  type Made,
  type MediaMaker,
  type MediaServer,
  type PictureWish,
} from '../../media/makers/contract.js'
import { isLink, type Link } from '../streamed/contract.js'
import { baseUrl, resource } from './protocol.js'
import { tell, usageIn } from './usage.js'

/** The shapes that its models make. */
const shapes = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'] as const

const bodyOf = ({ prompt, size, pictures }: PictureWish): string => {
  const aspectRatio = nearestShape(shapes, size)
  const given = pictures.map(({ media_type: mimeType, bytes }) => ({
    inlineData: { mimeType, data: Buffer.from(bytes).toString('base64') },
  }))
  return JSON.stringify({
    contents: [{ role: 'user', parts: [{ text: prompt }, ...given] }],
    generationConfig: {
      responseModalities: ['TEXT', 'IMAGE'],
      ...(aspectRatio !== undefined && { imageConfig: { aspectRatio } }),
    },
  })
}

const partsIn = ({ candidates }: Link): readonly Link[] => {
  const [first]: readonly unknown[] = Array.isArray(candidates) ? candidates : []
  const content = isLink(first) ? first['content'] : undefined
  const parts = isLink(content) ? content['parts'] : undefined
  return Array.isArray(parts) ? parts.filter(isLink) : []
}

const isWord = (value: unknown): value is string => typeof value === 'string' && /^[A-Z_]{1,40}$/u.test(value)

/** Why it made none, as far as a word of the protocol says. */
const reasonIn = ({ candidates, promptFeedback }: Link): string => {
  const [first]: readonly unknown[] = Array.isArray(candidates) ? candidates : []
  const words = [
    isLink(promptFeedback) ? promptFeedback['blockReason'] : undefined,
    isLink(first) ? first['finishReason'] : undefined,
  ]
  const word = words.filter(isWord).find((one) => one !== 'STOP')
  return word === undefined ? 'it holds no picture' : `it holds no picture and ended with ${word}`
}

const filesIn = async (lifted: Lifted, value: Link): Promise<Uint8Array[]> => {
  const files: Uint8Array[] = []
  for (const { inlineData, thought } of partsIn(value)) {
    const text = thought !== true && isLink(inlineData) ? longTextOf(lifted, inlineData['data']) : undefined
    const bytes = text === undefined ? undefined : await fromBase64(text)
    if (bytes !== undefined) files.push(bytes)
  }
  return files
}

const make = async (wish: PictureWish, server: MediaServer): Promise<Made> => {
  if (wish.count !== 1)
    throw makerErrors.media_wish_unsupported({ details: { reason: 'they make one picture a call, so count is 1' } })
  const path = `/${resource(server.model)}:generateContent`
  const { body } = await server.ask({ path, content_type: 'application/json', body: bodyOf(wish) })
  const lifted = readLifted(body)
  const value: Link = isLink(lifted?.value) ? lifted.value : {}
  const files = lifted === undefined ? [] : await filesIn(lifted, value)
  if (files.length === 0) throw makerErrors.media_answer_unusable({ details: { reason: reasonIn(value) } })
  const used = tell(undefined, value['usageMetadata'])
  return { files: files.slice(0, 1), usage: used && usageIn(used) }
}

export const geminiPictures: MediaMaker = {
  provider: 'google',
  base_url: baseUrl,
  headers: ({ api_key }) => (api_key === undefined ? {} : { 'x-goog-api-key': api_key }),
  pictures: { model: 'gemini-2.5-flash-image', make },
}
