/** Pictures by xAI's servers: they answer as OpenAI's do, and are asked in JSON for shapes. */
import { nearestShape, readPictures, type MediaMaker, type PictureWish } from '../../media/makers/contract.js'
import { dataUrl } from '../streamed/contract.js'
import { xAi } from './vendor.js'

/** The shapes that its models make. */
const shapes = '1:1 3:4 4:3 9:16 16:9 2:3 3:2 9:19.5 19.5:9 9:20 20:9 1:2 2:1'.split(' ')

/** One picture has a name of its own. */
const givenIn = ({ pictures }: PictureWish): object => {
  const given = pictures.map(({ media_type, bytes }) => ({
    type: 'image_url',
    url: dataUrl({ media_type, base64: Buffer.from(bytes).toString('base64') }),
  }))
  return given.length > 1 ? { images: given } : { image: given[0] }
}

const bodyOf = (wish: PictureWish, model: string): string =>
  JSON.stringify({
    model,
    prompt: wish.prompt,
    n: wish.count,
    aspect_ratio: nearestShape(shapes, wish.size),
    response_format: 'b64_json',
    ...givenIn(wish),
  })

export const grokPictures: MediaMaker = {
  provider: 'xai',
  base_url: xAi.base_url,
  headers: ({ api_key }) => (api_key === undefined ? {} : { authorization: `Bearer ${api_key}` }),
  pictures: {
    model: 'grok-imagine-image',
    async make(wish, server) {
      const path = wish.pictures.length === 0 ? '/images/generations' : '/images/edits'
      const body = bodyOf(wish, server.model)
      return readPictures(await server.ask({ path, content_type: 'application/json', body }), wish, server)
    },
  },
}
