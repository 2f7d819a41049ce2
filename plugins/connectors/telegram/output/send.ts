/** One step of a delivery as a call of the Bot API (telegram-16, telegram-17). */
import { hash } from 'node:crypto'
import { Problem, type Ids } from '../../../../core/plugin.js'
import { mostAssetBytes, type Assets, type AttachmentRef } from '../../../media/assets/contract.js'
import type { TelegramPlace } from '../bot/address.js'
import { callBot, type Bot, type BotAnswer, type BotApiParts } from '../bot/bot-api.js'
import { isNoPhoto, lacksRepliedMessage, lacksThread, undelivered, type Undelivered } from './failures.js'
import { formOf } from './multipart.js'
import { mediaOf, type Step } from './steps.js'

export interface SendParts extends BotApiParts {
  readonly assets: () => Assets | undefined
  readonly ids: Ids
  /** Lets a file through when there is room for one more in memory. */
  readonly gate: Gate
}

/** How many files are in memory at a time to be sent: each is there twice, as itself and in its form. */
const mostFiles = 2

/** Lets so many through at a time, in order. */
export interface Gate {
  through<T>(work: () => Promise<T>): Promise<T>
}
export const createGate = (most = mostFiles): Gate => {
  let free = most
  const waiting: (() => void)[] = []
  return {
    async through(work) {
      if (free > 0) free -= 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next === undefined) free += 1
        else next()
      }
    },
  }
}

/** Where and whom it is sent by. */
export interface Sending {
  readonly bot: Bot
  readonly place: TelegramPlace
  readonly signal: AbortSignal
  /** Whether it may speak there, too. */
  isAllowed(chat_id: number): boolean
}

const sendText = (parts: SendParts, { bot, place, signal }: Sending, text: string): Promise<BotAnswer> => {
  const { chat_id, message_thread_id = null, reply_to_message_id = null } = place
  const body = { chat_id, message_thread_id, reply_to_message_id, text }
  return callBot(parts, bot, { method: 'sendMessage', body, signal })
}

/** What stands for a file whose asset is gone: a repetition would not bring it back. */
const lost: Undelivered = { type: 'terminal', code: 'telegram_file_missing' }

const bytesOf = async ({ assets }: SendParts, { id }: AttachmentRef): Promise<Uint8Array | Undelivered> => {
  try {
    const bytes = await assets()?.read(id, 'raw')
    return bytes === undefined || bytes.length > mostAssetBytes ? lost : bytes
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return error.spec.status < 500 ? lost : { type: 'retry', code: error.code }
  }
}

const nameOf = ({ file_name, id }: AttachmentRef): string => file_name ?? `file-${hash('sha256', id).slice(0, 8)}`

const sendFile = async (
  parts: SendParts,
  { bot, place, signal }: Sending,
  file: AttachmentRef,
): Promise<BotAnswer | Undelivered> => {
  const bytes = await bytesOf(parts, file)
  if (!(bytes instanceof Uint8Array)) return bytes
  const { chat_id, message_thread_id: thread, reply_to_message_id: replied } = place
  const fields = {
    chat_id: String(chat_id),
    ...(typeof thread === 'number' && { message_thread_id: String(thread) }),
    ...(typeof replied === 'number' && { reply_to_message_id: String(replied) }),
  }
  const sendAs = ({ method, part }: ReturnType<typeof mediaOf>): Promise<BotAnswer> => {
    const form = { part, file_name: nameOf(file), media_type: file.media_type, bytes }
    const body = formOf(fields, form, `holdfast-${parts.ids.random(24)}`)
    return callBot(parts, bot, { method, body, signal })
  }
  const media = mediaOf(file.media_type)
  const answer = await sendAs(media)
  const isPlainFile = media.method === 'sendPhoto' && answer.type === 'refused' && isNoPhoto(answer)
  return isPlainFile ? await sendAs(mediaOf('')) : answer
}

const sendOnce = (parts: SendParts, sending: Sending, step: Step): Promise<BotAnswer | Undelivered> =>
  step.type === 'text'
    ? sendText(parts, sending, step.text)
    : parts.gate.through(() => sendFile(parts, sending, step.file))

/** Another way to say it where the platform does not take it so; undefined if there is none. */
const otherwise = (sending: Sending, answer: BotAnswer): Sending | undefined => {
  if (answer.type !== 'refused') return undefined
  const { place, isAllowed } = sending
  const { message_thread_id: thread, reply_to_message_id: replied } = place
  const { moved_to: chat_id } = answer
  if (chat_id !== undefined && chat_id !== place.chat_id && isAllowed(chat_id))
    return { ...sending, place: { connector: place.connector, chat_id } }
  if (typeof replied !== 'number') return undefined
  if (lacksRepliedMessage(answer)) return { ...sending, place: { ...place, reply_to_message_id: null } }
  // It is in the thread of the message that it replies to.
  return lacksThread(answer) && typeof thread === 'number'
    ? { ...sending, place: { ...place, message_thread_id: null } }
    : undefined
}

const outcomeOf = (answer: BotAnswer | Undelivered): Undelivered | undefined =>
  answer.type === 'done'
    ? undefined
    : answer.type === 'retry' || answer.type === 'terminal'
      ? answer
      : undelivered(answer)

/** Undefined when it was sent. A message that answers one that is gone answers none, but in a topic that is gone. */
export const sendStep = async (parts: SendParts, sending: Sending, step: Step): Promise<Undelivered | undefined> => {
  const answer = await sendOnce(parts, sending, step)
  if (answer.type === 'retry' || answer.type === 'terminal') return answer
  const other = otherwise(sending, answer)
  if (other === undefined) return outcomeOf(answer)
  if (answer.type !== 'refused' || !lacksThread(answer)) return await sendStep(parts, other, step)
  const second = await sendOnce(parts, other, step)
  return outcomeOf(second.type === 'refused' && lacksRepliedMessage(second) ? answer : second)
}
