/** Whether the last call of a route failed, whatever its provider is: what a status must not be content with. */
import type { ModelConnection, ModelEvent, ModelFailure, Readiness } from './contract.js'
import { eventFault } from './bounds/event-fault.js'
import type { RouteWords } from './file/route-words.js'
import type { RoutePace } from './route-pace.js'

/** Failures that say nothing about the route: of the question, and calls that we ended ourselves. */
const beside: ReadonlySet<ModelFailure['class']> = new Set(['aborted', 'context_length'])

export interface Watch {
  /** Who is to blame for an event that is none. */
  readonly provider: string
  readonly broke: (wrong: string) => void
  /** What to do about calls that fail, and about what depends on where the route is configured. */
  readonly words: RouteWords
  readonly pace: RoutePace
}

const inItsPlace = (readiness: Readiness, { key, base_url }: RouteWords): Readiness => {
  const { code } = readiness
  if (code === 'credential_missing' || code === 'credential_refused') return { ...readiness, action: key }
  return code === 'base_url_missing' ? { ...readiness, action: base_url } : readiness
}

/** In place of an event that breaks the contract of providers: the call has failed for good (models-76). */
const kept = (event: ModelEvent, { provider, broke }: Pick<Watch, 'provider' | 'broke'>): ModelEvent => {
  const fault = eventFault(event)
  if (fault === undefined) return event
  broke(fault)
  const message = `The provider ${provider} gave an answer that breaks the contract of providers: ${fault}.`
  return { type: 'done', outcome: 'failed', failure: { class: 'provider_fault', retryable: false, message } }
}

/**
 * The same connection, whose events keep their contract, and whose readiness is a warning from a failed call until one
 * that succeeds.
 */
export const watchedRoute = (connection: ModelConnection, watch: Watch): ModelConnection => {
  const { words, pace } = watch
  let failures = 0
  let last = ''
  const learn = (given: ModelEvent, model: string): ModelEvent => {
    const event = kept(given, watch)
    if (event.type !== 'done') return event
    if (event.outcome !== 'failed') {
      failures = 0
      return event
    }
    if (!beside.has(event.failure.class)) {
      failures += 1
      last = event.failure.message
    }
    return { ...event, failure: pace.refused(model, event.failure) }
  }
  const readiness = (): Readiness => {
    const own = connection.readiness()
    if (own.state !== 'ok' || failures === 0) return inItsPlace(own, words)
    const calls = failures === 1 ? 'The last call' : `The last ${failures} calls`
    return { state: 'warning', code: 'route_failing', message: `${calls} failed. ${last}`, action: words.check }
  }
  return {
    readiness,
    stream: (request, signal) => watched(connection.stream(request, signal), (event) => learn(event, request.model)),
  }
}

/** The same events, each looked at before it is read. No generator: that would cost each of them two promises more. */
const watched = (
  events: AsyncIterable<ModelEvent>,
  look: (event: ModelEvent) => ModelEvent,
): AsyncIterable<ModelEvent> => ({
  [Symbol.asyncIterator]() {
    const reader = events[Symbol.asyncIterator]()
    const close = async (): Promise<IteratorResult<ModelEvent>> =>
      (await reader.return?.()) ?? { value: undefined, done: true }
    let isOver = false
    const told = (result: IteratorResult<ModelEvent>): IteratorResult<ModelEvent> => {
      if (result.done === true) return result
      const value = look(result.value)
      isOver = value.type === 'done'
      return value === result.value ? result : { done: false, value }
    }
    return {
      next: () => (isOver ? close() : reader.next().then(told)),
      return: close,
    }
  },
})
