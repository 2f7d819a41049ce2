/** Takes messages that ask to their chats, and has them say what became of it. */
import { backoff, tellFailure, type Clock } from '../../../core/plugin.js'
import { messageOf, type AskParts } from './asks.js'
import type { Calls } from './calls.js'
import type { LiveKind, LiveOutcome } from './contract.js'
import type { AskRecord } from './store.js'

/** Messages that are being sent at a time, and the waits between attempts. */
const [mostAtOnce, firstMs, longestMs] = [8, 500, 60_000]
/** Attempts to say in a message how its request ended. */
const mostEdits = 10

export interface AskPostParts extends Pick<AskParts, 'log' | 'secrets' | 'runs' | 'store'> {
  readonly clock: Clock
  readonly calls: Calls
  readonly kinds: () => readonly LiveKind[]
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
  /** Those that wait for their next attempt: what cancels it. */
  readonly resting: Map<string, () => void>
  /** Messages that were sent and are not on disk: they are not sent again. */
  readonly sent: Map<string, string>
  isClosed: boolean
}

export const createAskPosts = (parts: AskPostParts): AskPosts => {
  const life: Life = {
    parts,
    waiting: new Map(),
    running: new Map(),
    resting: new Map(),
    sent: new Map(),
    isClosed: false,
  }
  return {
    wake: (ask_id) => enter(life, ask_id, 0),
    async close() {
      life.isClosed = true
      for (const cancel of life.resting.values()) cancel()
      await Promise.all(life.running.values())
    },
  }
}

const enter = (life: Life, ask_id: string, attempts: number): void => {
  life.resting.get(ask_id)?.()
  life.resting.delete(ask_id)
  life.waiting.set(ask_id, attempts)
  pump(life)
}

const pump = (life: Life): void => {
  const { waiting, running } = life
  for (const [ask_id, attempts] of waiting) {
    if (running.size >= mostAtOnce || life.isClosed) return
    if (running.has(ask_id)) continue
    waiting.delete(ask_id)
    const work = attemptOne(life, ask_id, attempts + 1).finally(() => {
      running.delete(ask_id)
      pump(life)
    })
    running.set(ask_id, work)
  }
}

/** Never rejects. */
const attemptOne = async (life: Life, ask_id: string, attempt: number): Promise<void> => {
  const { clock, log, store } = life.parts
  const isDone = await say(life, ask_id, attempt).catch((error: unknown) => {
    tellFailure({ log, state: store.state }, 'a message that asks could not be kept', { ask_id, error })
    return false
  })
  if (isDone) return void life.sent.delete(ask_id)
  if (life.isClosed || life.waiting.has(ask_id)) return
  const wait = backoff({ base: firstMs, max: longestMs }, attempt)
  life.resting.set(
    ask_id,
    clock.after(wait, () => enter(life, ask_id, attempt)),
  )
}

/** True if there is nothing more to do for it now. */
const say = async ({ parts, sent }: Life, ask_id: string, attempt: number): Promise<boolean> => {
  const ask = parts.store.asks.find(ask_id)
  if (ask === undefined || ask.status === 'closed') return true
  const kind = parts.kinds().find(({ plugin }) => plugin === ask.plugin)
  const chat = kind?.chat(ask.address)
  const isOpen = ask.status === 'open'
  const message_id = ask.message_id ?? sent.get(ask_id)
  if (isOpen && message_id !== undefined) return ask.message_id !== undefined || keep(parts, ask, message_id)
  if (!isOpen && message_id === undefined) return close(parts, ask)
  // Its connector may come back while it is open.
  if (kind === undefined || chat === undefined) return !isOpen && close(parts, ask)
  const message = messageOf(parts, ask, chat)
  const made = await parts.calls.make({ kind, address: ask.address }, async (signal): Promise<LiveOutcome> => {
    if (message_id !== undefined) return kind.edit(ask.address, { message_id, message }, signal)
    const posted = await kind.post(ask.address, message, signal)
    if (posted.type === 'done') sent.set(ask_id, posted.message_id)
    return posted
  })
  const posted = sent.get(ask_id)
  if (made?.type === 'done' && isOpen && posted !== undefined) return keep(parts, ask, posted)
  if (made?.type === 'done') return close(parts, ask)
  if (made?.type === 'refused') return close(parts, ask)
  return !isOpen && attempt >= mostEdits ? close(parts, ask) : false
}

/** It may have been decided on meanwhile: then what it says is not true any more. */
const keep = async ({ store }: AskPostParts, { ask_id }: AskRecord, message_id: string): Promise<boolean> => {
  const isOver = await store.state.commit((tx) => {
    const now = store.asks.find(ask_id)
    if (now === undefined) return false
    tx.put(store.asks, { ...now, message_id })
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
