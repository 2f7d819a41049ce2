/**
 * Sorts what can go wrong by what can be done about it. Sentences are ours; what the provider itself said stands behind
 * them, made safe and short.
 */
import { anyOf, Problem, retryAfter } from '../../../core/plugin.js'
import type { FailureClass, ModelFailure } from '../../execution/models/contract.js'
import { safeWords, saidIn } from './vendor-words.js'

const failure = (cls: FailureClass, retryable: boolean, message: string): ModelFailure => ({
  class: cls,
  retryable,
  message,
})

export const failures = {
  aborted: () => failure('aborted', false, 'The model call was aborted.'),
  silent: () => failure('timeout', true, 'The provider was silent for too long.'),
  truncated: () => failure('truncated', true, 'The answer of the provider was cut off.'),
  overloaded: () => failure('overloaded', true, 'The provider broke off its answer.'),
  filtered: () => failure('bad_request', false, 'The content filter of the provider stopped the answer.'),
  invalid: (why: string) => failure('invalid_output', true, `The answer of the provider cannot be used. ${why}`),
} as const

/** What is known of an error of the vendor's package, whose classes are not loaded here. */
interface Seen {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
  /** What the server said about it; for recognising, never for showing. */
  readonly text: string
  /** What it said, for showing. */
  readonly words: string | undefined
  /** The server's machine-readable code, if it looks like one. */
  readonly code: string | undefined
  /** True if the server itself described the error. */
  readonly server: boolean
  /** Codes and names of the error and its causes. */
  readonly marks: readonly string[]
}

/** What was asked, as far as failures tell of it. */
export interface Asked {
  readonly model: string
  /** False if no key was given, so that none can be refused. */
  readonly keyed: boolean
  readonly redact: (text: string) => string
  readonly now: () => number
}

export const classify = (error: unknown, asked: Asked): ModelFailure => {
  const ours = [...causes(error)].find((link) => link instanceof Problem)
  if (ours instanceof Problem)
    return ours.code === 'provider_answers_too_large'
      ? failure('overloaded', true, ours.message)
      : failure('bad_request', false, ours.message)
  const seen = look(error, asked)
  const found = seen.status !== undefined && seen.status >= 400 ? byStatus(seen, seen.status, asked) : byMarks(seen)
  return seen.words === undefined ? found : { ...found, message: `${found.message} It said: "${seen.words}"` }
}

const milliseconds = /^\d{1,9}(?:\.\d{1,6})?$/u

/** When the server wants to be asked again, milliseconds from now: `retry-after-ms`, else `retry-after`. */
const askedWait = ({ headers }: Seen, { now }: Asked): number | undefined => {
  const ms = headers['retry-after-ms']?.trim() ?? ''
  return milliseconds.test(ms) ? Math.round(Number(ms)) : retryAfter(headers['retry-after'], now())
}

const byStatus = (seen: Seen, status: number, asked: Asked): ModelFailure => {
  const wait = askedWait(seen, asked)
  const { class: cls, retryable, sentence } = rowOf(seen, status, asked)
  const said = seen.code === undefined ? `status ${status}` : `status ${status}, ${seen.code}`
  return {
    class: cls,
    retryable,
    message: `${sentence} (${said}).`,
    status,
    ...(retryable && wait !== undefined && { retry_after_ms: wait }),
  }
}

interface Row {
  readonly class: FailureClass
  readonly retryable: boolean
  readonly sentence: string
}
const row = (cls: FailureClass, retryable: boolean, sentence: string): Row => ({ class: cls, retryable, sentence })

const outOfCredit = /insufficient_quota|insufficient[ _]credits?|billing_hard_limit|exceeded your current quota/iu
const tooLong = anyOf(
  [
    /context[ _]length|context[ _]window|context[ _]size|maximum context/u,
    /too many (?:input )?tokens|prompt is too long|input is too long/u,
    /exceeds? the (?:model'?s )?(?:maximum|available) (?:context|number of tokens)/u,
  ],
  'iu',
)

const noModel = row('bad_request', false, 'The provider does not have this model')
const nothingThere = row(
  'bad_request',
  false,
  'The provider has nothing at this address; the base URL may lack its path, such as /v1',
)
/** What a server says of a model that it lacks, and not of a path. */
const speaksOfModel = ({ text, code }: Seen, { model }: Asked): boolean =>
  code === 'model_not_found' || /\bmodel\b/iu.test(text) || text.includes(model)

const rowOf = (seen: Seen, status: number, asked: Asked): Row => {
  const { text, code } = seen
  if (status === 402 || (status === 429 && outOfCredit.test(text)))
    return row('rate_limited', false, 'The account at the provider has no credit left')
  if (status === 429) return row('rate_limited', true, 'The provider limits the rate of requests')
  if (status === 401 || status === 403)
    return row(
      'auth',
      false,
      asked.keyed ? 'The provider refused the key' : 'The provider wants a key, and none was given',
    )
  if (status === 408) return row('timeout', true, 'The provider gave up waiting')
  if (status === 413 || (status < 500 && tooLong.test(text)))
    return row('context_length', false, 'The conversation is too long for the model')
  if (status === 409 || status === 425) return row('overloaded', true, 'The provider cannot answer now')
  if (status === 404) return speaksOfModel(seen, asked) ? noModel : nothingThere
  if (status < 500 && code === 'model_not_found') return noModel
  if (status < 500) return row('bad_request', false, 'The provider refused the request')
  return tooLong.test(text)
    ? row('context_length', false, 'The conversation is too long for the model')
    : row('overloaded', true, 'The provider failed')
}

const cut = /UND_ERR_SOCKET|ECONNRESET|EPIPE|UND_ERR_ABORTED|ERR_STREAM_PREMATURE_CLOSE|HPE_/u
const unreachable =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|EADDRNOTAVAIL/u
const untrusted = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO/u

const byMarks = (seen: Seen): ModelFailure => {
  const { status, marks, text, server } = seen
  const some = (pattern: RegExp): boolean => marks.some((mark) => pattern.test(mark))
  if (some(untrusted))
    return failure('network', false, 'The TLS certificate or protocol of the provider cannot be trusted.')
  if (some(unreachable)) return failure('network', true, 'The provider cannot be reached.')
  if (some(cut))
    return status === undefined
      ? failure('network', true, 'The connection to the provider broke.')
      : failures.truncated()
  if (/without a finish reason/u.test(text)) return failures.truncated()
  if (server) return byWords(seen)
  if (some(/JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody/u))
    return failures.invalid('It does not follow the protocol.')
  return failure('unknown', false, 'The model call failed for a reason that is not known.')
}

/** An error that the server put into its stream without a status. */
const byWords = ({ text }: Seen): ModelFailure => {
  if (tooLong.test(text)) return failure('context_length', false, 'The conversation is too long for the model.')
  if (/rate.?limit/iu.test(text)) return failure('rate_limited', true, 'The provider limits the rate of requests.')
  if (/invalid_request/u.test(text)) return failure('bad_request', false, 'The provider refused the request.')
  return failures.overloaded()
}

const look = (error: unknown, { redact }: Asked): Seen => {
  const chain = [...causes(error)]
  const outer = chain[0] ?? {}
  const said = chain.map((link) => saidBy(link)).find((code) => code !== undefined)
  return {
    status: chain.map(statusOf).find((status) => status !== undefined),
    headers: plainHeaders(outer['responseHeaders']),
    text: chain
      .flatMap((link) => [link['message'], link['responseBody'], link['code'], link['type']])
      .filter((piece) => typeof piece === 'string')
      .join('\n')
      .slice(0, 10_000),
    words: safeWords(saidIn(chain), redact),
    code: said,
    server: chain.some((link) => !(link instanceof Error) && typeof link['message'] === 'string'),
    marks: chain.flatMap((link) => [link['code'], link['name']]).filter((mark) => typeof mark === 'string'),
  }
}

type Link = Readonly<Record<string, unknown>>
const isLink = (value: unknown): value is Link => typeof value === 'object' && value !== null

/** An error, what caused it, and what a server put into an `error` of its own. */
function* causes(error: unknown, depth = 0): Generator<Link> {
  if (!isLink(error) || depth > 8) return
  yield error
  yield* causes(error['cause'], depth + 1)
  yield* causes(error['error'], depth + 1)
  yield* causes(error['data'], depth + 1)
}

/** Mid-stream errors carry the status in `code`. */
const statusOf = (link: Link): number | undefined => {
  const status = Number(link['statusCode'] ?? link['code'])
  return Number.isInteger(status) && status >= 100 && status <= 599 ? status : undefined
}

const saidBy = (link: Link): string | undefined =>
  [link['code'], link['type']].find(
    (word): word is string => typeof word === 'string' && /^[a-z]+(?:_[a-z]+){1,6}$/u.test(word) && word.length <= 48,
  )

const plainHeaders = (value: unknown): Readonly<Record<string, string>> => {
  if (!isLink(value)) return {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, text]) => (typeof text === 'string' ? [[name.toLowerCase(), text]] : [])),
  )
}
