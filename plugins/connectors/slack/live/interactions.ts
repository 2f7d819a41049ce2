/** Buttons that were pressed, and questions that were answered (slack-33 to slack-36). */
import type { JsonObject } from '../../../../core/plugin.js'
import type { LiveAnswer, LiveReplies } from '../../live/contract.js'
import type { Connector } from '../../registry/contract.js'
import type { Origin, Place } from '../setup/allow-lists.js'
import { checkOrigin, type Denied } from '../setup/denied.js'
import type { SlackSettings } from '../setup/settings.js'
import { messageIdOf } from '../api/message-name.js'
import { objectOf, word } from '../api/json.js'
import { answerAction, buttonPrefix } from './messages.js'

/** A person at a place, who is to be told something that nobody else sees. */
export interface Whisper {
  readonly team_id?: string | undefined
  readonly channel_id: string
  readonly thread_ts?: string | undefined
  readonly user: string
  readonly text: string
}

/** A message in a thread. */
export interface ThreadMessage {
  readonly origin: Place
  readonly message: {
    readonly channel_id: string
    readonly ts: string
    readonly thread_ts?: string | undefined
    readonly user?: string | undefined
    readonly text: string
  }
}

export interface InteractionParts {
  readonly live: () => LiveReplies | undefined
  readonly denied: Denied
  /** Says it, some time; nobody waits for it. */
  readonly whisper: (connector: Connector<SlackSettings>, whisper: Whisper) => void
}

export interface Interactions {
  /** Takes what was done with a message of ours. Resolves with why there is no run. Throws for who may not send it. */
  press(
    admission: { readonly connector: Connector<SlackSettings>; readonly isAuthenticated: boolean },
    payload: JsonObject,
  ): Promise<string>
  /** True if a message was the answer to a question: it is no run then. */
  reply(connector: Connector<SlackSettings>, message: ThreadMessage): Promise<boolean>
}

const nested = (payload: JsonObject, ...path: readonly string[]): string | undefined =>
  word(path.slice(0, -1).reduce((inside, key) => objectOf(inside[key]), payload)[path.at(-1) ?? ''])

/** Where it was done. */
const originOf = (payload: JsonObject): Origin => ({
  api_app_id: word(payload['api_app_id']),
  team_id: nested(payload, 'team', 'id') ?? nested(payload, 'user', 'team_id'),
  enterprise_id: nested(payload, 'enterprise', 'id') ?? nested(payload, 'team', 'enterprise_id'),
  channel_id: nested(payload, 'channel', 'id') ?? nested(payload, 'container', 'channel_id'),
  authorizations: [],
})

/** What was done first; Slack tells of one thing at a time. */
const actionIn = ({ actions }: JsonObject): JsonObject => objectOf(Array.isArray(actions) ? actions[0] : undefined)

type Act = { readonly type: 'press'; readonly token: string } | { readonly type: 'reply'; readonly text: string }

const actOf = (action: JsonObject): Act | undefined => {
  const [action_id = '', value] = [word(action['action_id']), action['value']]
  if (typeof value !== 'string') return undefined
  if (action_id.startsWith(buttonPrefix)) return { type: 'press', token: value }
  return action_id === answerAction ? { type: 'reply', text: value } : undefined
}

/** Whoever decided sees it in the message itself. */
const isNews = ({ type }: LiveAnswer): boolean => type !== 'decided'

export const createInteractions = ({ live, denied, whisper }: InteractionParts): Interactions => ({
  async press({ connector, isAuthenticated }, payload) {
    const origin = originOf(payload)
    checkOrigin(denied, connector, { origin, needsChannel: true })
    const [asked, act, user] = [live(), actOf(actionIn(payload)), nested(payload, 'user', 'id')]
    const ts = nested(payload, 'container', 'message_ts') ?? nested(payload, 'message', 'ts')
    const { channel_id, team_id } = origin
    if (!isAuthenticated || payload['type'] !== 'block_actions' || act === undefined || asked === undefined)
      return 'unsupported_interaction'
    if (user === undefined || channel_id === undefined || ts === undefined) return 'unsupported_interaction'
    const who = { plugin: 'slack', connector: connector.name, actor_id: user } as const
    const by = { ...who, actor_name: nested(payload, 'user', 'name') ?? nested(payload, 'user', 'username') }
    const answer =
      act.type === 'press'
        ? await asked.press({ ...by, token: act.token })
        : await asked.reply({ ...by, message_id: messageIdOf({ channel_id, ts }), text: act.text })
    const thread_ts = nested(payload, 'container', 'thread_ts') ?? nested(payload, 'message', 'thread_ts')
    if (answer !== undefined && isNews(answer))
      whisper(connector, { team_id, channel_id, thread_ts, user, text: answer.text })
    return 'interaction'
  },
  async reply(connector, { origin, message }) {
    const { channel_id, thread_ts, ts, user, text } = message
    if (user === undefined || thread_ts === undefined || thread_ts === ts) return false
    const message_id = messageIdOf({ channel_id, ts: thread_ts })
    const answer = await live()?.reply({ plugin: 'slack', connector: connector.name, actor_id: user, message_id, text })
    if (answer === undefined) return false
    if (isNews(answer)) whisper(connector, { team_id: origin.team_id, channel_id, thread_ts, user, text: answer.text })
    return true
  },
})
