/**
 * One request whose answer is read while it comes. What nobody has read yet waits in memory, up to a bound, and not in
 * the connection: a pool that waits for a reader breaks when the other side ends meanwhile.
 */
import type { Dispatcher } from 'undici'
import { fault } from '../../base/assert.js'
import { plainHeaders, type ReceivedHeaders } from './exchange.js'
import { outboundFailure, type OutboundCode } from './outbound-failure.js'

/** What came back, with a body that goes on. */
export type OutboundFlow =
  | {
      readonly type: 'answer'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      /** Errors with an `OutboundCode` as its message. To cancel it ends the connection. */
      readonly body: ReadableStream<Uint8Array>
    }
  | { readonly type: 'failure'; readonly code: OutboundCode }

export interface FlowParts {
  /** Most bytes that came and that nobody has read. */
  readonly most_unread_bytes: number
  /** Called once, with the head of the answer or why there is none. */
  readonly settle: (flow: OutboundFlow) => void
  /** Called once, when nothing follows. */
  readonly over: () => void
}

export class Flow implements Dispatcher.DispatchHandler {
  readonly #parts: FlowParts
  #controller: Dispatcher.DispatchController | undefined
  #reader: ReadableStreamDefaultController<Uint8Array> | undefined
  #isOver = false

  constructor(parts: FlowParts) {
    this.#parts = parts
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Ends it, and its connection, unless it is over. */
  end(code: OutboundCode): void {
    if (this.#isOver) return
    this.#finish()
    this.#parts.settle({ type: 'failure', code })
    this.#reader?.error(fault(code))
    this.#controller?.abort(fault('the request was ended'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(fault('the request was ended before it began'))
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: ReceivedHeaders): void {
    if (status < 200) return
    const body = new ReadableStream<Uint8Array>(
      {
        start: (reader) => {
          this.#reader = reader
        },
        cancel: () => this.#cancel(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: this.#parts.most_unread_bytes }),
    )
    this.#parts.settle({ type: 'answer', status, headers: plainHeaders(headers), body })
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#isOver) return
    this.#reader?.enqueue(chunk)
    if ((this.#reader?.desiredSize ?? 0) < 0) this.end('outbound_answer_too_large')
  }

  onResponseEnd(): void {
    if (this.#isOver) return
    this.#finish()
    this.#reader?.close()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.end(outboundFailure(error))
  }

  #cancel(): void {
    if (this.#isOver) return
    this.#finish()
    this.#controller?.abort(fault('nobody reads the answer'))
  }

  #finish(): void {
    this.#isOver = true
    this.#parts.over()
  }
}
