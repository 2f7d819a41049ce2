/** What a run shows in a chat while it works (telegram-26 to telegram-28). */
import type { ConnectorKind, Connectors } from '../registry/contract.js'
import type { LiveButton, LiveKind, LiveMessage, LiveOutcome, LivePosted } from '../live/contract.js'
import { integer, open, parse, Problem } from '../../../core/plugin.js'
import { placeOf, type TelegramPlace } from './bot/address.js'
import { botOf, callBot, isFlood, type Bot, type BotAnswer, type BotApiParts } from './bot/bot-api.js'
import { buttonMark, messageName, messageNumber } from './bot/live-names.js'
import { editText } from './output/edit.js'
import { hasGone, isUnchanged, lacksThread } from './output/failures.js'
import { approversOf, isAllowed, type TelegramSettings } from './bot/settings.js'
import { mostText } from './output/steps.js'

const keyboard = (buttons: readonly LiveButton[]) => ({
  inline_keyboard: buttons.map(({ label, token }) => [{ text: label, callback_data: `${buttonMark}${token}` }]),
})

/** Code units of a request: with the signs that come to it, at most one for two, all of it is in its message. */
const mostRequest = Math.floor((mostText * 2) / 3)
/** In a request nothing calls somebody: a sign of no width stands behind what begins a name or a command. */
const textOf = ({ purpose, text }: LiveMessage): string =>
  (purpose === 'request' ? text.replaceAll(/[@/#](?=[\p{L}\p{N}_])/gu, '$&\u2060') : text).slice(0, mostText)

export interface LiveParts extends BotApiParts {
  readonly connectors: Pick<Connectors, 'find' | 'hasKind'>
  readonly kind: ConnectorKind<TelegramSettings>
}

const typingMs = 4500
const editMs = 1000
/** A group takes twenty messages of a bot in a minute. */
const groupEditMs = 3000

/** Who speaks where; undefined if nobody does now. */
const aimOf = ({ connectors, kind }: LiveParts, address: string) => {
  const place = placeOf(address)
  const connector = place && connectors.find(kind, place.connector)
  if (place === undefined || connector === undefined || !isAllowed(connector.settings, place.chat_id)) return undefined
  return { place, connector }
}

const botAt = (parts: LiveParts, address: string): { readonly bot: Bot; readonly place: TelegramPlace } | undefined => {
  try {
    const aim = aimOf(parts, address)
    const bot = aim && botOf(aim.connector)
    return bot === undefined || aim === undefined ? undefined : { bot, place: aim.place }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return undefined
  }
}

type Failed = Exclude<BotAnswer, { readonly type: 'done' }>
const outcomeOf = (answer: Failed): Exclude<LiveOutcome, { readonly type: 'done' }> => {
  if (answer.type === 'failure') return { type: 'later' }
  if (isFlood(answer))
    return {
      type: 'later',
      ...(answer.retry_after_ms !== undefined && { retry_after_ms: answer.retry_after_ms }),
    }
  return answer.status >= 500 || answer.error_code === undefined ? { type: 'later' } : { type: 'refused' }
}

const Sent = open({ message_id: integer() })

const placed = ({ chat_id, message_thread_id: thread }: TelegramPlace) => ({
  chat_id,
  ...(typeof thread === 'number' && { message_thread_id: thread }),
})

const noPreview = { link_preview_options: { is_disabled: true } }

const post = async (
  parts: LiveParts,
  { bot, place }: { bot: Bot; place: TelegramPlace },
  { message, signal }: { message: LiveMessage; signal: AbortSignal },
): Promise<LivePosted> => {
  const { reply_to_message_id: replied } = place
  const { buttons, asks_for_reply: asks = false } = message
  const markup = buttons.length > 0 ? keyboard(buttons) : asks ? { force_reply: true, selective: true } : undefined
  const say = (where: object): Promise<BotAnswer> =>
    callBot(parts, bot, { method: 'sendMessage', body: { ...said, ...where }, signal })
  const said = {
    ...(typeof replied === 'number' && { reply_to_message_id: replied, allow_sending_without_reply: true }),
    text: textOf(message),
    ...(message.purpose === 'request' && noPreview),
    ...(markup !== undefined && { reply_markup: markup }),
  }
  const first = await say(placed(place))
  // In a group without topics the thread is that of the message that it replies to.
  const isReply = typeof replied === 'number' && first.type === 'refused' && lacksThread(first)
  const answer = isReply ? await say({ chat_id: place.chat_id, allow_sending_without_reply: false }) : first
  if (answer.type !== 'done') return outcomeOf(answer)
  const parsed = parse(Sent, answer.result)
  return parsed.ok
    ? { type: 'done', message_id: messageName(place.chat_id, parsed.value.message_id) }
    : { type: 'refused' }
}

/** A kind of live replies. */
export const telegramLive = (parts: LiveParts): LiveKind => ({
  plugin: 'telegram',
  isUsed: () => parts.connectors.hasKind(parts.kind.kind),
  chat(address) {
    const aim = aimOf(parts, address)
    if (aim === undefined || !aim.connector.has('bot_token')) return undefined
    const { stream_replies } = aim.connector.settings
    const approver_ids = approversOf(aim.connector)
    const edit_ms = aim.place.chat_id < 0 ? groupEditMs : editMs
    const { name: connector } = aim.connector
    const most = { most_text: mostText, most_request: mostRequest }
    return { connector, stream_replies, approver_ids, ...most, edit_ms, typing_ms: typingMs }
  },
  async typing(address, signal) {
    const aim = botAt(parts, address)
    if (aim === undefined) return { type: 'refused' }
    const type = (place: object): Promise<BotAnswer> =>
      callBot(parts, aim.bot, { method: 'sendChatAction', body: { ...place, action: 'typing' }, signal })
    const first = await type(placed(aim.place))
    const isReply = first.type === 'refused' && lacksThread(first)
    const answer = isReply ? await type({ chat_id: aim.place.chat_id }) : first
    return answer.type === 'done' ? { type: 'done' } : outcomeOf(answer)
  },
  async post(address, message, signal) {
    const aim = botAt(parts, address)
    return aim === undefined ? { type: 'refused' } : await post(parts, aim, { message, signal })
  },
  async edit(address, { message_id: name, message }, signal) {
    const aim = botAt(parts, address)
    const message_id = aim && messageNumber(aim.place, name)
    if (aim === undefined || message_id === undefined) return { type: 'refused' }
    const reply_markup = keyboard(message.buttons)
    const answer = await editText(parts, aim, { message_id, text: textOf(message), signal, reply_markup })
    if (answer.type === 'done' || (answer.type === 'refused' && isUnchanged(answer))) return { type: 'done' }
    return answer.type === 'refused' && hasGone(answer) ? { type: 'refused' } : outcomeOf(answer)
  },
})
