import { createPause, type Clock } from '../../../core/plugin.js'
import type {
  ConnectionOptions,
  ModelConnection,
  ModelEvent,
  ModelFailure,
  ModelRequest,
  Readiness,
} from '../../execution/models/contract.js'
import { createAnswer } from './answer.js'
import { checkedBaseUrl } from './base-url.js'
import { createCall, type Call } from './call.js'
import { openChatModel } from './chat-model.js'
import { linkErrors } from './errors.js'
import { classify, failures, type Asked } from './failure.js'
import { chatOptions } from './prompt.js'
import type { Transport } from './transport.js'

/** What connections share. */
export interface LinkParts {
  readonly clock: Clock
  readonly transport: Transport
  /** The text without secrets that the daemon knows. */
  readonly redact: (text: string) => string
}

interface Link extends ConnectionOptions, LinkParts {
  readonly base_url: string
}

const ready: Readiness = {
  state: 'ok',
  code: 'ready',
  message: 'The route is configured; the provider is asked with the first run.',
}
const refused: Readiness = {
  state: 'warning',
  code: 'credential_refused',
  message: 'The provider refused the key at the last call.',
  action: 'Start with a valid --api-key or --api-key-file.',
}
const missing: Readiness = {
  state: 'warning',
  code: 'credential_missing',
  message: 'The provider wanted a key at the last call, and none is given.',
  action: 'Start with --api-key-file FILE, or set SERVICE_API_KEY.',
}

/** Throws a Problem for options that cannot work. */
export const createConnection = (options: ConnectionOptions, parts: LinkParts): ModelConnection => {
  const link: Link = { ...options, ...parts, base_url: checkedBaseUrl(options.base_url) }
  if (!/^[\x21-\x7e]*$/u.test(options.api_key ?? '')) throw linkErrors.api_key_invalid()
  let readiness = ready
  const learn = (event: ModelEvent): ModelEvent => {
    if (event.type !== 'done') return event
    const cls = event.outcome === 'failed' ? event.failure.class : undefined
    // What failed otherwise after it is what the last call says; an aborted one says nothing.
    if (cls === 'auth') readiness = options.api_key === undefined ? missing : refused
    else if (cls !== 'aborted') readiness = ready
    return event
  }
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    for await (const event of converse(link, request, signal)) yield named(link, request, learn(event))
  }
  return { readiness: () => readiness, stream }
}

/** Whoever reads a failure wants to know whom was asked for what. */
const named = ({ base_url }: Link, { model }: ModelRequest, event: ModelEvent): ModelEvent => {
  if (event.type !== 'done' || event.outcome !== 'failed' || event.failure.class === 'aborted') return event
  const { message, ...failure } = event.failure
  return { ...event, failure: { ...failure, message: `${message} Asked: ${base_url}, model ${model}.` } }
}

const askedOf = ({ api_key, clock, redact }: Link, { model }: ModelRequest): Asked => ({
  model,
  keyed: api_key !== undefined,
  redact: (text) => redact(api_key === undefined ? text : text.replaceAll(api_key, '[redacted]')),
  now: clock.now,
})

async function* converse(link: Link, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const call = createCall({ ...link, signal })
  try {
    yield* answer(link, request, call)
  } catch (error) {
    yield { type: 'done', outcome: 'failed', failure: failureOf(error, call, askedOf(link, request)) }
  } finally {
    call.close()
  }
}

/** An abort looks like any other error of the vendor's package, so our own reason comes first. */
const failureOf = (error: unknown, call: Call, asked: Asked): ModelFailure => {
  const ended = call.ended()
  if (ended === undefined) return classify(error, asked)
  return ended === 'aborted' ? failures.aborted() : failures.silent()
}

/** Parts that are read in one turn of the event loop: a server may send very many at once. */
const partsInOneTurn = 32

async function* answer(link: Link, request: ModelRequest, call: Call): AsyncGenerator<ModelEvent> {
  const { base_url, api_key, transport } = link
  const fetch = await transport.fetchFor(call)
  const model = await openChatModel({ base_url, api_key, model: request.model, fetch })
  const { stream } = await call.wait(model.doStream(chatOptions(request, call.signal)))
  const reader = stream.getReader()
  const so = createAnswer(askedOf(link, request))
  const pause = createPause(partsInOneTurn)
  for (;;) {
    const { done, value } = await call.wait(reader.read())
    if (done) break
    await pause()
    const text = so.take(value)
    if (text !== undefined) yield { type: 'text_delta', text }
  }
  yield* so.end()
}
