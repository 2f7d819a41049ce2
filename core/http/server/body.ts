/** Receives the bytes of a body, within the limit of its route and what may be in flight. */
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../base/clock.js'
import { defaultBodyLimit } from '../routes/route.js'
import { httpErrors } from '../errors.js'
import type { BodyBudget, Hold } from './body-budget.js'

export interface Receiving {
  readonly limit: number
  readonly hold: Hold
  readonly clock: Clock
  /** Ms. */
  readonly stall: number
}

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const lengthOf = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? 0)

/** Only a body whose length is not told may become large without saying so. */
const mayBeLarge = (length: number, limit: number): boolean => (length || limit) > defaultBodyLimit

const acceptable = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/iu

const checkType = ({ headers }: IncomingMessage): void => {
  const encoding = headers['content-encoding']
  if (
    !acceptable.test(headers['content-type'] ?? '') ||
    (encoding !== undefined && encoding.toLowerCase() !== 'identity')
  )
    throw httpErrors.unsupported_media_type()
}

const closing = { connection: 'close' }

export const tooLarge = (limit: number) =>
  httpErrors.payload_too_large({ details: { limit_bytes: limit }, members: { limit_bytes: limit }, headers: closing })

/** What still comes is read and dropped, so that the client learns of it. */
const noRoom = () => httpErrors.too_many_bodies({ retryAfter: 5 })

/** Bytes that must have come between two looks at a body. */
const stallBytes = 64 * 1024

/** How far a body has come. */
interface Progress {
  size: number
  /** It is not read, because there is no room for more of it yet. */
  waits: boolean
}

/** A body that hardly comes must not keep others from their turn. */
const watchStall = ({ clock, stall }: Receiving, progress: Progress, stalled: () => void): (() => void) => {
  let last = 0
  let cancel = (): void => {}
  const look = (): void => {
    if (!progress.waits && progress.size - last < stallBytes) return stalled()
    last = progress.size
    cancel = clock.after(stall, look)
  }
  cancel = clock.after(stall, look)
  return () => cancel()
}

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

/** Where chunks go: into one piece as they come if its size is known, so that there is nothing to join at the end. */
const createStore = (length: number): { add(chunk: Uint8Array, at: number): void; whole(size: number): Uint8Array } => {
  if (length > defaultBodyLimit) {
    const whole = Buffer.allocUnsafeSlow(length)
    return { add: (chunk, at) => whole.set(chunk, at), whole: () => whole }
  }
  const chunks: Uint8Array[] = []
  return { add: (chunk) => void chunks.push(chunk), whole: (size) => joined(chunks, size) }
}

const collect = (request: IncomingMessage, receiving: Receiving, length: number): Promise<Uint8Array | undefined> =>
  new Promise((resolve, reject) => {
    const { limit, hold } = receiving
    const store = createStore(length)
    const progress: Progress = { size: 0, waits: false }
    const end = (settle: () => void): void => {
      unwatch()
      request.off('data', take)
      settle()
    }
    const refuse = (problem: Error): void =>
      end(() => {
        request.resume()
        reject(problem)
      })
    const stalled = (): void => refuse(httpErrors.request_timeout({ headers: closing }))
    const unwatch = mayBeLarge(length, limit) ? watchStall(receiving, progress, stalled) : () => {}
    /** Of a body whose length was told, all is held already. */
    const grow = (bytes: number): void => {
      const taken = hold.take(bytes)
      if (taken === true) return
      progress.waits = true
      request.pause()
      void taken.then((fits) => {
        progress.waits = false
        if (fits) request.resume()
        else refuse(noRoom())
      })
    }
    const take = (chunk: Uint8Array): void => {
      if (progress.size + chunk.length > limit) return refuse(tooLarge(limit))
      store.add(chunk, progress.size)
      progress.size += chunk.length
      if (length === 0) grow(chunk.length)
    }
    request.on('data', take)
    request.once('end', () => end(() => resolve(store.whole(progress.size))))
    request.once('error', () => end(() => resolve(undefined)))
    request.once('close', () => end(() => resolve(undefined)))
  })

/** Waits for the turn of a body whose length is told. False: the client went away. */
const admitted = async (request: IncomingMessage, hold: Hold, length: number): Promise<boolean> => {
  const taken = hold.take(length)
  if (taken === true) return true
  let gone = false
  const leave = (): void => {
    gone = true
    hold.end()
  }
  for (const event of ['error', 'close']) request.once(event, leave)
  const fits = await taken
  for (const event of ['error', 'close']) request.off(event, leave)
  if (!fits && !gone) throw noRoom()
  return !gone
}

export const openHold = (budget: BodyBudget, request: IncomingMessage, limit: number): Hold =>
  budget.open(mayBeLarge(lengthOf(request), limit) ? 'large' : 'small')

/** The bytes; undefined if the client went away. */
export const readBody = async (request: IncomingMessage, receiving: Receiving): Promise<Uint8Array | undefined> => {
  const length = lengthOf(request)
  if (length > receiving.limit) throw tooLarge(receiving.limit)
  if (length > 0 && !(await admitted(request, receiving.hold, length))) return undefined
  const bytes = await collect(request, receiving, length)
  if (bytes !== undefined && bytes.length > 0) checkType(request)
  return bytes
}
