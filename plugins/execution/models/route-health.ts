/** Whether the last call of a route failed, whatever its provider is: what a status must not be content with. */
import type { ModelConnection, ModelEvent, ModelFailure, Readiness } from './contract.js'

/** Failures that say nothing about the route: of the question, and calls that we ended ourselves. */
const beside: ReadonlySet<ModelFailure['class']> = new Set(['aborted', 'context_length'])

/** The same connection, whose readiness is a warning, with this action, from a failed call until one that succeeds. */
export const watchedRoute = (connection: ModelConnection, action: string): ModelConnection => {
  let failures = 0
  let last = ''
  const learn = (event: ModelEvent): void => {
    if (event.type !== 'done') return
    if (event.outcome !== 'failed') failures = 0
    else if (!beside.has(event.failure.class)) {
      failures += 1
      last = event.failure.message
    }
  }
  const readiness = (): Readiness => {
    const own = connection.readiness()
    if (own.state !== 'ok' || failures === 0) return own
    const calls = failures === 1 ? 'The last call' : `The last ${failures} calls`
    return { state: 'warning', code: 'route_failing', message: `${calls} failed. ${last}`, action }
  }
  return { readiness, stream: (request, signal) => watched(connection.stream(request, signal), learn) }
}

/** The same events, each told before it is read. No generator: that would cost each of them two promises more. */
const watched = (events: AsyncIterable<ModelEvent>, tell: (event: ModelEvent) => void): AsyncIterable<ModelEvent> => ({
  [Symbol.asyncIterator]() {
    const reader = events[Symbol.asyncIterator]()
    const told = (result: IteratorResult<ModelEvent>): IteratorResult<ModelEvent> => {
      if (result.done !== true) tell(result.value)
      return result
    }
    return {
      next: () => reader.next().then(told),
      return: async () => (await reader.return?.()) ?? { value: undefined, done: true },
    }
  },
})
