/** A stream of events, read as the contract of providers says, whatever their plugin does. */
import { readPatiently, type Open, type Patience } from './patient-reader.js'

/** How one answer is read. */
interface Reading<E> extends Patience<E> {
  /** Sees each event, and may give another one in its place. */
  readonly look: (event: E) => E
  /** Before the next event: what is waited for, if anything. */
  readonly turn: () => Promise<void> | undefined
  /** What stands for an end without `done`; undefined: nothing does. */
  readonly unfinished: () => E | undefined
}

const over: IteratorReturnResult<undefined> = { value: undefined, done: true }

/** What a stream gave, each member asked for once; undefined at its end. */
const eventIn = <E>(given: IteratorResult<E>): { readonly value: E } | 'none' | undefined => {
  if (typeof given !== 'object' || given === null) return 'none'
  return given.done === true ? undefined : { value: given.value }
}

/** The events of one answer, until one is `done`. Throws what the stream throws, with its plugin to blame. */
export const readEvents = <E extends { readonly type: string }>(
  stream: Open<E>,
  reading: Reading<E>,
): AsyncIterable<E> => ({
  // No generator: that would cost each event two promises more.
  [Symbol.asyncIterator]() {
    const { signal, look, turn, unheeded, unfinished, blamed, broken } = reading
    const reader = readPatiently(stream, reading)
    let [isOver, wasAborted] = [false, false]
    const give = (value: E): IteratorResult<E> => {
      isOver = value.type === 'done'
      return { value, done: false }
    }
    const read = (result: IteratorResult<E>): ReturnType<typeof eventIn<E>> => {
      try {
        return eventIn(result)
      } catch (error) {
        throw blamed(error)
      }
    }
    const taken = (result: IteratorResult<E>): IteratorResult<E> => {
      const event = read(result)
      if (event === 'none') return give(broken('what its stream gave is no result of an iterator'))
      if (event !== undefined) return give(look(event.value))
      const end = unfinished()
      return end === undefined ? over : give(end)
    }
    const ask = (): Promise<IteratorResult<E>> => reader.next().then(taken)
    const askOn = (): Promise<IteratorResult<E>> | IteratorResult<E> => {
      if (signal.aborted && wasAborted) return give(look(unheeded))
      wasAborted = signal.aborted
      return ask()
    }
    return {
      next: () => {
        if (isOver) return reader.return()
        const others = turn()
        return others === undefined ? ask() : others.then(askOn)
      },
      return: () => reader.return(),
    }
  },
})
