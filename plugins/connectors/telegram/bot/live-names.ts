/** What messages and buttons of live replies are called (telegram-28). */
import type { TelegramPlace } from './address.js'

/** Messages are numbered in their chat. */
export const messageName = (chat_id: number, message_id: number): string => `${chat_id}:${message_id}`
/** The number of a message of this chat. */
export const messageNumber = ({ chat_id }: TelegramPlace, name: string): number | undefined => {
  const [chat, number] = name.split(':')
  return chat === String(chat_id) && /^\d{1,15}$/u.test(number ?? '') ? Number(number) : undefined
}

export const buttonMark = 'live:'
/** What a button carries; undefined for one that is none of ours. */
export const pressedToken = (data: string): string | undefined =>
  data.startsWith(buttonMark) ? data.slice(buttonMark.length) : undefined
