/**
 * One request on its connection and what comes back, as the pool tells of it. Nothing is held up: what is too much ends
 * the connection.
 */
import type { Dispatcher } from 'undici'
import { fault } from '../../base/assert.js'
import type { Deadlines } from './deadlines.js'
import { outboundFailure, type OutboundCode } from './outbound-failure.js'

/** What came back. A redirect is an answer like any other. Header names are in lower case. */
export type OutboundAnswer =
  | {
      readonly type: 'answer'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: Uint8Array
    }
  | { readonly type: 'failure'; readonly code: OutboundCode }

export const failure = (code: OutboundCode): OutboundAnswer => ({ type: 'failure', code })

export interface ExchangeParts {
  readonly deadlines: Deadlines
  readonly ignore_body: boolean
  readonly max_answer_bytes: number
  /** Called once. */
  readonly settle: (answer: OutboundAnswer) => void
}

type Controller = Dispatcher.DispatchController
/** Headers as the pool tells of them. */
export type ReceivedHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2]

/** Of a body that is ignored a short rest is read, so that the connection can be used again; else it ends. */
const ignoredBytes = 16_384
const ignoredMs = 1000
const nothing = new Uint8Array()

export class Exchange implements Dispatcher.DispatchHandler {
  readonly #parts: ExchangeParts
  readonly #most: number
  #controller: Controller | undefined
  #status = 0
  #headers: ReceivedHeaders = {}
  #chunks: Uint8Array[] = []
  #bytes = 0
  #cancelRest: (() => void) | undefined
  #settled = false

  constructor(parts: ExchangeParts) {
    this.#parts = parts
    this.#most = parts.ignore_body ? ignoredBytes : parts.max_answer_bytes
  }

  /** It has its answer. */
  get isOver(): boolean {
    return this.#settled
  }

  /** Ends it with this answer, and its connection, unless it is over. One that waits for a connection is never sent. */
  end(answer: OutboundAnswer): void {
    if (this.#settled) return
    this.#settle(answer)
    this.#controller?.abort(fault('the request was ended'))
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller
    if (this.#settled) controller.abort(fault('the request was ended before it began'))
  }

  onResponseStart(_controller: Controller, status: number, headers: ReceivedHeaders): void {
    if (status < 200) return
    this.#status = status
    this.#headers = headers
    if (this.#parts.ignore_body)
      this.#cancelRest = this.#parts.deadlines.after(ignoredMs, () => this.end(this.#answer()))
  }

  onResponseData(_controller: Controller, chunk: Uint8Array): void {
    this.#bytes += chunk.length
    if (this.#bytes > this.#most)
      this.end(this.#parts.ignore_body ? this.#answer() : failure('outbound_answer_too_large'))
    else if (!this.#parts.ignore_body) this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    this.#settle(this.#answer())
  }

  onResponseError(_controller: Controller, error: Error): void {
    const isAnswered = this.#status > 0 && this.#parts.ignore_body
    this.#settle(isAnswered ? this.#answer() : failure(outboundFailure(error)))
  }

  #answer(): OutboundAnswer {
    const body = this.#chunks.length === 0 ? nothing : Buffer.concat(this.#chunks)
    return { type: 'answer', status: this.#status, headers: plainHeaders(this.#headers), body }
  }

  #settle(answer: OutboundAnswer): void {
    if (this.#settled) return
    this.#settled = true
    this.#cancelRest?.()
    this.#chunks = []
    this.#parts.settle(answer)
  }
}

/** Names in lower case, each with one value. */
export const plainHeaders = (headers: ReceivedHeaders): Record<string, string> => {
  const joined: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) joined[name] = typeof value === 'string' ? value : value.join(', ')
  return joined
}
