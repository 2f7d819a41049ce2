/** Asks the server of a route, once, within bounds. */
import {
  fault,
  outboundTarget,
  refusedUrl,
  unsendableHeader,
  type Outbound,
  type OutboundAnswer,
} from '../../../core/plugin.js'
import type { ConnectionOptions, FailureClass } from '../../execution/models/contract.js'
import { refused } from '../../providers/streamed/contract.js'
import type { MediaMaker, MediaQuestion, MediaReply, MediaServer } from './wishes.js'
import { makerErrors } from './errors.js'
import { mostAnswer } from './maker-answers.js'

export interface ServerParts {
  readonly outbound: Pick<Outbound, 'request'>
  /** The text without secrets that the daemon knows. */
  readonly redact: (text: string) => string
  readonly now: () => number
}

export interface ServerWish {
  readonly maker: MediaMaker
  readonly reach: ConnectionOptions
  readonly model: string
  readonly signal: AbortSignal
}

/** Milliseconds of a whole call. */
export const mostMs = 180_000
/** Bytes of a picture that stands elsewhere. */
const mostPicture = 16 * 1024 * 1024
const mostRefusal = 100_000

type Answer = Extract<OutboundAnswer, { type: 'answer' }>

/** Nobody was asked then. */
const unsent: ReadonlySet<string> = new Set([
  'outbound_url_invalid',
  'outbound_request_invalid',
  'outbound_address_refused',
  'outbound_name_not_found',
  'outbound_connection_failed',
  'outbound_certificate_refused',
])

const arrived = (answer: OutboundAnswer): Answer => {
  if (answer.type === 'answer') return answer
  const { code } = answer
  if (unsent.has(code)) throw makerErrors.media_not_reached({ details: { code } })
  if (code === 'outbound_answer_too_large')
    throw makerErrors.media_answer_unusable({ details: { reason: `it is larger than ${mostAnswer} bytes` } })
  throw makerErrors.media_outcome_unknown({ details: { code } })
}

/** What the model can correct. */
const ofRequest: ReadonlySet<FailureClass> = new Set<FailureClass>(['bad_request', 'context_length'])

const refusal = ({ redact, now }: ServerParts, { model, reach }: ServerWish, answer: Answer) => {
  const { status, headers, body } = answer
  if (status < 400)
    return makerErrors.media_server_unwilling({ details: { reason: `It redirects (status ${status}).` } })
  const key = reach.api_key
  const {
    class: cls,
    message,
    retry_after_ms,
  } = refused(
    { status, headers, body: Buffer.from(body).toString('utf8', 0, mostRefusal) },
    {
      model,
      keyed: key !== undefined,
      now,
      redact: (text) => redact(key === undefined ? text : text.replaceAll(key, '[redacted]')),
    },
  )
  const wait =
    retry_after_ms === undefined ? '' : ` It wants to be asked again in ${Math.ceil(retry_after_ms / 1000)} s.`
  const details = { reason: `${message}${wait}` }
  return ofRequest.has(cls) ? makerErrors.media_refused({ details }) : makerErrors.media_server_unwilling({ details })
}

/** A maker in a plugin that no compiler has checked may ask anything; nothing has left then. */
const checkQuestion = ({ path, content_type, body }: MediaQuestion): void => {
  const isBody = typeof body === 'string' || body instanceof Uint8Array
  if (typeof path !== 'string' || !path.startsWith('/')) throw fault('the path of its question does not begin with /')
  if (typeof content_type !== 'string') throw fault('the content_type of its question is no text')
  if (unsendableHeader({ 'content-type': content_type }) !== undefined)
    throw fault('the content_type of its question cannot be sent')
  if (!isBody) throw fault('the body of its question is neither a text nor bytes')
}

const isSuccess = ({ status }: Answer): boolean => status >= 200 && status <= 299

export const createServer = (parts: ServerParts, wish: ServerWish): MediaServer => {
  const { maker, reach, model, signal } = wish
  const base = (reach.base_url ?? maker.base_url ?? '').replace(/\/+$/u, '')
  const limits = { timeout_ms: mostMs, signal }
  const ask: MediaServer['ask'] = async (question): Promise<MediaReply> => {
    checkQuestion(question)
    const { path, content_type, body } = question
    const answer = arrived(
      await parts.outbound.request({
        ...limits,
        method: 'POST',
        url: `${base}${path}`,
        headers: {
          'content-type': content_type,
          'user-agent': 'holdfast',
          'accept-encoding': 'identity',
          ...maker.headers(reach),
        },
        body,
        max_answer_bytes: mostAnswer,
        // The operator has named this host, and no answer leads to another one.
        allow_private_network: true,
      }),
    )
    if (!isSuccess(answer)) throw refusal(parts, wish, answer)
    return { content_type: answer.headers['content-type'] ?? '', body: answer.body }
  }
  const fetch: MediaServer['fetch'] = async (url) => {
    const isOwn = outboundTarget(url) === outboundTarget(base)
    const reachable = { allow_private_network: isOwn }
    const rule = refusedUrl(url, reachable)
    const elsewhere = (why: string) =>
      makerErrors.media_answer_unusable({ details: { reason: `it lies at an address that ${why}` } })
    if (rule !== undefined) throw elsewhere(rule)
    const answer = await parts.outbound.request({
      ...limits,
      ...reachable,
      method: 'GET',
      url,
      headers: { 'user-agent': 'holdfast' },
      max_answer_bytes: mostPicture,
    })
    if (answer.type === 'failure') throw elsewhere(`cannot be asked (${answer.code})`)
    if (!isSuccess(answer)) throw elsewhere(`answers with status ${answer.status}`)
    return answer.body
  }
  return { model, ask, fetch }
}
