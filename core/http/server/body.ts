/** Receives the bytes of a body, within the limit of its route and what may be in flight. */
import type { IncomingMessage } from 'node:http'
import { unsafeCast } from '../../base/schema.js'
import { defaultBodyLimit } from '../routes/route.js'
import { httpErrors } from '../errors.js'
import { dropRest, watchStall, type Pace, type Progress } from './body-arrival.js'
import type { BodyBudget, Hold } from './body-budget.js'
import { createPiece, giveBack, type Piece } from './piece.js'

export interface Receiving extends Pace {
  readonly limit: number
  readonly hold: Hold
  /** Its media type is not looked at. */
  readonly anyType: boolean
}

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const lengthOf = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? 0)

const acceptable = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/iu

const checkType = ({ headers }: IncomingMessage, anyType: boolean): void => {
  const encoding = headers['content-encoding']
  if (
    (!anyType && !acceptable.test(headers['content-type'] ?? '')) ||
    (encoding !== undefined && encoding.toLowerCase() !== 'identity')
  )
    throw httpErrors.unsupported_media_type({ details: { wanted: anyType ? 'bytes' : 'application/json in UTF-8' } })
}

const closing = { connection: 'close' }

export const tooLarge = (limit: number) =>
  httpErrors.payload_too_large({ details: { limit_bytes: limit }, members: { limit_bytes: limit }, headers: closing })

const noRoom = () => httpErrors.too_many_bodies({ retryAfter: 5 })

/** One piece of memory of its own, which may be handed to another thread. */
const joined = (chunks: readonly Uint8Array[], size: number): Uint8Array => {
  const [first] = chunks
  if (chunks.length === 1 && first !== undefined) return first
  const whole = Buffer.allocUnsafeSlow(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

/** Bytes from which on a long body has a piece of its own, and one that may be long. */
const [fewBytes, manyBytes] = [16 * 1024, 256 * 1024]

interface Store {
  add(chunk: Uint8Array, at: number): void
  /** What has come; nothing is here then. */
  whole(size: number): Uint8Array
  drop(): void
}

/** Where chunks go, of a body that has so many bytes, or at most the limit. */
const createStore = (length: number, limit: number): Store => {
  const [most, few] = length > 0 ? [length, fewBytes] : [limit, manyBytes]
  let chunks: Uint8Array[] = []
  let piece: Piece | undefined
  const empty = (): void => {
    chunks = []
    piece = undefined
  }
  const open = (at: number): void => {
    piece = createPiece(most)
    piece?.set(joined(chunks, at), 0)
    if (piece !== undefined) chunks = []
  }
  return {
    add(chunk, at) {
      if (piece === undefined && most > defaultBodyLimit && at + chunk.length > few) open(at)
      if (piece === undefined) chunks.push(chunk)
      else piece.set(chunk, at)
    },
    whole(size) {
      const bytes = piece?.first(size) ?? joined(chunks, size)
      empty()
      return bytes
    },
    drop() {
      if (piece !== undefined) giveBack(piece.first(0))
      empty()
    },
  }
}

const collect = (request: IncomingMessage, receiving: Receiving, length: number): Promise<Uint8Array | undefined> =>
  new Promise((resolve, reject) => {
    const { limit, hold } = receiving
    const store = createStore(length, limit)
    const progress: Progress = { size: 0, waits: false, waited: false }
    const end = (settle: () => void): void => {
      unwatch()
      request.off('data', take)
      settle()
    }
    const refuse = (problem: Error, drop: () => void = () => dropRest(request, receiving)): void =>
      end(() => {
        // What has come is of no use while the rest is read and dropped.
        store.drop()
        drop()
        reject(problem)
      })
    const stalled = (): void => refuse(httpErrors.request_timeout({ headers: closing }), () => request.resume())
    const unwatch = request.complete ? () => {} : watchStall(receiving, progress, stalled)
    const grow = (bytes: number): void => {
      const taken = hold.take(bytes)
      if (taken === true) return
      progress.waits = true
      progress.waited = true
      request.pause()
      void taken.then((fits) => {
        progress.waits = false
        if (fits) request.resume()
        else refuse(noRoom())
      })
    }
    const take = (chunk: Uint8Array): void => {
      if (progress.size + chunk.length > limit) return refuse(tooLarge(limit))
      try {
        store.add(chunk, progress.size)
      } catch {
        return refuse(noRoom())
      }
      progress.size += chunk.length
      grow(chunk.length)
    }
    request.on('data', take)
    request.once('end', () => end(() => resolve(store.whole(progress.size))))
    const gone = (): void =>
      end(() => {
        store.drop()
        resolve(undefined)
      })
    request.once('error', gone)
    request.once('close', gone)
  })

/** Nothing of it is waited for but its turn; before that it is not read, so that the end of its client is told. */
const takeWhole = async (
  request: IncomingMessage,
  { hold }: Receiving,
  length: number,
): Promise<Uint8Array | undefined> => {
  const taken = hold.take(length)
  if (taken !== true) {
    request.once('close', hold.end)
    const fits = await taken
    request.off('close', hold.end)
    if (request.destroyed) return undefined
    if (!fits) {
      request.resume()
      throw noRoom()
    }
  }
  const bytes = unsafeCast<Uint8Array>(request.read())
  // Only where its end was read does node take the next request of the connection.
  request.resume()
  return bytes
}

/** Of what is made of a long body there is as much again: it waits for that too. */
export const takeRest = async ({ hold }: Pick<Receiving, 'hold'>, { length }: Uint8Array): Promise<void> => {
  if (length > defaultBodyLimit && !(await hold.take(length))) throw noRoom()
}

export const openHold = (budget: BodyBudget, request: IncomingMessage, limit: number): Hold =>
  budget.open(lengthOf(request) || limit)

/** The bytes; undefined if the client went away. */
export const readBody = async (request: IncomingMessage, receiving: Receiving): Promise<Uint8Array | undefined> => {
  const length = lengthOf(request)
  if (length > receiving.limit) {
    dropRest(request, receiving)
    throw tooLarge(receiving.limit)
  }
  // What came with its headers is there a turn later.
  await undefined
  const isWhole = length > 0 && request.readableLength === length
  const bytes = await (isWhole ? takeWhole(request, receiving, length) : collect(request, receiving, length))
  if (bytes !== undefined && bytes.length > 0) checkType(request, receiving.anyType)
  return bytes
}
