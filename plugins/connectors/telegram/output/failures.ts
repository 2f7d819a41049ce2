/** How answers of the Bot API are taken by whoever sends (telegram-18). */
import { failedRequest, type DeliveryOutcome } from '../../../execution/deliveries/contract.js'
import { isFlood, type BotAnswer, type Refused } from '../bot/bot-api.js'

export type Undelivered = Exclude<DeliveryOutcome, { type: 'delivered' }>

/** The platform does not know the token. */
export const tokenRefusedCode = 'telegram_token_refused'

/** Descriptions of a 400 that no repetition mends. */
const hopeless: readonly (readonly [string, string])[] = [
  ['message is too long', 'telegram_message_too_long'],
  ['chat not found', 'telegram_chat_not_found'],
  ['message thread not found', 'telegram_thread_not_found'],
  ['bot was blocked', 'telegram_bot_blocked'],
]

/** The message that was to be answered is gone: what was to be said still can be. */
export const lacksRepliedMessage = ({ error_code, description }: Refused): boolean =>
  error_code === 400 && /message to be replied not found|replied message not found/u.test(description)

/** Its topic is gone; or it never had one, and is in the thread of a message of a group without topics. */
export const lacksThread = ({ error_code, description }: Refused): boolean =>
  error_code === 400 && description.includes('message thread not found')

/** A picture that is none to the platform, such as one that is too long or too large, is a file all the same. */
export const isNoPhoto = ({ status, error_code, description }: Refused): boolean =>
  status === 413 ||
  error_code === 413 ||
  (error_code === 400 && /photo_|image_process|file is too (?:big|large)/u.test(description))

/** It says what it is to say already. */
export const isUnchanged = ({ error_code, description }: Refused): boolean =>
  error_code === 400 && description.includes('message is not modified')
/** There is no such message to change. */
export const hasGone = ({ error_code, description }: Refused): boolean =>
  error_code === 400 && /message to edit not found|message can't be edited|message_id_invalid/u.test(description)

const refusedOutcome = (refused: Refused): Undelivered => {
  const { status, error_code, description, retry_after_ms } = refused
  if (isFlood(refused) && retry_after_ms !== undefined)
    return { type: 'retry', code: 'telegram_rate_limited', retry_after_ms }
  if (status === 401 || error_code === 401) return { type: 'terminal', code: tokenRefusedCode }
  if (refused.moved_to !== undefined) return { type: 'terminal', code: 'telegram_chat_not_allowed' }
  if (status === 403 || error_code === 403) return { type: 'terminal', code: 'telegram_chat_forbidden' }
  const [, code] = error_code === 400 ? (hopeless.find(([words]) => description.includes(words)) ?? []) : []
  if (code !== undefined) return { type: 'terminal', code }
  if (error_code !== undefined && status < 500) return { type: 'retry', code: `telegram_error_${error_code}` }
  // Nobody knows what a server did that broke, or whose answer cannot be read.
  const isUnknown = status >= 500 || (status >= 200 && status < 300)
  return { type: 'retry', code: `http_status_${status}`, ...(isUnknown && { uncertain: true }) }
}

/** What a call that did not work means for a delivery. */
export const undelivered = (answer: Exclude<BotAnswer, { type: 'done' }>): Undelivered =>
  answer.type === 'failure' ? failedRequest(answer.code) : refusedOutcome(answer)
