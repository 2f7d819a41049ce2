/** The `telegram` reply plugin (telegram-15 to telegram-19). */
import type { ReplyPlugin } from '../../../execution/deliveries/contract.js'
import { addressOf, placeOf, requestedAddress, targetName } from '../bot/address.js'
import { deliver, type DeliverParts } from './deliver.js'
import { isAllowed } from '../bot/settings.js'

const refuse = ({ connectors, kind }: DeliverParts, address: string): string | undefined => {
  const place = placeOf(address)
  if (place === undefined)
    return 'must be a JSON text with connector, chat_id, and perhaps message_thread_id and reply_to_message_id'
  const settings = connectors.settingsOf(kind, place.connector)
  if (settings === undefined) return 'must name a telegram connector that is there'
  return isAllowed(settings, place.chat_id) ? undefined : 'must name a chat that is among allowed_chat_ids'
}

export const telegramReply = (parts: DeliverParts): ReplyPlugin => ({
  plugin: 'telegram',
  address: requestedAddress,
  refuse: (address) => refuse(parts, address),
  keep(address) {
    const place = placeOf(address)
    return place === undefined ? address : addressOf(place)
  },
  target: targetName,
  deliver: (envelope, signal) => deliver(parts, envelope, signal),
})
