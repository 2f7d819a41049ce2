/** What a telegram connector is set up with (telegram-1 to telegram-4). */
import {
  array,
  defaulted,
  doc,
  enums,
  integer,
  object,
  optional,
  refusedUrl,
  string,
  type Infer,
  type Issue,
  type OutboundReach,
} from '../../../../core/plugin.js'
import {
  connectorSettings,
  selfReplySettings,
  unauthenticated,
  type Connector,
  type ConnectorDraft,
  type ConnectorKind,
  type Exposure,
} from '../../registry/contract.js'
import { placeOf } from './address.js'

const defaultRate = 100

export const telegramSettings = object({
  ...connectorSettings(defaultRate),
  api_base_url: optional(doc(string({ max: 2000 }), 'Where the Bot API is; https://api.telegram.org when absent.')),
  ingress_mode: doc(
    defaulted(enums(['webhook', 'polling']), 'webhook'),
    'Whether the platform sends updates, or is asked for them.',
  ),
  polling_timeout_seconds: doc(
    defaulted(integer({ min: 1, max: 300 }), 30),
    'How long the platform waits for an update before it answers a poll. Seconds.',
  ),
  allowed_chat_ids: doc(
    defaulted(array(integer(), { max: 10_000 }), []),
    'The only chats that are heard and spoken to; all when empty.',
  ),
  ...selfReplySettings,
})
/** Its settings but for secrets. */
export type TelegramSettings = Infer<typeof telegramSettings>

/** A connector of this kind. */
export type TelegramConnector = Connector<TelegramSettings>

export const defaultBaseUrl = 'https://api.telegram.org'

const fault = (path: string, rule: string): Issue => ({ path, rule })

/** Why a text cannot be the address of a Bot API. Resolves no name. */
const refusedBase = (text: string, reach: OutboundReach): string | undefined => {
  const refused = refusedUrl(text, reach)
  if (refused !== undefined)
    return refused.includes('private')
      ? `${refused} that allow_cidrs of config/telegram.toml had not when the daemon started`
      : refused
  return /[?#]/u.test(text) ? 'must carry no query and no fragment' : undefined
}

/** A chat that a connector may speak to. */
export const isAllowed = ({ allowed_chat_ids: allowed }: TelegramSettings, chat_id: number): boolean =>
  allowed.length === 0 || allowed.includes(chat_id)

const faultOf = (draft: ConnectorDraft<TelegramSettings>, reach: OutboundReach): Issue | undefined => {
  const { api_base_url: base, ingress_mode: mode, include_self_output: answers } = draft.settings
  const wrong = base === undefined ? undefined : refusedBase(base, reach)
  if (wrong !== undefined) return fault('api_base_url', wrong)
  const hasBot = draft.has('bot_token')
  if (mode === 'polling' && !hasBot) return fault('bot_token', 'must have a value where ingress_mode is polling')
  if (answers && !hasBot) return fault('bot_token', 'must have a value where include_self_output is true')
  if (mode === 'webhook' && !draft.has('secret_token') && !draft.settings.allow_unauthenticated_ingress)
    return fault('secret_token', 'must have a value where updates come by webhook, unless anybody may send them')
  return undefined
}

const exposure = ({ settings, has }: ConnectorDraft<TelegramSettings>): Exposure | undefined => {
  const { ingress_mode: mode, allow_unauthenticated_ingress: open, allowed_chat_ids: chats } = settings
  if (mode === 'webhook' && open && !has('secret_token')) return unauthenticated('secret_token')
  if (chats.length > 0) return undefined
  return {
    severity: 'info',
    message: 'hears everybody who finds its bot: allowed_chat_ids is empty',
    action: 'Name the chats that it may hear, in place of 1111',
    flags: "--set 'allowed_chat_ids=[1111]'",
  }
}

const normal = (settings: TelegramSettings): TelegramSettings => ({
  ...settings,
  ingress_events_per_second: Math.max(1, settings.ingress_events_per_second),
  allowed_chat_ids: [...new Set(settings.allowed_chat_ids)].toSorted((one, other) => one - other),
})

/** The kind; `reach` is which special addresses a Bot API may have. */
export const telegramKind = (reach: OutboundReach): ConnectorKind<TelegramSettings> => ({
  kind: 'telegram',
  settings: telegramSettings,
  secrets: ['bot_token', 'secret_token'],
  targets: 'additional_reply_targets',
  normal,
  fault: (draft) => faultOf(draft, reach),
  exposure,
  refuseTarget(draft, { plugin, address }) {
    const place = plugin === 'telegram' ? placeOf(address) : undefined
    if (place === undefined || place.connector !== draft.name || isAllowed(draft.settings, place.chat_id))
      return undefined
    return 'must name a chat that is among allowed_chat_ids'
  },
})
