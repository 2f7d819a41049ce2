/** The address of a `slack` reply handle: a channel or a thread of it, by the connector that leads there (slack-20). */
import { hash } from 'node:crypto'
import { object, optional, parse, string, type Infer, type Json } from '../../../../core/plugin.js'
import type { ReplyTargetRequest } from '../../../execution/deliveries/contract.js'

/** What stands for an id of Slack, and for a name of ours: no sign that has a meaning elsewhere. */
const id = (max: number) => string({ min: 1, max, pattern: '^[A-Za-z0-9._-]+$' })

const Route = object({
  connector: id(64),
  enterprise_id: optional(id(100)),
  team_id: optional(id(100)),
  channel_id: id(100),
  thread_ts: optional(id(100)),
})
export type SlackRoute = Infer<typeof Route>

const readJson = (text: string): Json | undefined => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What an address says; undefined for one that is none. */
export const readRoute = (address: string): SlackRoute | undefined => {
  const parsed = parse(Route, readJson(address))
  return parsed.ok ? parsed.value : undefined
}

/** Equal routes have equal addresses. */
export const addressOf = ({ connector, enterprise_id, team_id, channel_id, thread_ts }: SlackRoute): string =>
  JSON.stringify({ connector, enterprise_id, team_id, channel_id, thread_ts })

export const requestedAddress = (request: ReplyTargetRequest): string | undefined =>
  request.type === 'slack' ? addressOf(request) : undefined

/** The form that is stored. */
export const keptAddress = (address: string): string => {
  const route = readRoute(address)
  return route === undefined ? address : addressOf(route)
}

/** What may be told of a target. */
export const targetName = (address: string): string => {
  const route = readRoute(address)
  if (route === undefined) return 'slack:invalid'
  return `slack:${route.connector}:channel_sha256:${hash('sha256', route.channel_id).slice(0, 16)}`
}
