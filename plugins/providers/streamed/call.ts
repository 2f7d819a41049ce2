/** The life of one model call: who may end it, how long the provider may be silent, and what its reader gets. */
import type { Clock } from '../../../core/plugin.js'
import type { ModelEvent, ModelFailure } from '../../execution/models/contract.js'
import type { AnswerShare } from './transport/answer-budget.js'
import { answerErrors } from './errors.js'
import type { Answer, Delta } from './contract.js'
import { largestEvent } from './event-json.js'
import { createEventReader, createWholeReader, type WholeReader } from './event-stream.js'
import { broken, failures, refused, unusable, type Asked, type Refusal } from './failure.js'
import { createOutlet } from './outlet.js'
import type { Headers, Listener, Question, Sent, Transport } from './transport/transport.js'

export interface CallOptions {
  readonly clock: Clock
  readonly transport: Transport
  readonly signal: AbortSignal
  readonly idle_timeout_ms: number
  readonly asked: Asked
  /** By http, and not by https. */
  readonly plainly: boolean
  readonly question: () => Question
  readonly answer: Answer
  /** A turn of the event loop of one's own. */
  readonly inTurn: () => Promise<void>
  /** Is told the headers of whatever is answered. */
  readonly heard: (headers: Headers) => void
  /** The last event, as it is to be shown. */
  readonly ending: (event: ModelEvent) => ModelEvent
}

/** Bytes of an answer, and of one that says why there is none. */
const largest = 32 * 1024 * 1024
const largestRefusal = 100_000
/** Bytes that are read at once, within so many milliseconds; what exceeds them waits for a turn. */
const [atOnce, atOnceMs] = [64 * 1024, 10]
/** A server that only keeps the connection alive, as with comments, says nothing: for so many idle limits. */
const idleLimitsWithoutEvent = 10
/** How long a server may take to tell the usage, and to end the answer, when the model has ended. */
const lingerMs = 1000

/** A provider that sends nothing to show, such as a long call of a tool, is not silent: its reader is told so. */
const signOfLife: Delta = { type: 'text_delta', text: '' }

/** How an answer is compressed; undefined if it is not. */
const packing = ({ 'content-encoding': encoding }: Headers): string | undefined => {
  const word = String(encoding ?? '')
    .trim()
    .toLowerCase()
  if (word === '' || word === 'identity') return undefined
  return /^[a-z0-9-]{1,20}$/u.test(word) ? word : 'an unknown encoding'
}

const notStreaming = (what: string): ModelFailure =>
  unusable(answerErrors.provider_not_streaming({ details: { what } }))

/**
 * Nothing is asked before the first event is. What comes is read when it comes, also while the reader does something
 * else: so a slow one is not mistaken for a silent provider, and nobody waits inside undici. A class, because each call
 * needs one and each delta passes through it.
 */
export class Call implements AsyncIterableIterator<ModelEvent, undefined>, Listener {
  readonly #options: CallOptions
  readonly #outlet = createOutlet()
  readonly #answer: Answer
  readonly #feed: (bytes: Buffer) => void
  /** Of a server that does not stream, in the place of events. */
  #whole: WholeReader | undefined
  #sent: Sent | undefined
  #share: AnswerShare | undefined
  #refusal: Refusal | undefined
  #state: 'new' | 'asked' | 'answered' | 'over' = 'new'
  /** Monotonic ms of the last sign of life. */
  #seen = 0
  /** Monotonic ms of the last event, or of the question. */
  #spoke = 0
  #cancelIdle: (() => void) | undefined
  #cancelLinger: (() => void) | undefined
  #bytes = 0
  #stretch = { began: 0, bytes: 0 }
  /** Pieces that wait for their turn; undefined while none does. */
  #late: Buffer[] | undefined
  /** What happens when they have been read. */
  #afterLate: (() => void) | undefined

  constructor(options: CallOptions) {
    this.#options = options
    this.#answer = options.answer
    this.#feed = createEventReader(
      {
        take: (data) => {
          this.#spoke = this.#seen
          this.#answer.take(data)
        },
        overflow: () => this.#answer.overflow(),
      },
      largestEvent,
    )
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<ModelEvent, undefined>> {
    if (this.#state === 'new') this.#begin()
    return this.#outlet.next()
  }

  /** The reader goes: the socket is closed. */
  return(): Promise<IteratorResult<ModelEvent, undefined>> {
    this.#finish([])
    return Promise.resolve({ value: undefined, done: true })
  }

  #begin(): void {
    const { signal, clock, transport, question } = this.#options
    if (signal.aborted) return this.#abort()
    this.#state = 'asked'
    signal.addEventListener('abort', this.#abort, { once: true })
    this.#seen = clock.elapsed()
    this.#spoke = this.#seen
    this.#watch(this.#options.idle_timeout_ms)
    this.#share = transport.budget.open()
    this.#sent = transport.post(question(), this)
  }

  readonly #abort = (): void => this.#fail(failures.aborted())

  #watch(ms: number): void {
    const { clock, idle_timeout_ms } = this.#options
    this.#cancelIdle = clock.after(ms, () => {
      const now = clock.elapsed()
      const left = this.#seen + idle_timeout_ms - now
      const leftToSpeak = this.#spoke + idleLimitsWithoutEvent * idle_timeout_ms - now
      if (left <= 0) return this.#breakOff(failures.silent())
      if (leftToSpeak <= 0) return this.#breakOff(failures.wordless())
      this.#outlet.put(signOfLife)
      this.#watch(Math.min(left, leftToSpeak))
    })
  }

  head(status: number, headers: Headers): void {
    this.#seen = this.#options.clock.elapsed()
    this.#state = 'answered'
    this.#options.heard(headers)
    const type = String(headers['content-type'] ?? '')
    const packed = packing(headers)
    if (status >= 400) this.#refusal = { status, headers, body: '' }
    else if (status >= 300) this.#fail(unusable(answerErrors.provider_redirected({ details: { status } })))
    else if (status === 204 || status === 205) this.#fail(notStreaming(`nothing (status ${status})`))
    else if (/^text\/html\b/iu.test(type)) this.#fail(notStreaming('a web page'))
    else if (packed !== undefined)
      this.#fail(unusable(answerErrors.provider_compressed({ details: { encoding: packed } })))
    else if (!/^application\/json\b/iu.test(type)) return
    else if (this.#answer.takeWhole === undefined) this.#fail(notStreaming('JSON'))
    else this.#whole = createWholeReader(this.#answer, largestEvent)
  }

  bytes(bytes: Buffer): void {
    const now = this.#options.clock.elapsed()
    this.#seen = now
    this.#bytes += bytes.length
    if (this.#refusal !== undefined) return this.#refuse(bytes)
    if (this.#answer.state() === 'done') return
    if (this.#bytes > largest) return this.#breakOff(unusable(answerErrors.provider_answer_too_large()))
    if (this.#share?.holds(this.#bytes) === true)
      return this.#breakOff(unusable(answerErrors.provider_answers_too_large()))
    if (this.#late !== undefined) return void this.#late.push(bytes)
    if (this.#fits(bytes, now)) return this.#read(bytes)
    this.#late = [bytes]
    void this.#readLate(this.#late)
  }

  /** True if the piece may be read at once without keeping others waiting. */
  #fits({ length }: Buffer, now: number): boolean {
    if (now - this.#stretch.began > atOnceMs) this.#stretch = { began: now, bytes: 0 }
    this.#stretch.bytes += length
    return this.#stretch.bytes <= atOnce
  }

  async #readLate(pieces: readonly Buffer[]): Promise<void> {
    for (let at = 0; at < pieces.length && this.#state !== 'over'; at += 1) {
      await this.#options.inTurn()
      const piece = pieces[at]
      if (piece !== undefined) this.#read(piece)
    }
    this.#late = undefined
    this.#afterLate?.()
  }

  #read(bytes: Buffer): void {
    if (this.#state === 'over') return
    if (this.#whole === undefined) this.#feed(bytes)
    else this.#whole.feed(bytes)
    this.#show()
    const state = this.#answer.state()
    if (state === 'failed') return this.#conclude()
    if (state !== 'open') this.#cancelLinger ??= this.#options.clock.after(lingerMs, () => this.#conclude())
  }

  #show(): void {
    for (const delta of this.#answer.fresh()) this.#outlet.put(delta)
  }

  #refuse(bytes: Buffer): void {
    if (this.#refusal === undefined || packing(this.#refusal.headers) !== undefined) return
    this.#refusal = { ...this.#refusal, body: this.#refusal.body + bytes.toString('utf8') }
    if (this.#bytes > largestRefusal) this.#conclude()
  }

  end(): void {
    this.#cancelIdle?.()
    // What others say is heard first: to take an answer down costs more than to show many.
    if (this.#late === undefined) setImmediate(() => this.#takeEnd())
    else this.#afterLate = () => this.#takeEnd()
  }

  #takeEnd(): void {
    if (this.#state === 'over') return
    if (this.#whole?.take() === false) return this.#fail(notStreaming('JSON that is no answer of a model'))
    this.#show()
    this.#conclude()
  }

  broken(error: unknown): void {
    const { plainly } = this.#options
    const end = (): void => this.#breakOff(broken(error, { answered: this.#state === 'answered', plainly }))
    if (this.#late === undefined) end()
    else this.#afterLate = end
  }

  /** Nothing more comes. An answer that the model had ended is whole all the same. */
  #breakOff(failure: ModelFailure): void {
    const state = this.#answer.state()
    if (this.#refusal !== undefined || state === 'finished' || state === 'done') this.#conclude()
    else this.#fail(failure)
  }

  #conclude(): void {
    if (this.#refusal === undefined) this.#finish(this.#answer.end())
    else this.#fail(refused(this.#refusal, this.#options.asked))
  }

  #fail(failure: ModelFailure): void {
    this.#finish([{ type: 'done', outcome: 'failed', failure }])
  }

  #finish(events: readonly ModelEvent[]): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#options.signal.removeEventListener('abort', this.#abort)
    this.#cancelIdle?.()
    this.#cancelLinger?.()
    this.#share?.close()
    this.#sent?.stop()
    this.#outlet.end(events.map(this.#options.ending))
  }
}
