/** What a provider yields, read as the contract of providers says, whatever its plugin does. */
import { fault, within, type Clock } from '../../../../core/plugin.js'
import type { ModelEvent, ModelFailure } from '../contract.js'
import { eventFault } from './event-fault.js'
import { createStreamBounds } from './stream-bounds.js'

export interface StreamWatch {
  /** Of the provider. */
  readonly provider: string
  /** Is told what breaks the contract. */
  readonly broke: (wrong: unknown) => void
  /** An error of the provider, with its plugin to blame. */
  readonly blamed: (error: unknown) => Error
  readonly clock: Clock
  /** Sees each event, and may give another one in its place. */
  readonly learn: (event: ModelEvent) => ModelEvent
}

type Result = IteratorResult<ModelEvent>
type Reader = AsyncIterator<ModelEvent>

/** A stream that takes longer to end is left alone; milliseconds. */
const endMs = 10_000

const failed = (failure: ModelFailure): ModelEvent => ({ type: 'done', outcome: 'failed', failure })

const unheeded = failed({
  class: 'aborted',
  retryable: false,
  message: 'The provider did not end when it was told to.',
})

/** In place of what breaks the contract of providers: the call has failed for good (models-76). */
const broken = ({ provider, broke }: StreamWatch, wrong: string): ModelEvent => {
  broke(wrong)
  const message = `The provider ${provider} gave an answer that breaks the contract of providers: ${wrong}.`
  return failed({ class: 'provider_fault', retryable: false, message })
}

const isIterable = (given: unknown): given is AsyncIterable<ModelEvent> =>
  typeof given === 'object' && given !== null && typeof Reflect.get(given, Symbol.asyncIterator) === 'function'

const isResult = (given: unknown): given is Result => typeof given === 'object' && given !== null

const openReader = (stream: () => unknown, { blamed }: StreamWatch): Reader => {
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
  (reader: Reader, { broke, clock }: StreamWatch) =>
  async (): Promise<Result> => {
    try {
      const ended = reader.return?.()
      if (ended !== undefined && !(await within(clock, endMs, Promise.resolve(ended))))
        broke(`its stream did not end within ${endMs} ms`)
    } catch (error) {
      broke(error)
    }
    return { value: undefined, done: true }
  }

/** The events of one answer. Throws what the stream throws, with its plugin to blame. */
export const readEvents = (
  stream: () => AsyncIterable<ModelEvent>,
  signal: AbortSignal,
  watch: StreamWatch,
): AsyncIterable<ModelEvent> => ({
  // No generator: that would cost each event two promises more.
  [Symbol.asyncIterator]() {
    const reader = openReader(stream, watch)
    const close = closing(reader, watch)
    const bounds = createStreamBounds(watch.clock)
    let [isOver, wasAborted] = [false, false]
    const give = (event: ModelEvent): Result => {
      isOver = event.type === 'done'
      return { value: event, done: false }
    }
    const look = (result: unknown): Result => {
      if (!isResult(result)) throw watch.blamed(fault('what its stream gave is no result of an iterator'))
      if (result.done === true) return result
      const wrong = eventFault(result.value) ?? bounds.exceeded(result.value)
      return give(watch.learn(wrong === undefined ? result.value : broken(watch, wrong)))
    }
    const fail = (error: unknown): never => {
      throw watch.blamed(error)
    }
    const ask = (): Promise<Result> => {
      try {
        return Promise.resolve(reader.next()).then(look, fail)
      } catch (error) {
        return fail(error)
      }
    }
    const askOn = (): Promise<Result> | Result => {
      if (signal.aborted && wasAborted) return give(unheeded)
      wasAborted = signal.aborted
      return ask()
    }
    return {
      next: () => {
        if (isOver) return close()
        const turn = bounds.turn()
        return turn === undefined ? ask() : turn.then(askOn)
      },
      return: close,
    }
  },
})
