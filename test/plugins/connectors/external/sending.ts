/** A daemon with external connectors, and events for them. */
import type { ExecutionContext } from 'ava'
import { startTestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'
import { startSidecar } from '../../../support/sidecar.js'

export const token = 'shared-canary'
export const bearer = { authorization: `Bearer ${token}` }
const runtime = '/v1/runtime/connectors/external'

let count = 0
/** An event that nobody sent before, of one conversation unless something else is said. */
export const eventOf = (more: object = {}) => {
  count += 1
  return {
    protocol_version: 2,
    instance_id: 'sidecar-1',
    event_id: `event-${count}`,
    thread: { path: ['guild', 'channel'] },
    content: `Hello ${count}`,
    ...more,
  }
}

/** A daemon with the connector `main` and its sidecar. */
export const startExternal = async (
  t: ExecutionContext<any>,
  options: TestDaemonOptions = {},
  settings: object = {},
) => {
  const sidecar = await startSidecar(t)
  const daemon = await startTestDaemon(t, options)
  const { request } = daemon
  const put = (name: string, more: object = {}) =>
    request('PUT', `${runtime}/${name}`, {
      platform: 'discord',
      base_url: sidecar.url,
      allow_private_network: true,
      shared_token: { value: token },
      session_policy: { create_if_missing: true },
      ...more,
    })
  const change = (name: string, more: object) => request('PUT', `${runtime}/${name}`, more)
  const view = async (name = 'main') => (await request('GET', `${runtime}/${name}`)).body
  const send = (event: unknown, name = 'main', headers: Record<string, string> = bearer) =>
    request('POST', `/v1/connectors/external/${name}/events`, event as object, headers)
  const sendAll = (
    events: unknown,
    more: object = {},
    { name = 'main', headers = bearer as Record<string, string> } = {},
  ) =>
    request('POST', `/v1/connectors/external/${name}/events/batch`, { protocol_version: 2, events, ...more }, headers)
  const runOf = async (run_id: string) => (await request('GET', `/v1/runs/${run_id}`)).body
  const made = await put('main', settings)
  if (made.status !== 200) throw new Error(JSON.stringify([made.body, daemon.log.slice(-3)]))
  return { ...daemon, sidecar, put, change, view, send, sendAll, runOf }
}
