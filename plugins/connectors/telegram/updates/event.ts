/** What an update asks for: a run, or nothing (telegram-6 to telegram-12). */
import type { JsonObject } from '../../../../core/plugin.js'
import type { ReplyTargetRequest } from '../../../execution/deliveries/contract.js'
import type { IngressEvent } from '../../registry/contract.js'
import { refusedUpdate } from './refusals.js'
import { fileRecord, filesOf } from './media.js'
import { isAllowed, type TelegramConnector } from '../bot/settings.js'
import { fingerprintOf, knownUpdate, type TelegramMessage, type TelegramUpdate } from './update.js'

/** What an update comes to. */
export type Meaning =
  | { readonly type: 'skipped'; readonly update_id: number }
  | { readonly type: 'event'; readonly event: IngressEvent; readonly callback_query_id?: string }

/** Which of the updates that are heard it is; `text` is undefined of one that can have none, such as a sticker. */
interface Heard {
  readonly source_kind: string
  readonly message: TelegramMessage
  readonly text: string | undefined
  readonly actor: number | undefined
  readonly callback_query_id?: string
}

const said = (message: TelegramMessage, source_kind: string): Heard => ({
  source_kind,
  message,
  text: message.text ?? message.caption ?? undefined,
  actor: message.from?.id,
})

/** In the order in which they count. Throws for a callback query that says nothing. */
const heardIn = (update: TelegramUpdate, name: string): Heard | undefined => {
  const { message, edited_message: edited, callback_query: callback } = update
  if (message) return said(message, name)
  if (edited) return said(edited, 'edited_message')
  if (!callback) return undefined
  const { id, data, message: under, from } = callback
  if (!under || (data ?? '').trim() === '') throw refusedUpdate('callback_invalid')
  return { source_kind: 'callback_query', message: under, text: data ?? '', actor: from.id, callback_query_id: id }
}

/** The session of a chat, or of a topic in it. */
export const naturalSession = (name: string, { chat, message_thread_id: thread }: TelegramMessage): string =>
  thread === undefined || thread === null ? `telegram:${name}:${chat.id}` : `telegram:${name}:${chat.id}:${thread}`

const selfTarget = (name: string, message: TelegramMessage): ReplyTargetRequest => {
  const { chat, message_id, message_thread_id: thread } = message
  return {
    type: 'telegram',
    connector: name,
    chat_id: chat.id,
    ...(thread !== undefined && thread !== null && { message_thread_id: thread }),
    ...(typeof message_id === 'number' && { reply_to_message_id: message_id }),
  }
}

const targetsOf = ({ name, settings, has }: TelegramConnector, message: TelegramMessage) => [
  ...(settings.include_self_output && has('bot_token') ? [selfTarget(name, message)] : []),
  ...settings.additional_reply_targets,
]

/** `how` is what goes with it that the update does not say. Throws the problem of an update that is refused. */
export const meaningOf = (connector: TelegramConnector, update: TelegramUpdate, how: JsonObject = {}): Meaning => {
  const { name, settings } = connector
  const { update_id } = update
  if (update_id === undefined || update_id === null) throw refusedUpdate('update_id_missing')
  const heard = heardIn(update, name)
  if (heard === undefined) return { type: 'skipped', update_id }
  const { message, text = '', actor, source_kind, callback_query_id } = heard
  if (!isAllowed(settings, message.chat.id)) throw refusedUpdate('chat_not_allowed')
  const takesFiles = callback_query_id === undefined && connector.has('bot_token')
  const files = takesFiles ? filesOf(message).map(fileRecord) : []
  if (text.trim() === '' && files.length === 0) {
    // Stickers and joins are no faults of their sender: what is refused the platform sends again for hours.
    if (heard.text === undefined) return { type: 'skipped', update_id }
    throw refusedUpdate('message_empty')
  }
  const session = naturalSession(name, message)
  const fingerprint = fingerprintOf(update)
  const event: IngressEvent = {
    key: `telegram:${name}:${update_id}`,
    fingerprint,
    binding_keys: [session, ...settings.additional_binding_keys],
    natural_session_id: session,
    patient: true,
    content: text,
    ...(files.length > 0 && { files }),
    source_kind,
    actor_id: actor === undefined ? 'telegram-user' : String(actor),
    metadata: { ...knownUpdate(update), ...how },
    facts: { telegram_ingress_fingerprint: fingerprint },
    reply_targets: targetsOf(connector, message),
  }
  return { type: 'event', event, ...(callback_query_id !== undefined && { callback_query_id }) }
}
