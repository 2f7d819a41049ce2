/** Where the platform sends updates (telegram-5 to telegram-11). */
import { hash, timingSafeEqual } from 'node:crypto'
import {
  boolean,
  defineRoute,
  doc,
  enums,
  having,
  integer,
  jsonReply,
  literal,
  named,
  object,
  optional,
  string,
  type Admitted,
  type IngressHead,
  type Route,
} from '../../../core/plugin.js'
import { RunView } from '../../execution/runs/contract.js'
import { ingressDomain, ingressErrors, outsiderView } from '../ingress/contract.js'
import type { ConnectorKind, Connectors } from '../registry/contract.js'
import { pollsItself, telegramErrors } from './errors.js'
import type { TelegramConnector, TelegramSettings } from './bot/settings.js'
import { isLasting } from './updates/lasting.js'
import type { Refusals } from './updates/refused.js'
import { takeIn, type Taken, type TakeInParts } from './updates/take-in.js'
import { TelegramUpdate } from './updates/update.js'

export interface RouteParts extends TakeInParts {
  readonly connectors: Connectors
  readonly kind: ConnectorKind<TelegramSettings>
  readonly refusals: Refusals
}

const secretHeader = 'x-telegram-bot-api-secret-token'
const digestOf = (text: string): Buffer => Buffer.from(hash('sha256', text, 'hex'), 'hex')
/** Takes as long whatever the given one is. */
const isSecret = (given: string, secret: string): boolean => timingSafeEqual(digestOf(given), digestOf(secret))

const isProven = (connector: TelegramConnector, given: readonly string[]): boolean => {
  const secret = connector.secret('secret_token')
  if (secret === undefined) return connector.settings.allow_unauthenticated_ingress
  const [only] = given
  return given.length === 1 && only !== undefined && isSecret(only, secret)
}

const isJson = (given: readonly string[]): boolean =>
  given.length === 1 && /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/iu.test(given[0]?.trim() ?? '')

const admit = (
  { connectors, kind, refusals }: RouteParts,
  head: IngressHead<{ readonly name: string }>,
): Admitted<TelegramConnector> => {
  const connector = connectors.find(kind, head.params.name)
  if (connector === undefined) throw ingressErrors.not_found()
  if (connector.settings.ingress_mode === 'polling') throw pollsItself()
  const given = head.header(secretHeader)
  if (!isProven(connector, given)) {
    if (given.length > 0) refusals.strange(connector)
    throw ingressErrors.unauthorized()
  }
  refusals.proven(connector.name)
  if (!isJson(head.header('content-type'))) throw telegramErrors.telegram_media_type_unsupported()
  return { subject: connector }
}

/** What is told where there is no run to tell of. */
const AcceptedUpdate = named(
  'AcceptedTelegramUpdate',
  object({
    accepted: literal(true),
    skipped: optional(doc(boolean(), 'True if no run comes of it.')),
    reason: optional(doc(enums(['unsupported_update', 'live_reply']), 'Why it was skipped.')),
    update_id: integer(),
    session_id: optional(doc(string(), 'The session of its run, which begins when its files are there.')),
  }),
)

const replyTo = (taken: Taken) => {
  const { update_id } = taken
  if (taken.type === 'skipped') return { accepted: true as const, skipped: true, reason: taken.reason, update_id }
  const { received } = taken
  return received.type === 'pending'
    ? { accepted: true as const, update_id, session_id: received.session_id }
    : outsiderView(received.run)
}

const { bad_request, unauthorized, forbidden, not_found, conflict, rate_limited, service_unavailable } = ingressErrors

export const telegramRoute = (parts: RouteParts): Route =>
  defineRoute({
    id: 'connectors.telegram',
    method: 'POST',
    path: '/v1/connectors/telegram/:name',
    summary: 'Takes an update of a bot; the same update again is the same run.',
    access: 'ingress',
    ingress: (head: IngressHead<{ readonly name: string }>) => admit(parts, head),
    scheme: {
      id: 'telegram_webhook',
      header: 'X-Telegram-Bot-Api-Secret-Token',
      description: 'The secret_token of the connector, which the platform sends with each update.',
    },
    params: object({ name: string({ min: 1, max: 1000 }) }),
    body: TelegramUpdate,
    bodyForm: 'lenient',
    bodyLimit: 2_097_152,
    invalidBody: telegramErrors.telegram_update_invalid,
    problemDomain: ingressDomain,
    reply: jsonReply(having('accepted', AcceptedUpdate, RunView)),
    problems: [
      bad_request,
      unauthorized,
      forbidden,
      not_found,
      conflict,
      rate_limited,
      service_unavailable,
      ingressErrors.telegram_ingress_rate_limited,
      ...Object.values(telegramErrors),
    ],
    durability: 'A',
    example: {
      body: { update_id: 10_000, message: { message_id: 1, chat: { id: 1111 }, from: { id: 1111 }, text: 'Hello' } },
    },
    handler: async ({ body, caller: { subject } }) => {
      try {
        const taken = await takeIn(parts, subject, { update: body })
        parts.refusals.taken(subject, body, taken)
        return replyTo(taken)
      } catch (error) {
        if (isLasting(error)) parts.refusals.passedOver(subject, body, error)
        throw error
      }
    },
  })
