import type { Clock } from '../../../core/plugin.js'
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
import { classify, failures } from './failure.js'
import { chatOptions } from './prompt.js'
import type { Transport } from './transport.js'

interface Link extends ConnectionOptions {
  readonly base_url: string
  readonly clock: Clock
  readonly transport: Transport
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

/** Throws a Problem for options that cannot work. */
export const createConnection = (options: ConnectionOptions, clock: Clock, transport: Transport): ModelConnection => {
  const link: Link = { ...options, base_url: checkedBaseUrl(options.base_url), clock, transport }
  if (!/^[\x21-\x7e]*$/u.test(options.api_key ?? '')) throw linkErrors.api_key_invalid()
  let readiness = ready
  const learn = (event: ModelEvent): ModelEvent => {
    if (event.type !== 'done') return event
    if (event.outcome !== 'failed') readiness = ready
    else if (event.failure.class === 'auth') readiness = refused
    return event
  }
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    for await (const event of converse(link, request, signal)) yield learn(event)
  }
  return { readiness: () => readiness, stream }
}

async function* converse(link: Link, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const call = createCall({ ...link, signal })
  try {
    yield* answer(link, request, call)
  } catch (error) {
    yield { type: 'done', outcome: 'failed', failure: failureOf(error, call, link.clock) }
  } finally {
    call.close()
  }
}

/** An abort looks like any other error of the vendor's package, so our own reason comes first. */
const failureOf = (error: unknown, call: Call, clock: Clock): ModelFailure => {
  const ended = call.ended()
  if (ended === undefined) return classify(error, clock.now)
  return ended === 'aborted' ? failures.aborted() : failures.silent()
}

async function* answer(
  { base_url, api_key, transport, clock }: Link,
  request: ModelRequest,
  call: Call,
): AsyncGenerator<ModelEvent> {
  const fetch = await transport.fetchFor(call)
  const model = await openChatModel({ base_url, api_key, model: request.model, fetch })
  const { stream } = await call.wait(model.doStream(chatOptions(request, call.signal)))
  const reader = stream.getReader()
  const so = createAnswer(clock.now)
  for (;;) {
    const { done, value } = await call.wait(reader.read())
    if (done) break
    const text = so.take(value)
    if (text !== undefined) yield { type: 'text_delta', text }
  }
  yield* so.end()
}
