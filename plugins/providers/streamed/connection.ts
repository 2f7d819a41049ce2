import type { Clock } from '../../../core/plugin.js'
import type {
  ConnectionOptions,
  ModelConnection,
  ModelEvent,
  ModelRequest,
  Readiness,
} from '../../execution/models/contract.js'
import { checkedBaseUrl } from './base-url.js'
import { Call } from './call.js'
import type { Protocol } from './contract.js'
import { linkErrors } from './errors.js'
import type { Asked } from './failure.js'
import { limitsIn } from './limits/rate-limits.js'
import type { Transport } from './transport/transport.js'

/** What connections share. */
export interface LinkParts {
  readonly clock: Clock
  readonly transport: Transport
  /** A turn of the event loop of one's own. */
  readonly inTurn: () => Promise<void>
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
const answered: Readiness = { ...ready, message: 'The provider answered the last call.' }
const refused: Readiness = {
  state: 'warning',
  code: 'credential_refused',
  message: 'The provider refused the key at the last call.',
}
const missing: Readiness = {
  state: 'warning',
  code: 'credential_missing',
  message: 'The provider wanted a key at the last call, and none is given.',
}

/** A vendor's own server answers nobody without. */
const keyless = ({ provider }: Protocol): Readiness => ({
  ...missing,
  state: 'error',
  message: `The provider ${provider} needs a key, and none is given.`,
})

/** Throws a Problem for options that cannot work. */
export const createConnection = (options: ConnectionOptions, protocol: Protocol, parts: LinkParts): ModelConnection => {
  const base_url = checkedBaseUrl(options.base_url ?? protocol.base_url, protocol.provider)
  const link: Link = { ...options, ...parts, base_url }
  if (!/^[\x21-\x7e]*$/u.test(options.api_key ?? '')) throw linkErrors.api_key_invalid()
  // Nobody's own server needs a key, a vendor's does.
  const isVendors = options.base_url === undefined && protocol.base_url !== undefined
  let readiness = isVendors && options.api_key === undefined ? keyless(protocol) : ready
  const learn = (event: ModelEvent): ModelEvent => {
    if (event.type !== 'done') return event
    const cls = event.outcome === 'failed' ? event.failure.class : undefined
    // What failed otherwise after it is what the last call says; an aborted one says nothing.
    if (cls === 'auth') readiness = options.api_key === undefined ? missing : refused
    else if (cls === undefined) readiness = answered
    else if (cls !== 'aborted') readiness = ready
    return event
  }
  const address = new URL(base_url)
  const root = address.pathname.replace(/\/$/u, '')
  const headers = [...always, ...protocol.headers(options.api_key)]
  const bodyOf = protocol.bodies(address)
  const stream = (request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> => {
    const asked = askedOf(link, request)
    return new Call({
      clock: parts.clock,
      transport: parts.transport,
      inTurn: parts.inTurn,
      signal,
      idle_timeout_ms: options.idle_timeout_ms,
      asked,
      plainly: address.protocol === 'http:',
      answer: protocol.answer(asked, request),
      question: () => ({
        origin: address.origin,
        path: `${root}${protocol.path(request)}`,
        headers,
        body: bodyOf(request),
      }),
      heard: (answered) => options.tellLimits?.(request.model, limitsIn(answered, parts.clock.now())),
      ending: (event) => named(link, request, learn(event)),
    })
  }
  return { readiness: () => readiness, stream }
}

const always = ['content-type', 'application/json', 'user-agent', 'holdfast', 'accept-encoding', 'identity']

/** Whoever reads a failure wants to know whom was asked for what. */
const named = ({ base_url, transport }: Link, { model }: ModelRequest, event: ModelEvent): ModelEvent => {
  if (event.type !== 'done' || event.outcome !== 'failed' || event.failure.class === 'aborted') return event
  const { message, ...failure } = event.failure
  const asked =
    transport.isPlayed === true ? 'A cassette is played: no server was asked.' : `Asked: ${base_url}, model ${model}.`
  return { ...event, failure: { ...failure, message: `${message} ${asked}` } }
}

const askedOf = ({ api_key, clock, redact }: Link, { model }: ModelRequest): Asked => ({
  model,
  keyed: api_key !== undefined,
  redact: (text) => redact(api_key === undefined ? text : text.replaceAll(api_key, '[redacted]')),
  now: clock.now,
})
