/** Calls of the Web API, and what their answers mean (slack-26 to slack-29). */
import {
  assertNever,
  isJsonObject,
  outboundFate,
  type Json,
  type JsonObject,
  type Outbound,
  type OutboundAnswer,
  type OutboundCode,
} from '../../../../core/plugin.js'
import type { DeliveryOutcome } from '../../../execution/deliveries/contract.js'
import type { SlackConfig } from '../setup/config.js'

export type Failed = Exclude<DeliveryOutcome, { readonly type: 'delivered' }>
export type Called = { readonly type: 'ok'; readonly body: JsonObject } | Failed

/** Where calls go, and with whose token. */
export interface Api {
  readonly outbound: Pick<Outbound, 'request'>
  readonly config: SlackConfig
  readonly base: string
  readonly token: string
  readonly signal: AbortSignal
}

/** A call of a method. JSON, but for methods that take forms alone. */
export interface Call {
  readonly method: string
  readonly args: JsonObject
  readonly form?: boolean
  /** Something shows that it was made: nobody knows whether it was if it is cut. */
  readonly isSeen?: boolean
}

const fieldsOf = (args: JsonObject): Record<string, string> =>
  Object.fromEntries(
    Object.entries(args).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )

/** The answer of Slack to a call, whatever it is. */
export const ask = ({ outbound, config, base, token, signal }: Api, { method, args, form = false }: Call) =>
  outbound.request({
    method: 'POST',
    url: `${base}/${method}`,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': form ? 'application/x-www-form-urlencoded; charset=utf-8' : 'application/json; charset=utf-8',
    },
    body: form ? new URLSearchParams(fieldsOf(args)).toString() : JSON.stringify(args),
    allow_cidrs: config.allow_cidrs,
    timeout_ms: config.timeout_ms,
    signal,
  })

/** What no repetition of the same call would mend. */
const lasting: ReadonlySet<string> = new Set([
  'account_inactive',
  'channel_not_found',
  'ekm_access_denied',
  'invalid_auth',
  'is_archived',
  'missing_scope',
  'not_allowed_token_type',
  'not_authed',
  'not_in_channel',
  'token_revoked',
  'token_expired',
  'org_login_required',
  'restricted_action',
  'msg_too_long',
])
/** Codes of edits of a message that no later edit of it would mend: it is not there, or not to be changed. */
export const uneditable: ReadonlySet<string> = new Set([
  'slack_message_not_found',
  'slack_cant_update_message',
  'slack_edit_window_closed',
])
/** Slack failed, and may have done it before. */
export const halfDone: ReadonlySet<string> = new Set(['fatal_error', 'internal_error'])

/** How long Slack is left alone when it says no more than that it was asked too much. */
const usualWaitMs = 1000

/** Whole seconds; Slack gives no dates. */
export const waitOf = (headers: Readonly<Record<string, string>>): number => {
  const text = headers['retry-after']?.trim() ?? ''
  return /^\d{1,9}$/u.test(text) ? Number(text) * 1000 : usualWaitMs
}

export const limited = (retry_after_ms: number): Failed => ({
  type: 'retry',
  code: 'slack_ratelimited',
  retry_after_ms,
})

/** An error of Slack as a code that may be shown. */
export const codeOf = (error: string): string =>
  /^[a-z][a-z0-9_]{0,79}$/u.test(error) ? `slack_${error}` : 'slack_error'

/** What Slack says of a call in its body; undefined for what is no answer of Slack. */
export const said = (answer: { readonly body: Uint8Array }): JsonObject | undefined => {
  try {
    const body: Json = JSON.parse(Buffer.from(answer.body).toString('utf8'))
    return isJsonObject(body) && typeof body['ok'] === 'boolean' ? body : undefined
  } catch {
    return undefined
  }
}

/** The error that Slack names; undefined where it has done what was asked. */
export const errorIn = ({ ok, error }: JsonObject): string | undefined =>
  ok === true ? undefined : typeof error === 'string' ? error : 'error'

/** True if nothing of a request has left: it may be made again whatever it does. */
export const wasNeverSent = (code: OutboundCode): boolean => outboundFate(code) !== 'uncertain'

/** What a request that got no answer means for a step that may be made again. */
export const unanswered = (code: OutboundCode, isSeen: boolean): Failed => {
  if (outboundFate(code) === 'refused') return { type: 'terminal', code }
  return { type: 'retry', code, ...(isSeen && !wasNeverSent(code) && { uncertain: true }) }
}

const judged = (answer: Extract<OutboundAnswer, { type: 'answer' }>, isSeen: boolean): Called => {
  const { status, headers } = answer
  const unsure = isSeen ? { uncertain: true } : {}
  if (status === 429) return limited(waitOf(headers))
  if (status < 200 || status > 299)
    return { type: 'retry', code: `http_status_${status}`, ...(status >= 500 && unsure) }
  const body = said(answer)
  if (body === undefined) return { type: 'retry', code: 'slack_answer_unreadable', ...unsure }
  const error = errorIn(body)
  if (error === undefined) return { type: 'ok', body }
  if (error === 'ratelimited' || error === 'rate_limited') return limited(waitOf(headers))
  if (lasting.has(error)) return { type: 'terminal', code: codeOf(error) }
  return { type: 'retry', code: codeOf(error), ...(halfDone.has(error) && unsure) }
}

/** Makes a call that may be made again. */
export const callSlack = async (api: Api, call: Call): Promise<Called> => {
  const answer = await ask(api, call)
  const { isSeen = false } = call
  switch (answer.type) {
    case 'answer':
      return judged(answer, isSeen)
    case 'failure':
      return unanswered(answer.code, isSeen)
    default:
      return assertNever(answer)
  }
}
