/** Asks a bot for its updates, one poll after the other (telegram-20 to telegram-24). */
import { createOutbound, integer, open, parse, type Clock, type Json, type Outbound } from '../../../../core/plugin.js'
import { callBot, isFlood, type Bot, type BotAnswer } from '../bot/bot-api.js'
import { sourceOf, type Cursors } from './cursor.js'
import { createPollHealth, isTokenRefused, type PollHealth, type PollHealthParts } from './poll-health.js'
import { takeIn, type TakeInParts } from '../updates/take-in.js'
import { isLasting } from '../updates/lasting.js'
import type { Refusals } from '../updates/refused.js'
import { TelegramUpdate } from '../updates/update.js'

export interface PollParts extends TakeInParts, PollHealthParts {
  readonly refusals: Refusals
  readonly cursors: Cursors
  readonly clock: Clock
}

/** Before something is tried again. */
const retryMs = 2000
/** Before a token is tried again that was refused: one that is changed is tried at once. */
const refusedMs = 30_000
/** A server that does not wait is asked no more often. */
const idleMs = 1000
/** What a poll takes longer than it waits. */
const graceMs = 10_000
const mostAnswerBytes = 4 * 1024 * 1024
/** Updates that the platform gives at a time when it is told no number. */
const mostUpdates = 100
const updateTypes = ['message', 'edited_message', 'callback_query']

/** One connector while it polls. */
export interface Polling {
  readonly name: string
  readonly bot: Bot
  readonly timeoutSeconds: number
  readonly signal: AbortSignal
}

const Numbered = open({ update_id: integer({ min: 0 }) })
/** One of a batch. */
interface NumberedUpdate {
  readonly id: number
  readonly update: Json
}
/** Updates with their ids, in order; undefined for what is no list of them. */
const updatesIn = (result: Json | undefined): NumberedUpdate[] | undefined => {
  if (!Array.isArray(result)) return undefined
  const found: NumberedUpdate[] = []
  for (const update of result) {
    const numbered = parse(Numbered, update)
    if (!numbered.ok) return undefined
    found.push({ id: numbered.value.update_id, update })
  }
  return found.toSorted((one, other) => one.id - other.id)
}

/** True if the poll may go on behind this update. */
const takeOne = async (
  parts: PollParts,
  { name }: Polling,
  { update, health }: { readonly update: Json; readonly health: PollHealth },
): Promise<boolean> => {
  const connector = parts.find(name)
  if (connector === undefined) return false
  const parsed = parse(TelegramUpdate, update)
  if (!parsed.ok) {
    health.unreadable()
    return true
  }
  try {
    const taken = await takeIn(parts, connector, { update: parsed.value, how: { ingress_mode: 'polling' } })
    parts.refusals.taken(connector, parsed.value, taken)
    return true
  } catch (error) {
    if (!isLasting(error)) throw error
    parts.refusals.passedOver(connector, parsed.value, error)
    return true
  }
}

/** Takes a batch in; what was taken is noted once, when all of it is on disk. False if some is to come again. */
const takeBatch = async (
  parts: PollParts,
  polling: Polling,
  { updates, health }: { readonly updates: readonly NumberedUpdate[]; readonly health: PollHealth },
): Promise<boolean> => {
  const source = sourceOf(polling.bot)
  const before = parts.cursors.next(polling.name, source)
  // After a week of silence the platform counts on from a number by chance, which may be lower.
  let next = updates.every(({ id }) => id < before) ? 0 : before
  let whole = true
  for (const { id, update } of updates) {
    if (polling.signal.aborted) break
    try {
      if (!(await takeOne(parts, polling, { update, health }))) break
      next = Math.max(next, id + 1)
    } catch (error) {
      whole = false
      health.failed('An update could not be taken in, and is asked for again.', error)
      break
    }
  }
  if (next === before || next === 0) return false
  await parts.cursors.advance(polling.name, source, next)
  return whole
}

/** Waits before the next poll, which is how long. */
const waitBehind = (answer: Exclude<BotAnswer, { readonly type: 'done' }>): number => {
  if (answer.type === 'refused' && isFlood(answer)) return answer.retry_after_ms ?? retryMs
  return isTokenRefused(answer) ? refusedMs : retryMs
}

/** One poll, on a connection of its own: how long to wait before the next. */
const pollOnce = async (parts: PollParts, polling: Polling, own: Own): Promise<number> => {
  const { bot, name, timeoutSeconds: timeout, signal } = polling
  const { health, outbound } = own
  const offset = parts.cursors.next(name, sourceOf(bot))
  const began = parts.clock.elapsed()
  const answer = await callBot({ ...parts, outbound }, bot, {
    method: 'getUpdates',
    body: { offset, timeout, allowed_updates: updateTypes, ...(own.most < mostUpdates && { limit: own.most }) },
    signal,
    timeout_ms: timeout * 1000 + graceMs,
    max_answer_bytes: mostAnswerBytes,
  })
  if (signal.aborted) return 0
  if (answer.type === 'failure' && answer.code === 'outbound_answer_too_large' && own.most > 1) {
    own.most = Math.ceil(own.most / 4)
    return 0
  }
  if (answer.type !== 'done') {
    health.unheard(answer)
    return waitBehind(answer)
  }
  own.most = Math.min(mostUpdates, own.most * 2)
  const updates = updatesIn(answer.result)
  if (updates === undefined) {
    health.failed('The Bot API answers what are no updates.')
    return retryMs
  }
  const isWhole = updates.length === 0 || (await takeBatch(parts, polling, { updates, health }))
  if (isWhole) health.well()
  if (updates.length > 0) return isWhole ? 0 : retryMs
  return Math.max(0, idleMs - (parts.clock.elapsed() - began))
}

/** What a poller has for itself: a poll that waits holds up nobody who sends. */
interface Own {
  readonly outbound: Outbound
  readonly health: PollHealth
  /** Updates that are asked for at a time: fewer where more of them were larger than an answer may be. */
  most: number
}

/** Polls until the signal aborts. Never rejects. */
export const poll = async (parts: PollParts, polling: Polling): Promise<void> => {
  const { clock } = parts
  const { signal, name } = polling
  const outbound = createOutbound({ clock, connections: 1 })
  const own: Own = { outbound, health: createPollHealth(parts, name), most: mostUpdates }
  try {
    while (!signal.aborted) {
      const wait = await pollOnce(parts, polling, own).catch((error: unknown) => {
        own.health.failed('A poll could not be finished, and is made again.', error)
        return retryMs
      })
      if (wait > 0) await clock.sleep(wait, signal)
    }
  } finally {
    await own.outbound.close()
  }
}
