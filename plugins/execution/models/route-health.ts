/** Whether the last call of a route failed, whatever its provider is: what a status must not be content with. */
import type { Json } from '../../../core/plugin.js'
import type { AssistantPart, ModelConnection, ModelEvent, ModelFailure, Readiness } from './contract.js'
import { createAnswerCheck, type AnswerCheck } from './bounds/answer-fault.js'
import { eventFault, foreignEventFault } from './bounds/event-fault.js'
import { takenFailure, takenWords } from './bounds/failure.js'
import { frozenRequest, takenEvent } from './bounds/foreign-connection.js'
import { readEvents } from './bounds/event-stream.js'
import type { StreamWatch } from './bounds/patient-reader.js'
import { createStreamBounds, type StreamBounds } from './bounds/stream-bounds.js'
import { correctPlugin, takenReadiness, toldReadiness, type ProviderOf } from './bounds/taken-readiness.js'
import { takenUsage } from './bounds/usage.js'
import type { RouteWords } from './file/route-words.js'
import type { ProviderMember } from './route-config.js'
import type { RoutePace } from './route-pace.js'

/** Failures that say nothing about the route: of the question, and calls that we ended ourselves. */
const beside: ReadonlySet<ModelFailure['class']> = new Set(['aborted', 'context_length'])

export interface Watch extends Omit<StreamWatch, 'broke'>, ProviderOf {
  /** Is told what breaks the contract, and which member did. */
  readonly broke: (member: ProviderMember, wrong: unknown) => void
  /** A text without secrets that the daemon knows. */
  readonly redact: (text: string) => string
  /** What to do about calls that fail, and about what depends on where the route is configured. */
  readonly words: RouteWords
  readonly pace: RoutePace
  /** Its plugin is one of others. */
  readonly isOfOthers?: boolean
}

const inItsPlace = (readiness: Readiness, { key, base_url }: RouteWords): Readiness => {
  const { code } = readiness
  if (code === 'credential_missing' || code === 'credential_refused')
    return { ...toldReadiness(readiness), action: key }
  return code === 'base_url_missing' ? { ...toldReadiness(readiness), action: base_url } : readiness
}

const lengthOfJson = (value: Json | undefined): number => (value === undefined ? 0 : JSON.stringify(value).length)

const lengthOfPart = (part: AssistantPart): number => {
  const beside = lengthOfJson(part.metadata)
  if (part.type === 'tool_call') return beside + lengthOfJson(part.input) + (part.unparsed?.length ?? 0)
  if (part.type !== 'search') return beside + part.text.length
  return part.pages.reduce((sum, { url, title }) => sum + url.length + title.length, beside)
}

const lengthOf = (event: ModelEvent): number => {
  if (event.type === 'text_delta' || event.type === 'reasoning_delta') return event.text.length
  return event.type === 'part' ? lengthOfPart(event.part) : 0
}

type Done = Extract<ModelEvent, { type: 'done' }>

const failed = (failure: ModelFailure): ModelEvent => ({ type: 'done', outcome: 'failed', failure })

const unheeded = failed({
  class: 'aborted',
  retryable: false,
  message: 'The provider did not end when it was told to.',
})

/** Of an end that fits the contract. */
const takenEnd = (end: Done, { redact }: Watch): Done => {
  const { type, outcome } = end
  if (outcome !== 'failed') return { type, outcome, usage: takenUsage(end.usage) }
  const failure = takenFailure(end.failure, redact)
  return { type, outcome, failure, ...(end.usage !== undefined && { usage: takenUsage(end.usage) }) }
}

const silentFor = (provider: string): ModelEvent =>
  failed({ class: 'timeout', retryable: true, message: `The provider ${provider} was silent for too long.` })

/** What has seen the events of one answer so far. */
interface Looks {
  readonly faultOf: typeof eventFault
  readonly bounds: StreamBounds
  readonly check: AnswerCheck
}

/** In place of an answer that breaks the contract of providers: the call has failed for good (models-76). */
const broken = (wrong: string, { provider, broke, redact }: Watch): ModelEvent => {
  broke('stream', wrong)
  const message = `The provider ${provider} gave an answer that breaks the contract of providers: ${wrong}.`
  // The names of members are those of its plugin.
  return failed({ class: 'provider_fault', retryable: false, message: takenWords(message, redact) })
}

const kept = (given: ModelEvent, { faultOf, bounds, check }: Looks, watch: Watch): ModelEvent => {
  const event = watch.isOfOthers ? takenEvent(given) : given
  const wrong = faultOf(event) ?? bounds.exceeded(lengthOf(event)) ?? check(event)
  if (wrong !== undefined) return broken(wrong, watch)
  return event.type === 'done' ? takenEnd(event, watch) : event
}

/**
 * The same connection, whose events keep their contract, and whose readiness is a warning from a failed call until one
 * that succeeds.
 */
export const watchedRoute = (connection: ModelConnection, watch: Watch): ModelConnection => {
  const { words, pace, provider, clock, idle_timeout_ms } = watch
  const silent = silentFor(provider)
  const broke = (wrong: unknown): void => watch.broke('stream', wrong)
  let failures = 0
  let last = { message: '', action: words.check }
  const count = (message: string, action: string): void => {
    failures += 1
    last = { message, action }
  }
  const learn = (event: ModelEvent, model: string): ModelEvent => {
    if (event.type !== 'done') return event
    if (event.outcome !== 'failed') {
      failures = 0
      return event
    }
    const { class: cls, message } = event.failure
    if (!beside.has(cls)) count(message, cls === 'provider_fault' ? correctPlugin(watch) : words.check)
    return { ...event, failure: pace.refused(model, event.failure) }
  }
  const ask = takenReadiness(connection, { ...watch, broke: (wrong) => watch.broke('readiness', wrong) })
  const readiness = (): Readiness => {
    const own = ask()
    if (own.state !== 'ok' || failures === 0) return inItsPlace(own, words)
    const calls = failures === 1 ? 'The last call' : `The last ${failures} calls`
    return { state: 'warning', code: 'route_failing', message: `${calls} failed. ${last.message}`, action: last.action }
  }
  const stream: ModelConnection['stream'] = (request, signal) => {
    const bounds = createStreamBounds(clock)
    const faultOf = watch.isOfOthers ? foreignEventFault : eventFault
    const looks = { faultOf, bounds, check: createAnswerCheck(watch.isOfOthers === true) }
    const look = (event: ModelEvent): ModelEvent => learn(kept(event, looks, watch), request.model)
    const breaks = (wrong: string): ModelEvent => learn(broken(wrong, watch), request.model)
    const blamed = (error: unknown): Error => {
      if (!signal.aborted) count(`The provider ${provider} failed in an unexpected way.`, correctPlugin(watch))
      return watch.blamed(error)
    }
    const asked = watch.isOfOthers ? frozenRequest(request) : request
    const { turn } = bounds
    // What is cut off on its way to a shipped provider says so itself.
    const unfinished = (): ModelEvent | undefined =>
      watch.isOfOthers && !signal.aborted ? breaks('its stream ended without done') : undefined
    const ends = { silent, unheeded, unfinished, broken: breaks }
    const reading = { signal, look, turn, blamed, broke, clock, idle_timeout_ms, ...ends }
    return readEvents((told) => connection.stream(asked, told), reading)
  }
  return { readiness, stream }
}
