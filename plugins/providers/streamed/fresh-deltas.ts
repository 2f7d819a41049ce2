/** What became visible of an answer since somebody looked. */
import type { ModelEvent } from '../../execution/models/contract.js'

/** What people who watch are shown while it comes. */
export type Delta = Extract<ModelEvent, { type: 'text_delta' | 'reasoning_delta' }>

/** Text that was said or thought; neighbours of one kind are one. */
export interface Said {
  readonly type: 'text' | 'reasoning'
  text: string
}

export const extend = (said: Said[], type: Said['type'], text: string): void => {
  const last = said.at(-1)
  if (last?.type === type) last.text += text
  else said.push({ type, text })
}

const none: readonly Delta[] = []

export interface FreshDeltas {
  add(type: Said['type'], text: string): void
  /** What was added since the last time. */
  take(): readonly Delta[]
}

export const createFreshDeltas = (): FreshDeltas => {
  let fresh: Said[] = []
  return {
    add: (type, text) => extend(fresh, type, text),
    take() {
      if (fresh.length === 0) return none
      const deltas = fresh.map(({ type, text }): Delta => ({ type: `${type}_delta`, text }))
      fresh = []
      return deltas
    },
  }
}
