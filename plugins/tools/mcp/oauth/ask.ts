/** Requests of a login or a refresh: bounded, and to nobody but whom the server's entry lets the daemon reach. */
import { Problem, type Outbound } from '../../../../core/plugin.js'
import type { HttpEntry } from '../config/entry.js'
import { oauthErrors } from './errors.js'

/** Bytes of an answer at most: metadata and tokens are a few thousand. */
const mostAnswerBytes = 256 * 1024
const timeoutMs = 15_000

/** A server with an account, as the operator lists it. */
export interface OauthServer {
  readonly name: string
  readonly entry: HttpEntry & { readonly oauth_slot_ref: string }
}

/** As much of `fetch` as the client package needs. Rejects with `mcp_oauth_failed`. */
export type Ask = (url: string | URL, init?: RequestInit) => Promise<Response>

/** A failure of the authorization, in words that end a sentence. */
export const failed = ({ name }: OauthServer, reason: string, cause?: unknown): Problem =>
  oauthErrors.mcp_oauth_failed({ details: { server: name, reason }, cause })

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/u.test(hostname)

/** True of an address that tokens and codes may be sent to. */
export const isSecure = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

/**
 * Where a request may go. `allow_private_network` of the entry is for the host of the server alone: the server names
 * the others, and could name any machine of the network.
 */
const reachOf = ({ entry }: OauthServer, url: string) => ({
  allow_private_network:
    entry.allow_private_network && URL.canParse(url) && new URL(url).hostname === new URL(entry.url).hostname,
  allow_cidrs: entry.allow_cidrs,
})

export interface AskParts {
  readonly outbound: Pick<Outbound, 'request'>
  readonly server: OauthServer
  readonly signal: AbortSignal
}

export const createAsk =
  ({ outbound, server, signal }: AskParts): Ask =>
  async (given, { method = 'GET', headers, body } = {}) => {
    const url = String(given)
    if (!isSecure(url)) throw failed(server, 'an address that it names is not https')
    const answer = await outbound.request({
      ...reachOf(server, url),
      method: method === 'POST' ? 'POST' : 'GET',
      url,
      headers: {
        ...(body instanceof URLSearchParams && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...Object.fromEntries(new Headers(headers)),
      },
      ...(body !== undefined && body !== null && { body: String(body) }),
      timeout_ms: timeoutMs,
      max_answer_bytes: mostAnswerBytes,
      signal,
    })
    if (answer.type === 'failure') throw failed(server, answer.code)
    const isEmpty = [204, 205, 304].includes(answer.status)
    return new Response(isEmpty ? null : new Uint8Array(answer.body), {
      status: answer.status,
      headers: answer.headers,
    })
  }

/** What the server itself says of its authorization when it is asked without a token. */
export const challengeOf = async ({ outbound, server, signal }: AskParts, body: string): Promise<Response> => {
  const { url } = server.entry
  const answer = await outbound.request({
    ...reachOf(server, url),
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body,
    ignore_body: true,
    timeout_ms: timeoutMs,
    signal,
  })
  if (answer.type === 'failure') throw failed(server, answer.code)
  return new Response(null, { status: Math.max(200, answer.status), headers: answer.headers })
}
