/** Sends files in pieces: no more of one is in memory than its client takes, and none leaves that is not as stored. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createTurns } from '../../base/turns.js'
import { httpErrors } from '../errors.js'
import type { ByteParts, BytesReply } from '../routes/route.js'

export interface Sending {
  readonly file: BytesReply
  /** Those for web pages of other origins. */
  readonly headers: Readonly<Record<string, string>>
  /** Called after each write. */
  readonly watch: (response: ServerResponse) => void
  readonly gone: () => boolean
}

/** True for a client that has these bytes already, by the tag that it names (http-47). */
const isHad = ({ headers }: IncomingMessage, { tag }: BytesReply): boolean =>
  (headers['if-none-match'] ?? '')
    .split(',')
    .map((named) => named.trim().replace(/^W\//u, ''))
    .some((named) => named === '*' || named === `"${tag}"`)

/** From `start` up to `end`. */
interface Part {
  readonly start: number
  readonly end: number
}

const oneRange = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/iu

/** The part that is asked for; undefined for all of it, and for what asks for several or cannot be read. */
const partOf = ({ headers, method }: IncomingMessage, { length, tag }: BytesReply): Part | undefined => {
  const condition = headers['if-range']
  if (method !== 'GET' || (condition !== undefined && condition !== `"${tag}"`)) return undefined
  const [, from, to, last] = oneRange.exec((headers.range ?? '').trim()) ?? []
  if (from === undefined && last === undefined) return undefined
  const start = from === undefined ? Math.max(0, length - Number(last)) : Number(from)
  const end = to === undefined || to === '' ? length : Math.min(length, Number(to) + 1)
  if (to !== undefined && to !== '' && Number(to) < start) return undefined
  if (start < end) return { start, end }
  throw httpErrors.range_not_satisfiable({ details: { length }, headers: { 'content-range': `bytes */${length}` } })
}

const escaped = (text: string): string =>
  encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /['()*]/gu,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** RFC 6266: for those who read no more than ASCII, and for all others. */
const disposition = (name: string): string =>
  `attachment; filename="${name.replace(/[^\x20-\x7e]|["\\%]/gu, '_')}"; filename*=UTF-8''${escaped(name)}`

/** What an answer says of the file with or without its bytes. */
const tagged = ({ tag }: BytesReply) => ({ 'cache-control': 'no-store', etag: `"${tag}"` })

const headersOf = (file: BytesReply, part: Part | undefined): Record<string, string | number> => ({
  ...tagged(file),
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'",
  'content-type': file.type,
  'content-disposition': disposition(file.name),
  'accept-ranges': 'bytes',
  'content-length': part === undefined ? file.length : part.end - part.start,
  ...(part && { 'content-range': `bytes ${part.start}-${part.end - 1}/${file.length}` }),
})

/** A response in line behind another is never told that the connection has gone. */
const whenTaken = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const { socket } = response.req
    const done = (): void => {
      for (const event of ['drain', 'close']) response.off(event, done)
      socket.off('close', done)
      resolve()
    }
    for (const event of ['drain', 'close']) response.on(event, done)
    socket.on('close', done)
  })

/** To read and verify a piece takes time: of all files that leave one piece is read in each turn of the event loop. */
const turn = createTurns()

const writePieces = async (response: ServerResponse, pieces: Iterable<Uint8Array>, sending: Sending): Promise<void> => {
  const left = pieces[Symbol.iterator]()
  for (;;) {
    await turn()
    if (sending.gone()) return
    const { done, value: piece } = left.next()
    if (done === true) break
    const taken = response.write(piece)
    sending.watch(response)
    if (!taken) await whenTaken(response)
  }
  if (!sending.gone()) response.end()
}

const sendParts = async (
  request: IncomingMessage,
  response: ServerResponse,
  { parts, sending }: { readonly parts: ByteParts; readonly sending: Sending },
): Promise<void> => {
  const { file, headers, gone } = sending
  if (isHad(request, file)) {
    if (!gone()) response.writeHead(304, { ...headers, ...tagged(file) }).end()
    return
  }
  const part = partOf(request, file)
  if (gone()) return
  response.writeHead(part === undefined ? 200 : 206, { ...headers, ...headersOf(file, part) })
  if (request.method === 'HEAD') return void response.end()
  const { start, end } = part ?? { start: 0, end: file.length }
  try {
    await writePieces(response, parts.pieces(start, end), sending)
  } catch (error) {
    response.req.socket.destroy()
    throw error
  }
}

/** Answers with a file. Throws before anything is sent, or with the connection cut. */
export const sendBytes = async (
  request: IncomingMessage,
  response: ServerResponse,
  sending: Sending,
): Promise<void> => {
  const parts = await sending.file.open()
  try {
    await sendParts(request, response, { parts, sending })
  } finally {
    await parts.close()
  }
}
