/** Short forms for tests of boards. */
import sharp from 'sharp'
import type { Ask } from './daemon.js'

interface Target {
  readonly request: Ask
}

export const upload = async (
  { request }: Target,
  content: string | Uint8Array,
  media_type = 'application/json',
): Promise<string> => {
  const answer = await request('POST', '/v1/assets', {
    file_name: media_type === 'image/png' ? 'a.png' : 'a.json',
    media_type,
    content_base64: Buffer.from(content).toString('base64'),
  })
  if (answer.status !== 201) throw new TypeError(answer.text)
  return answer.body.asset_id
}

let shade = 0
/** A picture that no other has. */
export const picture = async (daemon: Target): Promise<string> => {
  shade += 1
  const background = { r: shade & 255, g: (shade >> 8) & 255, b: 7 }
  return upload(
    daemon,
    await sharp({ create: { width: 64, height: 64, channels: 3, background } })
      .png()
      .toBuffer(),
    'image/png',
  )
}

export const stateOf = (daemon: Target, state: object): Promise<string> =>
  upload(daemon, JSON.stringify({ schema_version: 'service.board_state.v1', ...state }))

export const board = async ({ request }: Target, board_id: string, more: object = {}): Promise<any> =>
  (await request('POST', '/v1/boards', { board_id, display_name: `Board ${board_id}`, ...more })).body

export const revise = ({ request }: Target, board_id: string, body: object) =>
  request('POST', `/v1/boards/${board_id}/revisions`, body)

export const read = async ({ request }: Target, url: string): Promise<any> => (await request('GET', url)).body

/** All revisions of a board by pages, newest first. */
export const history = async (daemon: Target, board_id: string): Promise<any[]> => {
  const found: any[] = []
  for (let cursor = ''; ;) {
    const { items, pagination } = await read(daemon, `/v1/boards/${board_id}/revisions?page=true&limit=100${cursor}`)
    found.push(...items)
    if (!pagination.has_more) return found
    cursor = `&cursor=${encodeURIComponent(pagination.next_cursor)}`
  }
}
