/** Takes messages that ask to their chats, and has them say what became of it. */
import { backoff, type Clock } from '../../../core/plugin.js'
import { messageOf, type AskParts } from './asks.js'
import type { Calls } from './calls.js'
import type { LiveKind, LiveOutcome } from './contract.js'
import type { AskRecord } from './store.js'

/** Messages that are being sent at a time, and the waits between attempts. */
const [mostAtOnce, firstMs, longestMs] = [8, 500, 60_000]
/** Attempts to say in a message how its request ended. */
const mostEdits = 10

export interface AskPostParts extends Omit<AskParts, 'wake'> {
  readonly clock: Clock
  readonly calls: Calls
  readonly kinds: () => readonly LiveKind[]
  readonly signal: AbortSignal
}

export interface AskPosts {
  wake(ask_id: string): void
  /** Resolves when nothing is under way. */
  close(): Promise<void>
}

interface Life {
  readonly parts: AskPostParts
  /** Those that have something to say, in order, and how often that was tried. */
  readonly waiting: Map<string, number>
  readonly running: Map<string, Promise<void>>
}

export const createAskPosts = (parts: AskPostParts): AskPosts => {
  const life: Life = { parts, waiting: new Map(), running: new Map() }
  return {
    wake(ask_id) {
      life.waiting.set(ask_id, 0)
      pump(life)
    },
    async close() {
      life.waiting.clear()
      await Promise.all(life.running.values())
    },
  }
}

const pump = (life: Life): void => {
  const { waiting, running, parts } = life
  for (const [ask_id, attempt] of waiting) {
    if (running.size >= mostAtOnce || parts.signal.aborted) return
    if (running.has(ask_id)) continue
    waiting.delete(ask_id)
    const work = attemptOne(life, ask_id, attempt + 1)
      .catch((error: unknown) => parts.log.warn('a message that asks could not be kept', { error }))
      .finally(() => {
        running.delete(ask_id)
        pump(life)
      })
    running.set(ask_id, work)
  }
}

const attemptOne = async (life: Life, ask_id: string, attempt: number): Promise<void> => {
  const { parts, waiting } = life
  const ask = parts.store.asks.find(ask_id)
  if (ask === undefined || ask.status === 'closed') return
  if (await say(parts, ask, attempt)) return
  const wait = backoff({ base: firstMs, max: longestMs }, attempt)
  parts.clock.after(wait, () => {
    if (!waiting.has(ask_id)) waiting.set(ask_id, attempt)
    pump(life)
  })
}

/** True if there is nothing more to do for it now. */
const say = async (parts: AskPostParts, ask: AskRecord, attempt: number): Promise<boolean> => {
  const kind = parts.kinds().find(({ plugin }) => plugin === ask.plugin)
  const chat = kind?.chat(ask.address)
  const isOpen = ask.status === 'open'
  if (isOpen ? ask.message_id !== undefined : ask.message_id === undefined) return isOpen || close(parts, ask)
  if (kind === undefined || chat === undefined) return isOpen || close(parts, ask)
  const message = messageOf(parts, ask, chat)
  let message_id = ask.message_id
  const made = await parts.calls.make({ kind, address: ask.address }, async (signal): Promise<LiveOutcome> => {
    if (message_id !== undefined) return kind.edit(ask.address, { message_id, message }, signal)
    const posted = await kind.post(ask.address, message, signal)
    if (posted.type === 'done') ({ message_id } = posted)
    return posted
  })
  if (made?.type === 'done') return isOpen ? sent(parts, ask, message_id) : close(parts, ask)
  if (made?.type === 'refused') return close(parts, ask)
  return !isOpen && attempt >= mostEdits ? close(parts, ask) : false
}

/** It may have been decided on meanwhile: then what it says is not true any more. */
const sent = async (
  { store }: AskPostParts,
  { ask_id }: AskRecord,
  message_id: string | undefined,
): Promise<boolean> => {
  const isOver = await store.state.commit((tx) => {
    const now = store.asks.find(ask_id)
    if (now === undefined) return false
    tx.put(store.asks, { ...now, ...(message_id !== undefined && { message_id }) })
    return now.status !== 'open'
  })
  return !isOver
}

/** It is no longer worked on; what is known of it answers who presses once more. */
const close = async ({ store }: AskPostParts, { ask_id }: AskRecord): Promise<true> => {
  await store.state.commit((tx) => {
    const now = store.asks.find(ask_id)
    if (now !== undefined) tx.put(store.asks, { ...now, status: 'closed' })
  })
  return true
}
