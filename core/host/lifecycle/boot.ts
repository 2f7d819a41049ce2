/** Measures the steps of a start and keeps how to undo each. */
import { setMaxListeners } from 'node:events'
import type { Clock } from '../../base/clock.js'
import type { BootReport, BootStep } from '../contract.js'
import { httpErrors } from '../../http/errors.js'
import { errors } from '../errors.js'

type Details = BootStep['details']

export interface Boot {
  /** Runs and measures a step; `tell` says what it found. Throws `start_ended` once the daemon is asked to stop. */
  step<T>(name: string, run: () => T | Promise<T>, tell?: (outcome: T) => Details): Promise<T>
  /** Undone in reverse order. */
  own(name: string, undo: () => void | Promise<void>): void
  /** Undoes everything; a failing undo is reported and does not stop the others. True if none failed. */
  teardown(): Promise<boolean>
  /** Aborts when the way back begins, with the problem `daemon_draining` as its reason. */
  readonly leaving: AbortSignal
  /** The start is over. */
  done(): void
  report(): BootReport
}

export interface BootOptions {
  readonly clock: Clock
  readonly safe: boolean
  /** Aborts when the daemon is asked to stop: no further step begins. */
  readonly asked?: AbortSignal | undefined
  readonly onFault: (name: string, error: unknown) => void
}

const tenths = (ms: number): number => Math.round(ms * 10) / 10

export const createBoot = ({ clock, safe, asked, onFault }: BootOptions): Boot => {
  const startedAt = clock.now()
  const from = clock.elapsed()
  const steps: BootStep[] = []
  const undos: { name: string; undo: () => void | Promise<void> }[] = []
  const leaving = new AbortController()
  setMaxListeners(0, leaving.signal)
  let total = 0
  const undo = async (entry: (typeof undos)[number]): Promise<boolean> => {
    try {
      await entry.undo()
      return true
    } catch (error) {
      onFault(entry.name, error)
      return false
    }
  }
  return {
    step: async (name, run, tell) => {
      if (asked?.aborted === true) throw errors.start_ended()
      const begin = clock.elapsed()
      const outcome = await run()
      const details = tell?.(outcome)
      steps.push({ step: name, ms: tenths(clock.elapsed() - begin), ...(details !== undefined && { details }) })
      return outcome
    },
    own: (name, run) => {
      undos.push({ name, undo: run })
    },
    teardown: async () => {
      let clean = true
      leaving.abort(httpErrors.daemon_draining({ retryAfter: 5 }))
      for (let entry = undos.pop(); entry !== undefined; entry = undos.pop()) clean = (await undo(entry)) && clean
      return clean
    },
    leaving: leaving.signal,
    done: () => {
      total = tenths(clock.elapsed() - from)
    },
    report: () => ({ started_at_ms: startedAt, total_ms: total, safe, steps: [...steps] }),
  }
}
