/** `/images/generations`, `/images/edits` and `/audio/speech`, as OpenAI's servers and many others speak them. */
import { fromBase64 } from '../assets/contract.js'
import { isLink, usageIn, type Link } from '../../providers/streamed/contract.js'
import type { Made, MediaMaker, MediaReply, MediaServer, PictureWish, SpeechWish } from './wishes.js'
import { makerErrors } from './errors.js'
import { longTextOf, readLifted, type Lifted } from './lifted-json.js'

const unusable = (reason: string) => makerErrors.media_answer_unusable({ details: { reason } })

/** These give pictures as text always, and refuse to be told so. */
const givesTexts = (model: string): boolean => /(?:^|\/)(?:gpt|chatgpt)-image/u.test(model)

const settingsOf = ({ prompt, size, count }: PictureWish, { model }: MediaServer): Record<string, string | number> => ({
  model,
  prompt,
  n: count,
  ...(size !== undefined && { size }),
  ...(!givesTexts(model) && { response_format: 'b64_json' }),
})

/** The form is put together by the platform: names and boundaries are its matter. */
const formOf = async (wish: PictureWish, server: MediaServer) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(settingsOf(wish, server))) form.append(name, String(value))
  const name = wish.pictures.length === 1 ? 'image' : 'image[]'
  for (const [at, { media_type: type, bytes }] of wish.pictures.entries())
    form.append(
      name,
      new Blob([Buffer.from(bytes)], { type }),
      `picture-${at + 1}.${type === 'image/png' ? 'png' : 'jpg'}`,
    )
  const whole = new Response(form)
  return { content_type: whole.headers.get('content-type') ?? '', body: Buffer.from(await whole.arrayBuffer()) }
}

const askFor = async (wish: PictureWish, server: MediaServer): Promise<MediaReply> =>
  wish.pictures.length === 0
    ? server.ask({
        path: '/images/generations',
        content_type: 'application/json',
        body: JSON.stringify(settingsOf(wish, server)),
      })
    : server.ask({ path: '/images/edits', ...(await formOf(wish, server)) })

const pictureOf = async (lifted: Lifted, one: unknown, server: MediaServer): Promise<Uint8Array> => {
  const { b64_json, url } = isLink(one) ? one : {}
  const text = longTextOf(lifted, b64_json)
  if (text === undefined && typeof url === 'string') return server.fetch(url)
  const bytes = text === undefined ? undefined : await fromBase64(text)
  if (bytes === undefined) throw unusable('a picture of it is no base64')
  return bytes
}

const wordsIn = (data: readonly unknown[]): string | undefined =>
  data
    .filter(isLink)
    .map(({ revised_prompt }) => revised_prompt)
    .find((text) => typeof text === 'string')

/** What an answer to either holds: a list of pictures, or of where they are. */
export const readPictures = async ({ body }: MediaReply, wish: PictureWish, server: MediaServer): Promise<Made> => {
  const lifted = readLifted(body)
  const value: Link = isLink(lifted?.value) ? lifted.value : {}
  const data = value['data']
  if (lifted === undefined || !Array.isArray(data) || data.length === 0) throw unusable('it holds no picture')
  const files: Uint8Array[] = []
  for (const one of data.slice(0, wish.count)) files.push(await pictureOf(lifted, one, server))
  return { files, usage: usageIn(value['usage'], 'input', 'output'), revised_prompt: wordsIn(data) }
}

const makePictures = async (wish: PictureWish, server: MediaServer): Promise<Made> =>
  readPictures(await askFor(wish, server), wish, server)

/** A voice that all of OpenAI's models have; other servers know it as their own one. */
const usualVoice = 'alloy'

const makeSpeech = async (wish: SpeechWish, server: MediaServer): Promise<Made> => {
  const { input, instructions, voice = usualVoice, format, speed } = wish
  const { body, content_type } = await server.ask({
    path: '/audio/speech',
    content_type: 'application/json',
    body: JSON.stringify({ model: server.model, input, voice, response_format: format, instructions, speed }),
  })
  if (/^(?:text\/|application\/json)/iu.test(content_type)) throw unusable('it is text and no sound')
  return { files: [body] }
}

interface Speaker extends Pick<MediaMaker, 'provider' | 'base_url' | 'headers'> {
  /** Models where nobody names any. */
  readonly models?: { readonly pictures: string; readonly speech: string }
}

/** Speech alone, of a provider whose servers speak this protocol. */
export const openAiSpeech = (model?: string): NonNullable<MediaMaker['speech']> => ({
  make: makeSpeech,
  ...(model !== undefined && { model }),
})

/** The maker of a provider whose servers speak this protocol. */
export const openAiMedia = ({ models, ...speaker }: Speaker): MediaMaker => ({
  ...speaker,
  pictures: { make: makePictures, ...(models && { model: models.pictures }) },
  speech: openAiSpeech(models?.speech),
})
