/** `fetch` over `Outbound`, for packages that ask for one: the same checks, no redirect, no cookie, no cache. */
import { defineErrors } from '../../base/errors.js'
import type { OutboundReach } from './destination.js'
import type { Outbound, OutboundFlowRequest } from './outbound.js'

/** As much of `fetch` as packages use. Rejects with `outbound_failed`, whose sentence ends with the code. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

export const errors = defineErrors({
  outbound_failed: {
    status: 502,
    detail: 'A request to another host failed: {code}.',
    action: 'See what the code says; the host may be down, or its address may not be allowed.',
  },
})

/** How such requests are made. */
export interface FetchOptions extends OutboundReach, Pick<OutboundFlowRequest, 'timeout_ms' | 'most_unread_bytes'> {}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const bodiless: ReadonlySet<number> = new Set([204, 205, 304])

/** `signal` and `body` of a request are honoured; a body must be text or the fields of a form. */
export const createFetch =
  (outbound: Pick<Outbound, 'flow'>, options: FetchOptions = {}): Fetch =>
  async (url, { method = 'GET', headers, body, signal } = {}) => {
    const wanted = methods.find((one) => one === method.toUpperCase())
    const isForm = body instanceof URLSearchParams
    if (wanted === undefined || !(body === undefined || body === null || typeof body === 'string' || isForm))
      throw errors.outbound_failed({ details: { code: 'outbound_request_invalid' } })
    const sent = new Headers(headers)
    if (isForm && !sent.has('content-type')) sent.set('content-type', 'application/x-www-form-urlencoded')
    const flow = await outbound.flow({
      ...options,
      method: wanted,
      url: String(url),
      headers: Object.fromEntries(sent),
      ...(body !== undefined && body !== null && { body: String(body) }),
      ...(signal !== undefined && signal !== null && { signal }),
    })
    if (flow.type === 'failure') throw errors.outbound_failed({ details: { code: flow.code } })
    if (bodiless.has(flow.status)) await flow.body.cancel()
    return new Response(bodiless.has(flow.status) ? null : flow.body, { status: flow.status, headers: flow.headers })
  }
