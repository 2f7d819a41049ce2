/** Pictures and speech by OpenRouter. Pictures are parts of a message, as many a call as its model makes. */
import { fromBase64 } from '../../media/assets/contract.js'
import {
  longTextOf,
  makerErrors,
  nearestShape,
  openAiSpeech,
  readLifted,
  type Lifted,
  type Made,
  type MediaMaker,
  type MediaServer,
  type PictureWish,
} from '../../media/makers/contract.js'
import { dataUrl, isLink, usageIn, type Link } from '../streamed/contract.js'

/** The shapes that its models make. */
const shapes = '1:1 2:3 3:2 3:4 4:3 4:5 5:4 9:16 16:9 21:9'.split(' ')

/** These say something beside a picture; a model that gives pictures alone refuses to be asked for words. */
const saysToo = (model: string): boolean => /^(?:google|openai)\//u.test(model)

const bodyOf = ({ prompt, size, pictures }: PictureWish, { model }: MediaServer): string => {
  const aspect_ratio = nearestShape(shapes, size)
  const given = pictures.map(({ media_type, bytes }) => ({
    type: 'image_url',
    image_url: { url: dataUrl({ media_type, base64: Buffer.from(bytes).toString('base64') }) },
  }))
  return JSON.stringify({
    model,
    messages: [{ role: 'user', content: [{ type: 'text', text: prompt }, ...given] }],
    modalities: saysToo(model) ? ['image', 'text'] : ['image'],
    ...(aspect_ratio !== undefined && { image_config: { aspect_ratio } }),
  })
}

const firstIn = (list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined)

const imagesIn = (value: Link): readonly unknown[] => {
  const choice = firstIn(value['choices'])
  const message = isLink(choice) ? choice['message'] : undefined
  const images = isLink(message) ? message['images'] : undefined
  return Array.isArray(images) ? images : []
}

const unusable = (reason: string) => makerErrors.media_answer_unusable({ details: { reason } })

const pictureOf = async (lifted: Lifted, image: unknown, server: MediaServer): Promise<Uint8Array> => {
  const place = isLink(image) ? image['image_url'] : undefined
  const url = longTextOf(lifted, isLink(place) ? place['url'] : undefined)
  if (url === undefined) throw unusable('it holds no picture')
  if (!url.startsWith('data:')) return server.fetch(url)
  const bytes = await fromBase64(url.slice(url.indexOf(',') + 1))
  if (bytes === undefined) throw unusable('a picture of it is no base64')
  return bytes
}

const make = async (wish: PictureWish, server: MediaServer): Promise<Made> => {
  if (wish.count !== 1)
    throw makerErrors.media_wish_unsupported({ details: { reason: 'they make one picture a call, so count is 1' } })
  const question = { path: '/chat/completions', content_type: 'application/json', body: bodyOf(wish, server) }
  const lifted = readLifted((await server.ask(question)).body)
  const value: Link = isLink(lifted?.value) ? lifted.value : {}
  const image = firstIn(imagesIn(value))
  if (lifted === undefined || image === undefined) throw unusable('it holds no picture')
  return { files: [await pictureOf(lifted, image, server)], usage: usageIn(value['usage'], 'prompt', 'completion') }
}

export const openRouterMedia = (base_url: string): MediaMaker => ({
  provider: 'openrouter',
  base_url,
  headers: ({ api_key }) => (api_key === undefined ? {} : { authorization: `Bearer ${api_key}` }),
  pictures: { model: 'google/gemini-2.5-flash-image', make },
  speech: openAiSpeech('openai/gpt-4o-mini-tts-2025-12-15'),
})
