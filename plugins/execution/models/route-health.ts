/** Whether the last call of a route failed, whatever its provider is: what a status must not be content with. */
import type { ModelConnection, ModelEvent, ModelFailure, Readiness } from './contract.js'
import { readEvents, type StreamWatch } from './bounds/event-stream.js'
import { takenReadiness } from './bounds/taken-readiness.js'
import type { RouteWords } from './file/route-words.js'
import type { RoutePace } from './route-pace.js'

/** Failures that say nothing about the route: of the question, and calls that we ended ourselves. */
const beside: ReadonlySet<ModelFailure['class']> = new Set(['aborted', 'context_length'])

export interface Watch extends Omit<StreamWatch, 'learn'> {
  /** What to do about calls that fail, and about what depends on where the route is configured. */
  readonly words: RouteWords
  readonly pace: RoutePace
}

const inItsPlace = (readiness: Readiness, { key, base_url }: RouteWords): Readiness => {
  const { code } = readiness
  if (code === 'credential_missing' || code === 'credential_refused') return { ...readiness, action: key }
  return code === 'base_url_missing' ? { ...readiness, action: base_url } : readiness
}

/**
 * The same connection, whose events keep their contract, and whose readiness is a warning from a failed call until one
 * that succeeds.
 */
export const watchedRoute = (connection: ModelConnection, watch: Watch): ModelConnection => {
  const { words, pace } = watch
  let failures = 0
  let last = ''
  const learn = (event: ModelEvent, model: string): ModelEvent => {
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
  const ask = takenReadiness(connection, watch)
  const readiness = (): Readiness => {
    const own = ask()
    if (own.state !== 'ok' || failures === 0) return inItsPlace(own, words)
    const calls = failures === 1 ? 'The last call' : `The last ${failures} calls`
    return { state: 'warning', code: 'route_failing', message: `${calls} failed. ${last}`, action: words.check }
  }
  return {
    readiness,
    stream: (request, signal) =>
      readEvents(() => connection.stream(request, signal), signal, {
        ...watch,
        learn: (event) => learn(event, request.model),
      }),
  }
}
