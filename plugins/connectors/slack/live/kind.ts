/** Slack as a place where work is shown as it is done: messages that are edited, and buttons (slack-32). */
import { assertNever, Problem, type JsonObject } from '../../../../core/plugin.js'
import type { LiveKind, LiveOutcome, LivePosted } from '../../live/contract.js'
import type { Changeable, Connector, ConnectorKind, Connectors } from '../../registry/contract.js'
import { callSlack, uneditable, type Called, type Api } from '../api/web-api.js'
import { readRoute, type SlackRoute } from '../setup/reply-route.js'
import { isTargetDenied } from '../setup/allow-lists.js'
import { apiOf, type SlackSettings } from '../setup/settings.js'
import { tokenOf } from '../setup/token.js'
import { troubleOf } from '../setup/troubles.js'
import { messageIdOf, messageNameIn, namedIn } from '../api/message-name.js'
import { mostText, shownMessage } from './messages.js'

export interface LiveParts extends Pick<Api, 'outbound' | 'config'> {
  readonly connectors: Pick<Connectors, 'find' | 'hasKind'>
  readonly kind: ConnectorKind<SlackSettings>
}

/** Slack takes fifty edits a minute of one app in one workspace. */
const editMs = 1200

interface Chat {
  readonly route: SlackRoute
  readonly connector: Connector<SlackSettings>
}
const chatOf = ({ connectors, kind }: LiveParts, address: string): Chat | undefined => {
  const route = readRoute(address)
  const connector = route && connectors.find(kind, route.connector)
  if (route === undefined || connector === undefined || isTargetDenied(connector.settings, route)) return undefined
  return { route, connector }
}

const refused = { type: 'refused' } as const

/** A call with the token of where it goes; undefined if there is none. */
const call = async (
  { outbound, config }: LiveParts,
  { route, connector }: Chat,
  { method, args, signal }: { method: string; args: JsonObject; signal: AbortSignal },
): Promise<Called | undefined> => {
  try {
    const token = tokenOf(connector, route.team_id)
    if (token === undefined) return undefined
    return await callSlack({ outbound, config, base: apiOf(connector.settings), token, signal }, { method, args })
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

const failed = (
  connector: Changeable,
  called: Exclude<Called, { type: 'ok' }> | undefined,
): Exclude<LiveOutcome, { type: 'done' }> => {
  if (called === undefined) return refused
  const trouble = troubleOf(called, connector)
  switch (called.type) {
    case 'retry': {
      const { retry_after_ms } = called
      return { type: 'later', ...(retry_after_ms !== undefined && { retry_after_ms }) }
    }
    case 'terminal':
      return { ...refused, ...(trouble !== undefined && { trouble }) }
    default:
      return assertNever(called)
  }
}

export const createLiveKind = (parts: LiveParts): LiveKind => ({
  plugin: 'slack',
  isUsed: () => parts.connectors.hasKind(parts.kind.kind),
  chat(address) {
    const found = chatOf(parts, address)
    if (found === undefined) return undefined
    const { name, settings } = found.connector
    const { stream_replies } = settings
    // Who presses is proven by the signature alone: without one nobody is who he says.
    const approver_ids = found.connector.has('signing_secret') ? settings.approver_ids : []
    return { connector: name, stream_replies, approver_ids, most_text: mostText, edit_ms: editMs }
  },
  async post(address, message, signal): Promise<LivePosted> {
    const chat = chatOf(parts, address)
    if (chat === undefined) return refused
    const { channel_id, thread_ts } = chat.route
    const place = { channel: channel_id, ...(thread_ts !== undefined && { thread_ts }) }
    const { text, blocks } = shownMessage(message)
    const args: JsonObject = { ...place, text, ...(blocks.length > 0 && { blocks }) }
    const called = await call(parts, chat, { method: 'chat.postMessage', args, signal })
    if (called?.type !== 'ok') return failed(chat.connector, called)
    const ts = namedIn(called.body['ts'])
    if (ts === undefined) return refused
    return { type: 'done', message_id: messageIdOf({ channel_id: namedIn(called.body['channel']) ?? channel_id, ts }) }
  },
  async edit(address, { message_id, message }, signal) {
    const chat = chatOf(parts, address)
    if (chat === undefined) return refused
    const { channel_id: channel, ts } = messageNameIn(message_id)
    const args = { channel, ts, ...shownMessage(message) }
    const called = await call(parts, chat, { method: 'chat.update', args, signal })
    if (called?.type === 'ok') return { type: 'done' }
    return called !== undefined && uneditable.has(called.code) ? refused : failed(chat.connector, called)
  },
})
