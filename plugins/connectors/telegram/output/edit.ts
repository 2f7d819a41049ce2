import type { TelegramPlace } from '../bot/address.js'
import { callBot, type Bot, type BotAnswer, type BotApiParts, type BotCall } from '../bot/bot-api.js'

/** Puts a text in place of a message. */
export const editText = (
  parts: BotApiParts,
  { bot, place }: { bot: Bot; place: TelegramPlace },
  { message_id, signal, ...fields }: { message_id: number; text: string; signal: AbortSignal; reply_markup: object },
): Promise<BotAnswer> => {
  const call: BotCall = { method: 'editMessageText', body: { chat_id: place.chat_id, message_id, ...fields }, signal }
  return callBot(parts, bot, call)
}
