/** Deliveries: the messages of an output, one after the other, each noted when it was sent (telegram-16). */
import { boolean, object, parse, Problem, record, type Log } from '../../../../core/plugin.js'
import type { DeliveryOutcome, Envelope } from '../../../execution/deliveries/contract.js'
import type { Connectors, ConnectorKind, DeliveryProgress } from '../../registry/contract.js'
import { placeOf } from '../bot/address.js'
import { botOf } from '../bot/bot-api.js'
import type { LiveReplies } from '../../live/contract.js'
import { messageNumber } from '../bot/live-names.js'
import { tokenLine } from '../polling/poll-health.js'
import { editText } from './edit.js'
import { hasGone, isUnchanged, tokenRefusedCode, undelivered, type Undelivered } from './failures.js'
import { sendStep, type Sending, type SendParts } from './send.js'
import { isAllowed, type TelegramSettings } from '../bot/settings.js'
import { stepsOf, type Step } from './steps.js'

export interface DeliverParts extends SendParts {
  readonly connectors: Pick<Connectors, 'find' | 'has' | 'settingsOf' | 'trouble'>
  readonly kind: ConnectorKind<TelegramSettings>
  readonly progress: DeliveryProgress
  readonly live: () => LiveReplies | undefined
  readonly log: Log
}

/** What was sent of a delivery, by step. */
const Progress = object({ steps: record(object({ sent: boolean() })) })

/** The steps that are done; undefined if what was kept cannot be read. */
const doneOf = ({ progress }: DeliverParts, delivery_id: string): ReadonlySet<string> | undefined => {
  const kept = progress.read(delivery_id)
  if (kept === undefined) return new Set()
  const parsed = parse(Progress, kept)
  if (!parsed.ok) return undefined
  return new Set(Object.entries(parsed.value.steps).flatMap(([key, { sent }]) => (sent ? [key] : [])))
}

/** Who sends where; or why nobody does. */
const aimOf = (
  { connectors, kind }: DeliverParts,
  address: string,
): Omit<Sending, 'signal'> | DeliveryOutcome | string => {
  const place = placeOf(address)
  if (place === undefined) return 'telegram_target_invalid'
  const connector = connectors.find(kind, place.connector)
  if (connector === undefined)
    return connectors.has('telegram', place.connector)
      ? { type: 'retry', code: 'telegram_connector_not_in_force' }
      : 'telegram_connector_missing'
  if (!isAllowed(connector.settings, place.chat_id)) return 'telegram_chat_not_allowed'
  const bot = botOf(connector)
  const mayChat = (chat_id: number): boolean => isAllowed(connector.settings, chat_id)
  return bot === undefined ? 'telegram_bot_token_missing' : { bot, place, isAllowed: mayChat }
}

const aimed = (parts: DeliverParts, address: string): ReturnType<typeof aimOf> | DeliveryOutcome => {
  try {
    return aimOf(parts, address)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { type: 'retry', code: error.code }
  }
}

export const deliver = async (
  parts: DeliverParts,
  envelope: Envelope,
  signal: AbortSignal,
): Promise<DeliveryOutcome> => {
  const { delivery_id, address } = envelope
  const aim = aimed(parts, address)
  if (typeof aim === 'string') return { type: 'terminal', code: aim }
  if ('type' in aim) return aim
  const done = doneOf(parts, delivery_id)
  if (done === undefined) return { type: 'terminal', code: 'delivery_progress_unreadable' }
  return await sendAll(parts, envelope, { ...aim, signal, done })
}

const sendAll = async (
  parts: DeliverParts,
  envelope: Envelope,
  { done, ...sending }: Sending & { readonly done: ReadonlySet<string> },
): Promise<DeliveryOutcome> => {
  const sent = new Set(done)
  const steps = stepsOf(envelope)
  const drafted = steps.find(({ type }) => type === 'text')
  for (const step of steps) {
    if (sent.has(step.key)) continue
    if (sending.signal.aborted) return { type: 'retry', code: 'outbound_aborted' }
    const draft = step === drafted ? await draftOf(parts, envelope, sending) : undefined
    const failure = await sendOrEdit(parts, sending, { step, draft })
    if (failure !== undefined) {
      tellRefused(parts, sending, failure)
      return failure
    }
    sent.add(step.key)
    const noted = await note(parts, envelope.delivery_id, sent)
    if (noted !== undefined) return noted
  }
  return { type: 'delivered' }
}

/** A connector that polls hears of it by itself; one with a webhook would not. */
const tellRefused = (
  { connectors, kind }: DeliverParts,
  { place: { connector: name } }: Sending,
  { code }: Undelivered,
): void => {
  const connector = connectors.find(kind, name)
  if (code !== tokenRefusedCode || connector?.settings.ingress_mode !== 'webhook') return
  connectors.trouble('telegram', name, {
    state: 'degraded',
    cause: 'The platform refuses the bot_token: nothing can be sent, and no file can be read.',
    action: tokenLine(connector),
  })
}

/** The message that showed the words while they were made: it becomes the first message of the answer. */
const draftOf = async (
  { live }: DeliverParts,
  { delivery_id, run_id, address }: Envelope,
  { place }: Sending,
): Promise<number | undefined> => {
  const name = await live()?.takeDraft({ plugin: 'telegram', delivery_id, run_id, address })
  return name === undefined ? undefined : messageNumber(place, name)
}

const sendOrEdit = async (
  parts: DeliverParts,
  sending: Sending,
  { step, draft }: { readonly step: Step; readonly draft: number | undefined },
): Promise<Undelivered | undefined> => {
  if (draft === undefined || step.type !== 'text') return await sendStep(parts, sending, step)
  const { signal } = sending
  const edit = { message_id: draft, text: step.text, signal, reply_markup: { inline_keyboard: [] } }
  const answer = await editText(parts, sending, edit)
  if (answer.type === 'done' || (answer.type === 'refused' && isUnchanged(answer))) return undefined
  const isGone = answer.type === 'refused' && (hasGone(answer) || answer.moved_to !== undefined)
  return isGone ? await sendStep(parts, sending, step) : undelivered(answer)
}

/** The message was sent: if that cannot be noted, a repetition sends it again, and is told to be one that may. */
const note = async (
  { progress, log }: DeliverParts,
  delivery_id: string,
  sent: ReadonlySet<string>,
): Promise<DeliveryOutcome | undefined> => {
  try {
    await progress.write(delivery_id, { steps: Object.fromEntries([...sent].map((key) => [key, { sent: true }])) })
    return undefined
  } catch (error) {
    log.warn('the progress of a delivery could not be kept', { delivery_id, error })
    return { type: 'retry', code: 'delivery_progress_unwritten', uncertain: true }
  }
}
