/** What a handler is given of its request. */
import type { ServerResponse } from 'node:http'
import type { RouteInput } from '../routes/route.js'

type AnyInput = RouteInput<unknown, unknown, unknown>

interface InputParts extends Pick<AnyInput, 'params' | 'query' | 'body' | 'hashes' | 'idempotencyKey' | 'caller'> {
  readonly response: ServerResponse
  readonly leaving: AbortSignal
  /** Gives back what the body holds. */
  readonly release: () => void
}

const noHashes: AnyInput['hashes'] = new Map()

export class RequestInput implements AnyInput {
  readonly params: unknown
  readonly query: unknown
  readonly idempotencyKey: string | undefined
  readonly caller: AnyInput['caller']
  readonly #of: Pick<InputParts, 'response' | 'leaving' | 'release'>
  #body: unknown
  #hashes: AnyInput['hashes']
  #controller: AbortController | undefined

  constructor({ params, query, body, hashes, idempotencyKey, caller, response, leaving, release }: InputParts) {
    this.params = params
    this.query = query
    this.idempotencyKey = idempotencyKey
    this.caller = caller
    this.#of = { response, leaving, release }
    this.#body = body
    this.#hashes = hashes
  }

  get body(): unknown {
    return this.#body
  }

  get hashes(): AnyInput['hashes'] {
    return this.#hashes
  }

  get signal(): AbortSignal {
    this.#controller ??= abortOnEnd(this.#of.response, this.#of.leaving)
    return this.#controller.signal
  }

  /** Handlers take it out of the input. */
  readonly release = (): void => {
    this.#body = undefined
    this.#hashes = noHashes
    this.#of.release()
  }
}

/** A response in line behind another is never told that the connection has gone. */
export const isGone = ({ destroyed, req: { socket } }: ServerResponse): boolean => destroyed || socket.destroyed

/**
 * Aborts when the client goes away or the daemon begins to stop. A client that sends nothing more may still read or may
 * have gone, which looks the same: so it is answered at once.
 */
const abortOnEnd = (response: ServerResponse, leaving: AbortSignal): AbortController => {
  const { socket } = response.req
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  const end = (): void => {
    leaving.removeEventListener('abort', abort)
    socket.off('end', abort)
    for (const from of [response, socket]) from.off('close', end)
    if (!response.writableFinished) abort()
  }
  if (leaving.aborted || isGone(response) || socket.readableEnded) abort()
  else {
    socket.once('end', abort)
    leaving.addEventListener('abort', abort, { once: true })
    for (const from of [response, socket]) from.once('close', end)
  }
  return controller
}
