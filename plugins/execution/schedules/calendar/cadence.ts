/** When a schedule fires: pure functions of its cadence. */
import { defaulted, doc, integer, literal, object, string, tagged, type Infer } from '../../../../core/plugin.js'
import { openCron } from './cron.js'

/** The last moment that a fire may have: the end of the year 9999, Unix ms. */
const latest = 253_402_300_799_999

/** When a schedule fires (schedules-4). */
export const Cadence = tagged('type', {
  once: object({
    type: literal('once'),
    fire_at_ms: doc(integer({ min: 1, max: latest }), 'Unix time in milliseconds. A past one is due at once.'),
  }),
  interval: object({ type: literal('interval'), every_seconds: integer({ min: 5, max: 10 * 366 * 86_400 }) }),
  cron: object({
    type: literal('cron'),
    expression: doc(
      string({ min: 1, max: 200 }),
      'Minute, hour, day of month, month, day of week; or six fields with seconds first. If both days are ' +
        'given, one of them is enough.',
    ),
    timezone: defaulted(doc(string({ max: 100 }), 'IANA name, such as Europe/Berlin.'), 'UTC'),
  }),
})
/** The value form of `Cadence`. */
export type Cadence = Infer<typeof Cadence>

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
