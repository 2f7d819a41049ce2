/** Reads a stream that may be silent for a time, and has a time to end behind its signal; then it is left alone. */
import { within, type Clock } from '../../../../core/plugin.js'
import { createSilence } from './silence.js'

export interface StreamWatch {
  /** Is told what breaks the contract. */
  readonly broke: (wrong: unknown) => void
  /** An error of the provider, with its plugin to blame. */
  readonly blamed: (error: unknown) => Error
  readonly clock: Clock
  /** Longest silence of the provider, milliseconds. */
  readonly idle_timeout_ms: number
}

export interface Patience<E> extends StreamWatch {
  readonly signal: AbortSignal
  /** The end of a stream that was silent for too long. */
  readonly silent: E
  /** The end of a stream that has none, though it was told to end. */
  readonly unheeded: E
  /** In place of a stream that is none: the end that says so, and is charged. */
  readonly broken: (wrong: string) => E
}

/** The stream, which is given a signal of its own: it is told to end also when it was silent. */
export type Open<E> = (signal: AbortSignal) => AsyncIterable<E>

/** A stream that takes longer to end is left alone; milliseconds. */
const endMs = 10_000

type Result<E> = IteratorResult<E>

const over: IteratorReturnResult<undefined> = { value: undefined, done: true }

const has = (given: unknown, member: PropertyKey): boolean =>
  typeof given === 'object' && given !== null && typeof Reflect.get(given, member) === 'function'

async function* only<E>(event: E): AsyncGenerator<E> {
  yield event
}

const openReader = <E>(stream: Open<E>, signal: AbortSignal, { blamed, broken }: Patience<E>): AsyncIterator<E> => {
  try {
    const events = stream(signal)
    const reader = has(events, Symbol.asyncIterator) ? events[Symbol.asyncIterator]() : undefined
    if (reader !== undefined && has(reader, 'next')) return reader
    // A promise of events may be broken, too.
    void Promise.resolve(events).catch(() => {})
    return only(broken('what its stream returned yields no events, as `async *stream()` does'))
  } catch (error) {
    throw blamed(error)
  }
}

/** A stream that does not end well has been read all the same. */
const endReader = async <E>(reader: AsyncIterator<E>, { broke, clock }: StreamWatch): Promise<void> => {
  try {
    const ended = reader.return?.()
    if (ended !== undefined && !(await within(clock, endMs, Promise.resolve(ended))))
      broke(`its stream did not end within ${endMs} ms`)
  } catch (error) {
    broke(error)
  }
}

/** Throws what the stream throws, with its plugin to blame. */
export const readPatiently = <E>(stream: Open<E>, patience: Patience<E>): Required<Omit<AsyncIterator<E>, 'throw'>> => {
  const { signal, clock, broke, blamed, silent, unheeded } = patience
  const told = new AbortController()
  /** Of the question that is open. */
  let answer: ((result: Result<E>) => void) | undefined
  let isLeft = false
  let cancelEnd: (() => void) | undefined
  const leave = (end: E): void => {
    isLeft = true
    signal.removeEventListener('abort', abort)
    silence.end()
    answer?.({ value: end, done: false })
  }
  const tellToEnd = (reason?: unknown): void => {
    told.abort(reason)
    cancelEnd ??= clock.after(endMs, () => {
      broke(`its stream did not end within ${endMs} ms of being told to`)
      if (!isLeft) leave(unheeded)
    })
  }
  const abort = (): void => tellToEnd(signal.reason)
  const silence = createSilence(clock, patience.idle_timeout_ms, () => {
    leave(signal.aborted ? unheeded : silent)
    tellToEnd()
  })
  if (signal.aborted) told.abort(signal.reason)
  const reader = openReader(stream, told.signal, patience)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  const end = (): void => {
    signal.removeEventListener('abort', abort)
    silence.end()
    cancelEnd?.()
  }
  const settled = (): void => {
    answer = undefined
    silence.answered()
    if (isLeft) end()
  }
  return {
    next: () =>
      new Promise((resolve, reject) => {
        if (isLeft) return resolve({ value: unheeded, done: false })
        const fail = (error: unknown): void => {
          settled()
          end()
          reject(blamed(error))
        }
        answer = resolve
        silence.asked()
        try {
          Promise.resolve(reader.next()).then((result) => {
            settled()
            if (isLeft) void endReader(reader, patience)
            resolve(result)
          }, fail)
        } catch (error) {
          fail(error)
        }
      }),
    async return() {
      if (isLeft) return over
      end()
      await endReader(reader, patience)
      return over
    },
  }
}
