/** Receives the bytes of a body, within the limit of its route. */
import type { IncomingMessage } from 'node:http'
import { httpErrors } from '../errors.js'

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const acceptable = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/iu

const checkType = ({ headers }: IncomingMessage): void => {
  const encoding = headers['content-encoding']
  if (
    !acceptable.test(headers['content-type'] ?? '') ||
    (encoding !== undefined && encoding.toLowerCase() !== 'identity')
  )
    throw httpErrors.unsupported_media_type()
}

const tooLarge = (limit: number) =>
  httpErrors.payload_too_large({
    details: { limit_bytes: limit },
    members: { limit_bytes: limit },
    headers: { connection: 'close' },
  })

const collect = (request: IncomingMessage, limit: number): Promise<Uint8Array | undefined> =>
  new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    const take = (chunk: Uint8Array): void => {
      size += chunk.length
      if (size <= limit) return void chunks.push(chunk)
      request.off('data', take)
      request.resume()
      reject(tooLarge(limit))
    }
    request.on('data', take)
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
    request.once('error', () => resolve(undefined))
    request.once('close', () => resolve(undefined))
  })

/** The bytes; empty if there are none; undefined if the client went away. */
export const readBody = async (request: IncomingMessage, limit: number): Promise<Uint8Array | undefined> => {
  if (!hasBody(request)) return new Uint8Array(0)
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
  const bytes = await collect(request, limit)
  if (bytes !== undefined && bytes.length > 0) checkType(request)
  return bytes
}
