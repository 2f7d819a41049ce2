/** Calls of the Bot API. The token stands in every URL, so no URL is ever told (telegram-20). */
import {
  integer,
  json,
  open,
  optional,
  nullable,
  parse,
  boolean,
  string,
  retryAfter,
  version,
  type Json,
  type Outbound,
  type OutboundAnswer,
  type OutboundCode,
} from '../../../../core/plugin.js'
import { defaultBaseUrl, type TelegramConnector } from './settings.js'

/** A bot, by its token. */
export interface Bot {
  readonly base: string
  readonly token: string
}

const tokenPattern = /^[A-Za-z0-9:_-]{1,400}$/u
/** Undefined without a token, or with one that cannot be any. Throws `connector_secret_unusable`. */
export const botOf = (connector: TelegramConnector): Bot | undefined => {
  const token = connector.secret('bot_token')?.trim()
  if (token === undefined || !tokenPattern.test(token)) return undefined
  return { base: (connector.settings.api_base_url ?? defaultBaseUrl).replace(/\/+$/u, ''), token }
}

const rootOf = (base: string): string => (base.endsWith('/bot') ? base.slice(0, -4) : base)
const methodUrl = ({ base, token }: Bot, method: string): string => `${rootOf(base)}/bot${token}/${method}`

/** A path that the platform named: its parts are names and nothing else. Undefined where they are not. */
export const fileUrl = ({ base, token }: Bot, file_path: string): string | undefined => {
  const parts = file_path.split('/')
  if (file_path.length > 1000 || parts.some((part) => part === '' || part === '.' || part === '..')) return undefined
  return `${rootOf(base)}/file/bot${token}/${parts.map((part) => encodeURIComponent(part)).join('/')}`
}

/** What a method answers, whether it worked or not. */
const Answer = open({
  ok: boolean(),
  result: optional(json()),
  error_code: optional(nullable(integer())),
  description: optional(nullable(string())),
  parameters: optional(
    nullable(
      open({ retry_after: optional(nullable(integer({ min: 0 }))), migrate_to_chat_id: optional(nullable(integer())) }),
    ),
  ),
})

/** What came of a call. `description` is the platform's: it is compared, never told. */
export type BotAnswer =
  | { readonly type: 'done'; readonly result: Json | undefined }
  | {
      readonly type: 'refused'
      readonly status: number
      /** What the body calls the error; undefined if nothing of it can be read. */
      readonly error_code: number | undefined
      readonly description: string
      readonly retry_after_ms: number | undefined
      /** The chat that a group has become. */
      readonly moved_to?: number | undefined
    }
  | { readonly type: 'failure'; readonly code: OutboundCode }

export type Refused = Extract<BotAnswer, { readonly type: 'refused' }>
/** The platform asks for time. */
export const isFlood = ({ status, error_code }: Refused): boolean => status === 429 || error_code === 429

/** Longest wait that is honoured. */
const mostWaitMs = 3_600_000

const readJson = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

const hintOf = (header: string | undefined, seconds: number | null | undefined, now: number): number | undefined => {
  const asked = retryAfter(header, now) ?? (typeof seconds === 'number' ? seconds * 1000 : undefined)
  return asked === undefined ? undefined : Math.min(mostWaitMs, Math.max(1, asked))
}

export const readAnswer = (answer: OutboundAnswer, now: number): BotAnswer => {
  if (answer.type === 'failure') return answer
  const { status, headers, body } = answer
  const parsed = parse(Answer, readJson(body))
  if (!parsed.ok)
    return {
      type: 'refused',
      status,
      error_code: undefined,
      description: '',
      retry_after_ms: hintOf(headers['retry-after'], undefined, now),
    }
  const { ok, result, error_code, description, parameters } = parsed.value
  if (ok && status >= 200 && status < 300) return { type: 'done', result }
  return {
    type: 'refused',
    status,
    error_code: error_code ?? undefined,
    description: (description ?? '').toLowerCase(),
    retry_after_ms: hintOf(headers['retry-after'], parameters?.retry_after, now),
    moved_to: parameters?.migrate_to_chat_id ?? undefined,
  }
}

/** One call of a method. */
export interface BotCall {
  readonly method: string
  /** Its fields, or a form with a file. */
  readonly body: object | { readonly type: string; readonly body: Uint8Array }
  readonly signal: AbortSignal
  /** That of the configuration when absent. */
  readonly timeout_ms?: number
  readonly max_answer_bytes?: number
}

/** Where calls may lead, and how long they may take. */
export interface BotApiConfig {
  readonly allow_cidrs: readonly string[]
  readonly timeout_ms: number
}

export interface BotApiParts {
  readonly outbound: Outbound
  readonly config: BotApiConfig
  readonly now: () => number
}

const userAgent = `holdfast/${version}`
const isForm = (body: BotCall['body']): body is { readonly type: string; readonly body: Uint8Array } =>
  'body' in body && body.body instanceof Uint8Array

/** Never rejects. */
export const callBot = async (
  { outbound, config, now }: BotApiParts,
  bot: Bot,
  { method, body, signal, timeout_ms = config.timeout_ms, max_answer_bytes }: BotCall,
): Promise<BotAnswer> => {
  const form = isForm(body) ? body : { type: 'application/json', body: JSON.stringify(body) }
  const answer = await outbound.request({
    method: 'POST',
    url: methodUrl(bot, method),
    headers: { 'content-type': form.type, 'user-agent': userAgent },
    body: form.body,
    signal,
    timeout_ms,
    allow_cidrs: config.allow_cidrs,
    ...(max_answer_bytes !== undefined && { max_answer_bytes }),
  })
  return readAnswer(answer, now())
}

/** Reads a file. Never rejects; undefined for a path that is none. */
export const download = async (
  { outbound, config }: BotApiParts,
  bot: Bot,
  wish: { readonly path: string; readonly most: number; readonly timeout_ms: number; readonly signal: AbortSignal },
): Promise<OutboundAnswer | undefined> => {
  const url = fileUrl(bot, wish.path)
  if (url === undefined) return undefined
  return await outbound.request({
    method: 'GET',
    url,
    headers: { 'user-agent': userAgent },
    signal: wish.signal,
    timeout_ms: wish.timeout_ms,
    max_answer_bytes: wish.most,
    allow_cidrs: config.allow_cidrs,
  })
}
