/** Messages of programs, signed and not, for tests of connectors of the kind `http`. */
import { createHmac } from 'node:crypto'
import type { ExecutionContext } from 'ava'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import type { JsonObject } from '../../../../core/base/schema.js'
import { startTestDaemon, type Headers } from '../../../support/daemon.js'

/** The path of a connector. */
export const pathOf = (name: string): string => `/v1/connectors/http/${name}`

/** The headers of a signed request. */
export const signed = (
  secret: string,
  { target, timestamp, body }: { readonly target: string; readonly timestamp: string; readonly body: string },
): Headers => ({
  'x-service-timestamp': timestamp,
  'x-service-signature': `v1=${createHmac('sha256', secret)
    .update(`v1:POST:${target}:${timestamp}:${body}`)
    .digest('hex')}`,
})

/** A connector of the kind that opens sessions, unless `settings` say otherwise. */
export const open: JsonObject = {
  bearer_token: { value: 'secret-token' },
  session_policy: { create_if_missing: true },
  default_binding_keys: ['customer:acme'],
}
export const bearer = { authorization: 'Bearer secret-token' }

export const startHttp = async (t: ExecutionContext) => {
  const clock = createLeapingClock({ still: true })
  const daemon = await startTestDaemon(t, { clock })
  const put = (name: string, settings: JsonObject) =>
    daemon.request('PUT', `/v1/runtime/connectors/http/${name}`, settings)
  const post = (at: string, body: unknown, headers: Headers = bearer) =>
    daemon.request('POST', at.startsWith('/') ? at : pathOf(at), body as JsonObject, headers)
  return { ...daemon, clock, put, post }
}

/** What an answer is: its status, code and reason. */
export const toldIn = ({ status, body }: { readonly status: number; readonly body: any }) => [
  status,
  body.code,
  ...(body.reason === undefined ? [] : [body.reason]),
]
