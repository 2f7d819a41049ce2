/** Deadlines and signals of many requests: one timer for each length of time, one listener for each signal. */
import { setMaxListeners } from 'node:events'
import type { Clock } from '../../base/clock.js'
import { Transients } from '../../base/memory/transients.js'

export interface Deadlines {
  /** Calls once after `ms`. Returns the cancel function. */
  after(ms: number, end: () => void): () => void
}

interface Deadline {
  readonly at: number
  readonly end: () => void
  leave: () => void
}

/** Deadlines of one length, and so in order. */
interface Lane {
  readonly ms: number
  readonly waiting: Transients<Deadline>
  cancel: () => void
}

export const createDeadlines = (clock: Pick<Clock, 'after' | 'elapsed'>): Deadlines => {
  const lanes = new Map<number, Lane>()
  const arm = (lane: Lane, ms: number): void => {
    lane.cancel()
    lane.cancel = clock.after(ms, () => pass(lane))
  }
  /** Lengths are whatever others ask for: none is kept for which nobody waits. */
  const forgetEmpty = (lane: Lane): void => {
    if (lane.waiting.size > 0) return
    lane.cancel()
    if (lanes.get(lane.ms) === lane) lanes.delete(lane.ms)
  }
  /** The timer may be that of one that is gone: then the next one is waited for. */
  const pass = (lane: Lane): void => {
    for (const deadline of lane.waiting.values()) {
      const left = deadline.at - clock.elapsed()
      if (left > 0) return arm(lane, left)
      deadline.leave()
      deadline.end()
    }
    forgetEmpty(lane)
  }
  const open = (ms: number): Lane => {
    const lane: Lane = { ms, waiting: new Transients(), cancel: () => {} }
    lanes.set(ms, lane)
    return lane
  }
  return {
    after(ms, end) {
      const lane = lanes.get(ms) ?? open(ms)
      const deadline: Deadline = { at: clock.elapsed() + ms, end, leave: () => {} }
      deadline.leave = lane.waiting.add(deadline)
      if (lane.waiting.size === 1) arm(lane, ms)
      return () => {
        deadline.leave()
        forgetEmpty(lane)
      }
    },
  }
}

const watched = new WeakMap<AbortSignal, Transients<() => void>>()

const watch = (signal: AbortSignal): Transients<() => void> => {
  const ends = new Transients<() => void>()
  setMaxListeners(0, signal)
  signal.addEventListener('abort', () => ends.values().forEach((end) => end()), { once: true })
  watched.set(signal, ends)
  return ends
}

/** Calls once when the signal aborts. Any number of requests may share one. Returns the cancel function. */
export const onAbort = (signal: AbortSignal, end: () => void): (() => void) => {
  const ends = watched.get(signal) ?? watch(signal)
  return ends.add(end)
}
