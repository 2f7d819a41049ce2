/** Writes each exchange with a server, and each call of a tool, to a cassette. */
import { StringDecoder } from 'node:string_decoder'
import {
  openOutsideLines,
  visibleLine,
  type HealthCheck,
  type Json,
  type Log,
  type OutsideLines,
  type Warning,
} from '../../../../core/plugin.js'
import type { Headers, Listener, Question, Sent, Transport } from '../transport/transport.js'
import { beginning, mostBytes, type Exchange } from './format.js'
import { answerHeaders, maskedBody, maskedJson, maskedPath, requestHeaders, type Redact } from './mask.js'

export interface RecordParts {
  readonly file: string
  readonly log: Log
  readonly redact: Redact
}

export interface Recorder {
  /** Adds a line, without secrets. */
  add(value: Json): void
  readonly redact: Redact
  /** Opens the file, so that what is wrong with it is known before anything is recorded. */
  open(): void
  readonly health: HealthCheck
  close(): void
}

const reasonOf = (error: unknown): string =>
  `it cannot be written${error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''}`

/** What cannot be written is told once and stays a warning; no run hears of it. */
export const createRecorder = ({ file, log, redact }: RecordParts): Recorder => {
  let lines: OutsideLines | undefined
  let state: 'new' | 'open' | 'over' = 'new'
  let why = ''
  let bytes = 0
  const end = (reason: string, error?: unknown): void => {
    state = 'over'
    why = reason
    log.warn('no more is recorded', { file, reason, ...(error !== undefined && { error }) })
  }
  const put = (value: Json): void => {
    const line = JSON.stringify(value)
    bytes += Buffer.byteLength(line) + 1
    if (bytes <= mostBytes - 1000) return lines?.append(line)
    lines?.append('{"cut":"The rest did not fit into a cassette."}')
    end('it is full')
  }
  const begin = (): void => {
    lines = openOutsideLines(file, beginning)
    if (lines === undefined) return end('something else stands there')
    state = 'open'
    bytes = lines.before
    if (bytes === 0) put({ cassette: 1, requests: 'whole' })
  }
  const attempt = (step: () => void): void => {
    try {
      if (state === 'new') begin()
      if (state === 'open' && lines?.isGone() === true) end('the file was removed')
      if (state === 'open') step()
    } catch (error) {
      end(reasonOf(error), error)
    }
  }
  /** Looked at here too: the next exchange, which would tell of it, may be long in coming. */
  const warnings = (): readonly Warning[] => {
    if (state === 'open') attempt(() => undefined)
    return state === 'over' ? [unrecorded(file, why)] : []
  }
  return {
    redact,
    open: () => attempt(() => undefined),
    add: (value) => attempt(() => put(value)),
    health: { id: 'cassette', check: warnings },
    close: () => lines?.close(),
  }
}

const unrecorded = (file: string, reason: string): Warning => ({
  severity: 'warning',
  code: 'cassette_not_recorded',
  message: `Nothing more is recorded to ${visibleLine(file)}: ${reason}.`,
  action: 'Start with --record-cassette and a file that is not there yet, in a folder with room for it.',
})

/** Bytes of an answer that are kept for the cassette. */
const mostAnswer = 32 * 1024 * 1024

/** Hears what its listener hears. A class, because each request needs one. */
class Tap implements Listener {
  readonly #listener: Listener
  readonly #done: (tap: Tap, end: Exchange['end']) => void
  readonly #pieces: Buffer[] = []
  #bytes = 0
  status = 0
  headers: Headers = {}

  constructor(listener: Listener, done: (tap: Tap, end: Exchange['end']) => void) {
    this.#listener = listener
    this.#done = done
  }

  /** The texts of the pieces as they came: a character that was cut is in the later one. */
  pieces(): string[] {
    const decoder = new StringDecoder('utf8')
    const texts = this.#pieces.map((piece) => decoder.write(piece)).filter((text) => text !== '')
    const rest = decoder.end()
    return rest === '' ? texts : [...texts, rest]
  }

  body(): string {
    return Buffer.concat(this.#pieces).toString('utf8')
  }

  head(status: number, headers: Headers): void {
    this.status = status
    this.headers = headers
    this.#listener.head(status, headers)
  }

  bytes(bytes: Buffer): void {
    this.#bytes += bytes.length
    if (this.#bytes <= mostAnswer) this.#pieces.push(Buffer.from(bytes))
    this.#listener.bytes(bytes)
  }

  end(): void {
    this.#done(this, 'whole')
    this.#listener.end()
  }

  broken(error: unknown): void {
    this.#done(this, 'broken')
    this.#listener.broken(error)
  }
}

/** As they came, so that a fault of where an answer was cut is in the file; where something was taken out, by event. */
const piecesOf = (answer: string, came: readonly string[]): readonly string[] =>
  came.join('') === answer ? came : answer.split(/(?<=\n\n)/u)

export const recordedTransport = (inner: Transport, recorder: Recorder): Transport => {
  const write = ({ path, headers, body }: Question, tap: Tap, end: Exchange['end']): void => {
    // A server that was not reached said nothing that could be played.
    if (tap.status === 0) return
    const said = tap.body()
    const answer = maskedBody(said, recorder.redact)
    const asked: Json = JSON.parse(body.toString('utf8'))
    recorder.add({
      path: maskedPath(path, recorder.redact),
      headers: requestHeaders(headers, recorder.redact),
      request: maskedJson(asked, recorder.redact),
      status: tap.status,
      answer_headers: answerHeaders(tap.headers, recorder.redact),
      answer: answer === undefined ? [] : piecesOf(answer, answer === said ? tap.pieces() : []),
      end: answer === undefined ? 'withheld' : end,
    })
  }
  return {
    budget: inner.budget,
    post(question, listener): Sent {
      let isOver = false
      const done = (tap: Tap, end: Exchange['end']): void => {
        if (!isOver) write(question, tap, end)
        isOver = true
      }
      const tap = new Tap(listener, done)
      const sent = inner.post(question, tap)
      return {
        stop() {
          done(tap, 'whole')
          sent.stop()
        },
      }
    },
    async close() {
      await inner.close()
      recorder.close()
    },
  }
}
