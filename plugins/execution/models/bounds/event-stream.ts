/** A stream of events, read as the contract of providers says, whatever their plugin does. */
import { fault, within, type Clock } from '../../../../core/plugin.js'

export interface StreamWatch {
  /** Is told what breaks the contract. */
  readonly broke: (wrong: unknown) => void
  /** An error of the provider, with its plugin to blame. */
  readonly blamed: (error: unknown) => Error
  readonly clock: Clock
}

/** How one answer is read. */
interface Reading<E> extends StreamWatch {
  readonly signal: AbortSignal
  /** Sees each event, and may give another one in its place. */
  readonly look: (event: E) => E
  /** Before the next event: what is waited for, if anything. */
  readonly turn: () => Promise<void> | undefined
  /** The end of a stream that has none, though it was told to end. */
  readonly unheeded: E
}

/** A stream that takes longer to end is left alone; milliseconds. */
const endMs = 10_000

const isIterable = <E>(given: AsyncIterable<E>): boolean =>
  typeof given === 'object' && given !== null && typeof Reflect.get(given, Symbol.asyncIterator) === 'function'

const isResult = (given: unknown): boolean => typeof given === 'object' && given !== null

const openReader = <E>(stream: () => AsyncIterable<E>, { blamed }: StreamWatch): AsyncIterator<E> => {
  try {
    const events = stream()
    if (!isIterable(events)) throw fault('what its stream returned yields no events')
    return events[Symbol.asyncIterator]()
  } catch (error) {
    throw blamed(error)
  }
}

/** A stream that does not end well has been read all the same. */
const closing =
  <E>(reader: AsyncIterator<E>, { broke, clock }: StreamWatch) =>
  async (): Promise<IteratorResult<E>> => {
    try {
      const ended = reader.return?.()
      if (ended !== undefined && !(await within(clock, endMs, Promise.resolve(ended))))
        broke(`its stream did not end within ${endMs} ms`)
    } catch (error) {
      broke(error)
    }
    return { value: undefined, done: true }
  }

/** The events of one answer, until one is `done`. Throws what the stream throws, with its plugin to blame. */
export const readEvents = <E extends { readonly type: string }>(
  stream: () => AsyncIterable<E>,
  reading: Reading<E>,
): AsyncIterable<E> => ({
  // No generator: that would cost each event two promises more.
  [Symbol.asyncIterator]() {
    const { signal, look, turn, unheeded, blamed } = reading
    const reader = openReader(stream, reading)
    const close = closing(reader, reading)
    let [isOver, wasAborted] = [false, false]
    const give = (value: E): IteratorResult<E> => {
      isOver = value.type === 'done'
      return { value, done: false }
    }
    const taken = (result: IteratorResult<E>): IteratorResult<E> => {
      if (!isResult(result)) throw blamed(fault('what its stream gave is no result of an iterator'))
      return result.done === true ? result : give(look(result.value))
    }
    const fail = (error: unknown): never => {
      throw blamed(error)
    }
    const ask = (): Promise<IteratorResult<E>> => {
      try {
        return Promise.resolve(reader.next()).then(taken, fail)
      } catch (error) {
        return fail(error)
      }
    }
    const askOn = (): Promise<IteratorResult<E>> | IteratorResult<E> => {
      if (signal.aborted && wasAborted) return give(look(unheeded))
      wasAborted = signal.aborted
      return ask()
    }
    return {
      next: () => {
        if (isOver) return close()
        const others = turn()
        return others === undefined ? ask() : others.then(askOn)
      },
      return: close,
    }
  },
})
