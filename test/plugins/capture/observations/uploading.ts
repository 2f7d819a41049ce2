/** What tests of observations send, and ask for. */
import sharp from 'sharp'
import type { Answer, TestDaemon } from '../../../support/daemon.js'

type Asked = Pick<TestDaemon, 'request'>

/** A picture of one colour; the same number is the same picture. */
export const picture = (colour: number, edge = 8): Promise<Buffer> =>
  sharp({
    create: {
      width: edge,
      height: edge,
      channels: 3,
      background: { r: colour & 255, g: (colour >> 8) & 255, b: (colour >> 16) & 255 },
    },
  })
    .png()
    .toBuffer()

export const createSource = (daemon: Asked, more: object = {}): Promise<Answer> =>
  daemon.request('POST', '/v1/observation-sources', {
    source_id: 'door',
    display_name: 'Door',
    kind: 'screen_snapshot',
    upload_token: 'door-token',
    ...more,
  })

export interface Wish {
  readonly source?: string
  readonly token?: string
  readonly bytes?: Uint8Array
  readonly more?: object
}

/** Uploads a picture of the colour `n` under the key `key-n`. */
export const send = async (daemon: Asked, n: number, wish: Wish = {}): Promise<Answer> => {
  const { source = 'door', token = `${source}-token`, bytes = await picture(n), more = {} } = wish
  return daemon.request(
    'POST',
    `/v1/observation-sources/${source}/observations`,
    {
      upload: { file_name: `${n}.png`, media_type: 'image/png', content_base64: Buffer.from(bytes).toString('base64') },
      idempotency_key: `key-${n}`,
      ...more,
    },
    { authorization: `Bearer ${token}` },
  )
}

export const list = async (daemon: Asked, query = ''): Promise<any[]> =>
  (await daemon.request('GET', `/v1/observations${query}`)).body
export const readSource = async (daemon: Asked, id = 'door'): Promise<any> =>
  (await daemon.request('GET', `/v1/observation-sources/${id}`)).body
export const auditOf = async (daemon: Asked, query = ''): Promise<any[]> =>
  (await daemon.request('GET', `/v1/observation-audit${query}`)).body

/** Waits until something is so. */
export const comes = async (isSo: () => Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10))
}
