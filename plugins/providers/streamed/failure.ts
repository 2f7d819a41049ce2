/**
 * Sorts what can go wrong by what can be done about it. Sentences are ours; what the provider itself said stands behind
 * them, made safe and short.
 */
import { anyOf, Problem } from '../../../core/plugin.js'
import type { FailureClass, ModelFailure } from '../../execution/models/contract.js'
import { askedWait, waitIn } from './limits/asked-wait.js'
import { isLink, type Link } from './link.js'
import { parsed, safeWords, sentenceIn } from './vendor-words.js'

const failure = (cls: FailureClass, retryable: boolean, message: string): ModelFailure => ({
  class: cls,
  retryable,
  message,
})

export const failures = {
  aborted: () => failure('aborted', false, 'The model call was aborted.'),
  silent: () => failure('timeout', true, 'The provider was silent for too long.'),
  wordless: () =>
    failure('timeout', true, 'The provider kept the connection alive for too long and said nothing on it.'),
  truncated: () => failure('truncated', true, 'The answer of the provider was cut off.'),
  overloaded: () => failure('overloaded', true, 'The provider broke off its answer.'),
  filtered: () => failure('bad_request', false, 'The content filter of the provider stopped the answer.'),
  invalid: (why: string) => failure('invalid_output', true, `The answer of the provider cannot be used. ${why}`),
  excessive: () =>
    failure(
      'invalid_output',
      false,
      'The provider sent an event with more in it than is read at once (4 MiB, 128 levels).',
    ),
} as const

/** What is known of a failure. */
interface Seen {
  /** What the server said about it; for recognising, never for showing. */
  readonly text: string
  /** What it said, for showing. */
  readonly words: string | undefined
  /** The server's machine-readable code, if it looks like one. */
  readonly code: string | undefined
}

/** What was asked, as far as failures tell of it. */
export interface Asked {
  readonly model: string
  /** False if no key was given, so that none can be refused. */
  readonly keyed: boolean
  readonly redact: (text: string) => string
  readonly now: () => number
}

/** An answer whose status says that it is none. */
export interface Refusal {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Its beginning is enough. */
  readonly body: string
}

const withWords = (found: ModelFailure, { words }: Seen): ModelFailure =>
  words === undefined ? found : { ...found, message: `${found.message} It said: "${words}"` }

/** The server refused the request. */
export const refused = (refusal: Refusal, asked: Asked): ModelFailure => {
  const said = parsed(refusal.body)
  const seen: Seen = {
    text: refusal.body.slice(0, 10_000),
    words: safeWords(sentenceIn(said), asked.redact),
    code: codeIn(said),
  }
  return withWords(byStatus(seen, refusal, asked), seen)
}

/** The server put an error into its stream, whose status is its code, if it has one. */
export const told = (error: unknown, asked: Asked): ModelFailure => {
  const { message, code, type } = isLink(error) ? error : {}
  const seen: Seen = {
    text: [message, code, type]
      .filter((piece) => typeof piece === 'string')
      .join('\n')
      .slice(0, 10_000),
    words: safeWords(sentenceIn(error), asked.redact),
    code: codeIn(error),
  }
  const status = Number(code)
  const found =
    Number.isInteger(status) && status >= 400 && status <= 599
      ? byStatus(seen, { status, headers: {}, body: JSON.stringify(error) }, asked)
      : byWords(seen)
  return withWords(found, seen)
}

/** What answered is nothing that can be used. */
export const unusable = ({ code, message }: Problem): ModelFailure =>
  code === 'provider_answers_too_large' ? failure('overloaded', true, message) : failure('bad_request', false, message)

/** How far it was when it broke off. */
interface Break {
  /** The server had begun its answer. */
  readonly answered: boolean
  /** It was asked by http, and not by https. */
  readonly plainly: boolean
}

/** The request or the answer broke off. */
export const broken = (error: unknown, { answered, plainly }: Break): ModelFailure => {
  if (error instanceof Problem) return unusable(error)
  const marks = [...causes(error)].flatMap((link) => [link['code'], link['name']])
  const some = (pattern: RegExp): boolean => marks.some((mark) => typeof mark === 'string' && pattern.test(mark))
  if (some(stopped)) return failures.aborted()
  if ([...causes(error)].some(isWithoutTls)) return failure('network', false, withoutTlsText)
  if (some(untrusted))
    return failure('network', false, 'The TLS certificate or protocol of the provider cannot be trusted.')
  if (some(unreachable)) return failure('network', true, 'The provider cannot be reached.')
  if (some(overflow))
    return failure('network', false, 'The headers of the answer are larger than any that are read (16 KiB).')
  if (some(unread) && !answered) return failure('network', false, unreadText(plainly))
  if ([...causes(error)].some(isUnasked)) return failure('network', true, unaskedText)
  if (some(cut)) return answered ? failures.truncated() : failure('network', true, cutText(error, plainly))
  return failure('unknown', false, 'The model call failed for a reason that is not known.')
}

const byStatus = (seen: Seen, refusal: Refusal, asked: Asked): ModelFailure => {
  const { status } = refusal
  const wait = askedWait(refusal, asked.now())
  const {
    class: cls,
    retryable,
    sentence,
  } = status === 429 && waitIn(refusal) !== undefined ? limited : rowOf(seen, status, asked)
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

const outOfCredit = anyOf(
  [
    /insufficient_quota|insufficient[ _]credits?|billing_hard_limit/u,
    /exceeded your current quota|credit balance is too low/u,
  ],
  'iu',
)
const tooLong = anyOf(
  [
    /context[ _](?:length|window|size|limit)|maximum context|maximum prompt length/u,
    /too many (?:input )?tokens|prompt is too long|input is too long/u,
    /exceeds? the (?:model'?s )?(?:maximum|available) (?:context|number of tokens)/u,
    /reduce the length of the (?:messages|prompt|input)|`?inputs`? tokens \+ `?max_new_tokens/u,
    /exceed(?:s|ed) (?:the )?model token limit|range of input length|input length \(?\d+(?: tokens)?\)? exceeds/u,
  ],
  'iu',
)

const refusedKey = /\bAPI_KEY_INVALID\b|API key (?:not valid|expired)/iu

const limited = row('rate_limited', true, 'The provider limits the rate of requests')
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
  if (status === 402 || ((status === 429 || status === 400) && outOfCredit.test(text)))
    return row('rate_limited', false, 'The account at the provider has no credit left')
  if (status === 429) return limited
  if (status === 401 || status === 403 || (status === 400 && refusedKey.test(text)))
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

const overflow = /UND_ERR_HEADERS_OVERFLOW/u
const unread = /^HTTPParserError$|^HPE_/u
const unreadText = (plainly: boolean): string =>
  'What answers at this address speaks no HTTP that can be read: the port may be that of another program' +
  (plainly ? ', or the server wants https.' : '.')
/** Where bytes came on the connection, also for an earlier answer, the server speaks HTTP: undici counts them. */
const cutText = (error: unknown, plainly: boolean): string => {
  const hasSpoken = [...causes(error)].some(({ socket }) => isLink(socket) && Number(socket['bytesRead']) > 0)
  return plainly && !hasSpoken
    ? 'The connection to the provider broke before anything was answered; the server may want https.'
    : 'The connection to the provider broke.'
}
/** The handshake was answered with something else than TLS. */
const isWithoutTls = ({ code, message }: Link): boolean =>
  [code, message].some(
    (mark) => typeof mark === 'string' && /wrong[ _]version[ _]number|packet[ _]length[ _]too[ _]long/iu.test(mark),
  )
const withoutTlsText =
  'What answers at this address speaks no TLS: the server may want http, or the port may be that of another program.'
const cut = /UND_ERR_SOCKET|ECONNRESET|EPIPE|UND_ERR_ABORTED|ERR_STREAM_PREMATURE_CLOSE|HTTPParserError|HPE_/u
const unreachable =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|EADDRNOTAVAIL/u
/** undici ends a connection on which it hears what it did not ask for, and says no more of it than this. */
const isUnasked = ({ code, message }: Link): boolean => code === 'UND_ERR_SOCKET' && message === 'bad response'
const unaskedText =
  'The server of the provider said what it was not asked for, such as 100 Continue, which ended the connection.'
/** Our own end of the transport: it says nothing about the provider. */
const stopped = /UND_ERR_DESTROYED|UND_ERR_CLOSED/u
const untrusted = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO/u

/** An error that the server put into its stream without a status. */
const byWords = ({ text }: Seen): ModelFailure => {
  if (tooLong.test(text)) return failure('context_length', false, 'The conversation is too long for the model.')
  if (outOfCredit.test(text)) return failure('rate_limited', false, 'The account at the provider has no credit left.')
  if (/rate.?limit/iu.test(text)) return failure('rate_limited', true, 'The provider limits the rate of requests.')
  if (/invalid_(?:request|prompt)/u.test(text))
    return failure('bad_request', false, 'The provider refused the request.')
  return failures.overloaded()
}

/** An error and what caused it. */
function* causes(error: unknown, depth = 0): Generator<Link> {
  if (!isLink(error) || depth > 8) return
  yield error
  yield* causes(error['cause'], depth + 1)
}

/** The server's machine-readable code in its error, or in an `error` of it. */
const codeIn = (value: unknown, depth = 0): string | undefined => {
  if (!isLink(value) || depth > 4) return undefined
  return [value['code'], value['type']].find(isCode) ?? codeIn(value['error'], depth + 1)
}

const isCode = (word: unknown): word is string =>
  typeof word === 'string' && word.length <= 48 && /^[a-z]+(?:_[a-z]+){1,6}$/u.test(word)
