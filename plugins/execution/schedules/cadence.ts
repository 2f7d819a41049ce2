/** When a schedule fires: pure functions of its cadence. */
import type { Problem } from '../../../core/plugin.js'
import type { Cadence } from './contract.js'
import { cronFault, openCron } from './cron.js'
import { scheduleErrors } from './errors.js'

/** A cadence as it is kept; an interval counts from its anchor, any moment at which it fires. */
export interface Beat {
  readonly cadence: Cadence
  readonly anchor_ms: number
}

/** The first fire strictly after a moment; undefined if there is none. */
export const fireAfter = ({ cadence, anchor_ms }: Beat, after: number): number | undefined => {
  switch (cadence.type) {
    case 'once':
      return anchor_ms > after ? anchor_ms : undefined
    case 'interval': {
      const every = cadence.every_seconds * 1000
      return anchor_ms + (Math.floor((after - anchor_ms) / every) + 1) * every
    }
    case 'cron':
      return openCron(cadence.expression, cadence.timezone).next(after)
  }
}

/** The last fire before a moment, given one that is: the fires between may be millions. */
export const lastFireBefore = (beat: Beat, known: number, before: number): number => {
  const { cadence } = beat
  if (cadence.type === 'once') return known
  if (cadence.type === 'interval') {
    const every = cadence.every_seconds * 1000
    return known + Math.floor((before - 1 - known) / every) * every
  }
  const { next } = openCron(cadence.expression, cadence.timezone)
  return bisect(next, known, before)
}

/**
 * `next` never goes back as its moment goes on, so the last fire is found by halves: it is never before `low` nor after
 * `high`.
 */
const bisect = (next: (after: number) => number | undefined, known: number, before: number): number => {
  const earlier = (after: number): number | undefined => {
    const fire = next(after)
    return fire !== undefined && fire < before ? fire : undefined
  }
  let low = known
  let high = before
  while (earlier(low) !== undefined) {
    const middle = Math.floor((low + high) / 2)
    const fire = earlier(middle)
    if (fire === undefined) high = middle
    else low = fire
  }
  return low
}

/** Throws `invalid_schedule` with the path of what is wrong. */
export const checkCadence = (cadence: Cadence, now: number): void => {
  if (cadence.type !== 'cron') return
  const broken = cronFault(cadence.expression, cadence.timezone, now)
  if (broken !== undefined) throw invalid(`cadence.${broken.field}`, broken.rule)
}

/** The refusal of a field of a schedule. */
export const invalid = (field: string, rule: string): Problem =>
  scheduleErrors.invalid_schedule({ details: { field, rule }, errors: [{ path: `body.${field}`, rule }] })
