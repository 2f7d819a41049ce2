/** A daemon with Slack connectors, and Slack sending to it. */
import type { ExecutionContext } from 'ava'
import { unsafeCast } from '../../../../core/base/schema.js'
import { startTestDaemon, type Reachable, type TestDaemonOptions } from '../../../support/daemon.js'
import { botToken, signed, signingSecret, startSlack } from '../../../support/slack-server.js'

export const slackPath = (name: string): string => `/v1/connectors/slack/${name}`

/** Sets a connector up that opens sessions, at this Slack. */
export const putConnector = async (
  { request }: Reachable,
  base: string,
  { name = 'main', ...more }: { readonly name?: string; readonly [member: string]: unknown } = {},
): Promise<any> => {
  const body = {
    api_base_url: base,
    signing_secret: { value: signingSecret },
    bot_token: { value: botToken },
    session_policy: { create_if_missing: true },
    ...more,
  }
  const { status, body: view, text } = await request('PUT', `/v1/runtime/connectors/slack/${name}`, body)
  if (status !== 200) throw new Error(text)
  return view
}

/** Sends an event, signed unless headers are given. */
export const sendEvent = (
  { request }: Reachable,
  event: object | string,
  { name = 'main', headers }: { readonly name?: string; readonly headers?: Record<string, string> } = {},
): ReturnType<Reachable['request']> => {
  const text = typeof event === 'string' ? event : JSON.stringify(event)
  return request('POST', slackPath(name), text, headers ?? signed(text))
}

/** The form of a button that was pressed. */
export const interactionOf = (payload: object): string =>
  new URLSearchParams({ payload: JSON.stringify(payload) }).toString()

export const slackFlags = { allow_cidrs: ['127.0.0.0/8'] }

/** `owner` ends them: a test, or what a file of tests ends with. */
export const startSending = async (owner: Pick<ExecutionContext, 'teardown'>, options: TestDaemonOptions = {}) => {
  const t: ExecutionContext<any> = unsafeCast(owner)
  const slack = await startSlack(t)
  const daemon = await startTestDaemon(t, { ...options, config: { slack: slackFlags, ...options.config } })
  return { slack, daemon }
}
