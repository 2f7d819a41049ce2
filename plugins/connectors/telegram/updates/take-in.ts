/** Updates on their way in, by webhook or by poll (telegram-6 to telegram-14). */
import type { JsonObject, Log } from '../../../../core/plugin.js'
import type { LiveAnswer, LiveReplies } from '../../live/contract.js'
import type { Asides } from '../../ingress/contract.js'
import type { Ingress, Received } from '../../registry/contract.js'
import { botOf, callBot, type BotApiParts, type BotCall } from '../bot/bot-api.js'
import { meaningOf } from './event.js'
import { isAllowed, type TelegramConnector } from '../bot/settings.js'
import { messageName, pressedToken } from '../bot/live-names.js'
import type { TelegramCallback, TelegramMessage, TelegramSender, TelegramUpdate } from './update.js'

export interface TakeInParts extends BotApiParts {
  readonly ingress: Ingress
  readonly live: () => LiveReplies | undefined
  readonly log: Log
  readonly asides: Asides
  /** Aborts when the plugin ends. */
  readonly signal: AbortSignal
}

/** What became of an update. */
export type Taken =
  | { readonly type: 'skipped'; readonly reason: 'unsupported_update' | 'live_reply'; readonly update_id: number }
  | { readonly type: 'received'; readonly received: Received; readonly update_id: number }

/** Tells the platform something that nobody waits for. */
const tell = (parts: TakeInParts, connector: TelegramConnector, call: Omit<BotCall, 'signal'>): void =>
  parts.asides.say(connector.name, () => tellNow(parts, connector, call))

/** Never rejects: that it did not work is logged, without a word of it. */
const tellNow = async (
  { log, signal, ...parts }: TakeInParts,
  connector: TelegramConnector,
  call: Omit<BotCall, 'signal'>,
): Promise<void> => {
  try {
    const bot = botOf(connector)
    if (bot === undefined) return
    const answer = await callBot(parts, bot, { ...call, signal })
    if (answer.type === 'done') return
    const told = answer.type === 'failure' ? { code: answer.code } : { status: answer.status }
    log.warn('a telegram call was refused', { connector: connector.name, method: call.method, ...told })
  } catch (error) {
    log.warn('a telegram call could not be made', { connector: connector.name, method: call.method, error })
  }
}

/** Takes the waiting sign from a button. */
const answerCallback = (
  parts: TakeInParts,
  connector: TelegramConnector,
  answer: { readonly callback_query_id: string; readonly text?: string },
): void => tell(parts, connector, { method: 'answerCallbackQuery', body: answer })

const nameOf = ({ first_name, username }: TelegramSender): string | undefined => first_name ?? username ?? undefined

/** A button of a message that the daemon sent for a person to decide by. */
const pressed = async (
  parts: TakeInParts,
  connector: TelegramConnector,
  callback: TelegramCallback,
): Promise<boolean> => {
  const { id, data, from } = callback
  const [token, live] = [pressedToken(data ?? ''), parts.live()]
  if (token === undefined || live === undefined) return false
  const by = { plugin: 'telegram' as const, connector: connector.name, actor_id: String(from.id) }
  const { text } = await live.press({ ...by, actor_name: nameOf(from), token })
  answerCallback(parts, connector, { callback_query_id: id, text })
  return true
}

const askLive = async (
  live: LiveReplies,
  { name }: TelegramConnector,
  message: TelegramMessage,
): Promise<LiveAnswer | undefined> => {
  const { chat, from, text, reply_to_message: replied } = message
  if (!from || !replied || !text) return undefined
  return await live.reply({
    plugin: 'telegram',
    connector: name,
    actor_id: String(from.id),
    actor_name: nameOf(from),
    message_id: messageName(chat.id, replied.message_id),
    text,
  })
}

/** A message that answers a question of the daemon. */
const answered = async (
  parts: TakeInParts,
  connector: TelegramConnector,
  message: TelegramMessage,
): Promise<boolean> => {
  const live = parts.live()
  const answer = live && (await askLive(live, connector, message))
  if (answer === undefined) return false
  const { chat, message_id = null } = message
  // A reply is in the thread of what it replies to.
  const place = { chat_id: chat.id, reply_to_message_id: message_id }
  tell(parts, connector, { method: 'sendMessage', body: { ...place, text: answer.text } })
  return true
}

/** True of what is no event, because somebody decides or answers with it. */
const isForLive = async (
  parts: TakeInParts,
  connector: TelegramConnector,
  { message, edited_message: edited, callback_query: callback }: TelegramUpdate,
): Promise<boolean> => {
  const chat = message?.chat ?? callback?.message?.chat
  if (edited || chat === undefined || !isAllowed(connector.settings, chat.id)) return false
  if (message) return await answered(parts, connector, message)
  return callback ? await pressed(parts, connector, callback) : false
}

/** Takes one in. Resolves when it is on disk; rejects with the problem of one that is refused. */
export const takeIn = async (
  parts: TakeInParts,
  connector: TelegramConnector,
  { update, how }: { readonly update: TelegramUpdate; readonly how?: JsonObject },
): Promise<Taken> => {
  const { update_id } = update
  if (typeof update_id === 'number' && (await isForLive(parts, connector, update)))
    return { type: 'skipped', reason: 'live_reply', update_id }
  const meaning = meaningOf(connector, update, how)
  if (meaning.type === 'skipped') return { ...meaning, reason: 'unsupported_update' }
  const received = await parts.ingress.receive(connector, meaning.event)
  const { callback_query_id } = meaning
  if (callback_query_id !== undefined && received.type !== 'duplicate' && connector.has('bot_token'))
    answerCallback(parts, connector, { callback_query_id })
  return { type: 'received', received, update_id: update_id ?? 0 }
}
