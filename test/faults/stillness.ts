/**
 * Time, ids and a log for the simulation: nothing happens that the test did not ask for, and the same seed gives the
 * same bytes.
 */
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../core/base/clock.js'
import type { IdSource } from '../../core/base/ids.js'
import type { Log } from '../../core/base/text/log.js'
import type { Random } from './random.js'

export interface ManualClock extends Clock {
  /** Goes on by so many ms and runs what is due on the way. */
  advance(ms: number): void
}

export const createManualClock = (start = 1_700_000_000_000): ManualClock => {
  let now = start
  const due = new Map<object, { readonly at: number; readonly callback: () => void }>()
  const after = (ms: number, callback: () => void): (() => void) => {
    const key = {}
    due.set(key, { at: now + ms, callback })
    return () => void due.delete(key)
  }
  const advance = (ms: number): void => {
    now += ms
    for (const [key, { at, callback }] of Array.from(due)) {
      if (at > now || !due.delete(key)) continue
      callback()
    }
  }
  const sleep = (ms: number, signal?: AbortSignal): Promise<boolean> =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve(false)
      after(ms, () => resolve(true))
      signal?.addEventListener('abort', () => resolve(false), { once: true })
    })
  return { now: () => now, elapsed: () => now - start, after, sleep, advance }
}

export const createSeededIds = (random: Random): IdSource => {
  let made = 0
  return {
    goOnBehind: () => {},
    make: (prefix) => `${prefix}_${String((made += 1)).padStart(26, '0')}`,
    random: (bytes) => Array.from({ length: bytes }, () => random.below(256).toString(16).padStart(2, '0')).join(''),
  }
}

/** So many turns of the event loop go by, in which nothing goes on but what was begun. */
export const rest = async (turns: number): Promise<void> => {
  for (let left = turns; left > 0; left -= 1) await setImmediate()
}

export const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
