/** HTTP to the provider: no redirect, no retry, no time-out but the call's own. undici is loaded at the first call. */
import type { Agent, Dispatcher } from 'undici'
import { createAnswerBudget, type AnswerBudget } from './answer-budget.js'

export interface Question {
  /** Scheme, host and port. */
  readonly origin: string
  readonly path: string
  /** Names and values in turns. */
  readonly headers: string[]
  readonly body: Buffer
}

/** Who is told what comes back. None of these may throw. */
export interface Listener {
  head(status: number, headers: Headers): void
  bytes(bytes: Buffer): void
  /** The answer is whole, as far as HTTP is concerned. */
  end(): void
  /** Nothing follows. Not called after `stop`. */
  broken(error: unknown): void
}
export type Headers = Readonly<Record<string, string | string[] | undefined>>

export interface Sent {
  /** Ends it and closes its socket, wherever it is; the listener hears nothing more. */
  stop(): void
}

export interface Transport {
  readonly budget: AnswerBudget
  /** True if a cassette answers, and nobody is asked. */
  readonly isPlayed?: true
  post(question: Question, listener: Listener): Sent
  close(): Promise<void>
}

/** Bytes of all answers under way. */
const largestSum = 512 * 1024 * 1024

/** `most` bytes are those of all answers under way. */
export const createTransport = ({ most = largestSum }: { readonly most?: number } = {}): Transport => {
  let loading: Promise<void> | undefined
  let agent: Agent | undefined
  const load = async (): Promise<void> => {
    const undici = await import('undici')
    agent = new undici.Agent({ headersTimeout: 0, bodyTimeout: 0 })
  }
  const dispatch = ({ origin, path, headers, body }: Question, sent: Exchange): void => {
    if (!sent.isStopped) agent?.dispatch({ method: 'POST', origin, path, headers, body }, sent)
  }
  return {
    budget: createAnswerBudget(most),
    post(question, listener) {
      const sent = new Exchange(listener)
      if (agent !== undefined) dispatch(question, sent)
      else (loading ??= load()).then(() => dispatch(question, sent), sent.fail)
      return sent
    },
    async close() {
      await loading
      await agent?.destroy()
    },
  }
}

/**
 * One request in the hands of undici, which is never told to wait: a server that ends its connection while undici waits
 * for a reader makes it throw where nobody can catch. A class, because each request needs one, and undici calls it for
 * each piece.
 */
class Exchange implements Dispatcher.DispatchHandler, Sent {
  readonly #listener: Listener
  #controller: Dispatcher.DispatchController | undefined
  isStopped = false

  constructor(listener: Listener) {
    this.#listener = listener
  }

  stop(): void {
    if (this.isStopped) return
    this.isStopped = true
    this.#controller?.abort(new DOMException('This call is over.', 'AbortError'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.isStopped) controller.abort(new DOMException('This call is over.', 'AbortError'))
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (!this.isStopped && status >= 200) this.#listener.head(status, headers)
  }

  onResponseData(_: Dispatcher.DispatchController, bytes: Buffer): void {
    if (!this.isStopped) this.#listener.bytes(bytes)
  }

  onResponseEnd(): void {
    if (this.isStopped) return
    this.isStopped = true
    this.#listener.end()
  }

  onResponseError(_: Dispatcher.DispatchController, error: unknown): void {
    this.fail(error)
  }

  readonly fail = (error: unknown): void => {
    if (this.isStopped) return
    this.isStopped = true
    this.#listener.broken(error)
  }
}
