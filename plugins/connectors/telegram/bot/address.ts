/** The address of a `telegram` reply handle: a JSON text that names a connector and a chat (telegram-15). */
import { hash } from 'node:crypto'
import { integer, nullable, object, optional, parse, string, type Infer } from '../../../../core/plugin.js'
import type { ReplyTargetRequest } from '../../../execution/deliveries/contract.js'

const Place = object({
  connector: string({ min: 1, max: 64, pattern: '^[A-Za-z0-9._-]+$' }),
  chat_id: integer(),
  message_thread_id: optional(nullable(integer())),
  reply_to_message_id: optional(nullable(integer())),
})
/** Where a message goes. */
export type TelegramPlace = Infer<typeof Place>

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Undefined for a text that is no such address. */
export const placeOf = (address: string): TelegramPlace | undefined => {
  const parsed = parse(Place, readJson(address))
  return parsed.ok ? parsed.value : undefined
}

/** Equal places have equal addresses. */
export const addressOf = (place: TelegramPlace): string => {
  const { connector, chat_id, message_thread_id, reply_to_message_id } = place
  return JSON.stringify({
    connector,
    chat_id,
    message_thread_id: message_thread_id ?? undefined,
    reply_to_message_id: reply_to_message_id ?? undefined,
  })
}

/** The address of a requested target. */
export const requestedAddress = (request: ReplyTargetRequest): string | undefined =>
  request.type === 'telegram' ? addressOf(request) : undefined

/** What may be told of an address: the connector, and no chat. */
export const targetName = (address: string): string => {
  const place = placeOf(address)
  if (place === undefined) return 'telegram:invalid'
  return `telegram:${place.connector}:chat_sha256:${hash('sha256', String(place.chat_id)).slice(0, 16)}`
}
