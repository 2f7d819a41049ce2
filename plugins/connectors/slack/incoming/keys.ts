/** The names that a message of Slack has here (slack-13, slack-15). */
import type { Origin, Place } from '../setup/allow-lists.js'
import type { SlackMessage } from './envelope.js'

const placed = ({ enterprise_id, team_id }: Place): string[] => [
  ...(enterprise_id === undefined ? [] : ['enterprise', enterprise_id]),
  ...(team_id === undefined ? [] : ['team', team_id]),
]

/** The session of a thread, and the key that it is bound to. */
export const threadKey = (name: string, origin: Place, { channel_id, root_ts }: SlackMessage): string =>
  ['slack', name, ...placed(origin), channel_id, root_ts].join(':')

const scopeOf = (origin: Place): string => placed(origin).join(':') || 'workspace'

/** What names the event among all events of all connectors. */
export const eventKey = (name: string, origin: Place, { event_id, channel_id, ts }: SlackMessage): string =>
  ['slack', name, scopeOf(origin), event_id ?? `${channel_id}:${ts}`].join(':')

/** What shares a rate. */
export const rateScope = (origin: Origin, { channel_id }: SlackMessage): string => `${scopeOf(origin)}:${channel_id}`
