/** How far long work is: told in bytes by whoever does it, shown to whoever waits for it. */
import type { Clock } from '../clock.js'

export interface Progress {
  /** A part of the work begins that goes over so many bytes; what was done before does not count towards it. */
  begin(what: string, bytes: number): void
  /** So many more of them are done. */
  advance(bytes: number): void
  /** All of it is done, or given up. */
  end(): void
}

const nothing = (): void => {}
export const noProgress: Progress = { begin: nothing, advance: nothing, end: nothing }

/** How far one part is. */
export interface Pace {
  readonly what: string
  readonly done: number
  readonly bytes: number
  /** 0 to 100. */
  readonly percent: number
  readonly bytesPerSecond: number
  /** Undefined while nothing is done that tells it. */
  readonly secondsLeft: number | undefined
}

export interface MeterOptions {
  readonly clock: Pick<Clock, 'elapsed'>
  /** The least time between two calls of `show`, and before the first of a part. */
  readonly everyMs: number
  readonly show: (pace: Pace) => void
  /** Called at the end. */
  readonly hide?: () => void
}

/** Shows work now and then, with the rate of the part so far. */
export const createMeter = ({ clock, everyMs, show, hide = nothing }: MeterOptions): Progress => {
  let part = { what: '', bytes: 0, done: 0, began: 0 }
  let shown = 0
  const pace = (): Pace => {
    const { what, bytes, began } = part
    const done = Math.min(part.done, bytes)
    const seconds = (clock.elapsed() - began) / 1000
    const bytesPerSecond = seconds > 0 ? done / seconds : 0
    const secondsLeft = bytesPerSecond > 0 ? (bytes - done) / bytesPerSecond : undefined
    return { what, done, bytes, percent: bytes === 0 ? 100 : (100 * done) / bytes, bytesPerSecond, secondsLeft }
  }
  return {
    begin: (what, bytes) => {
      shown = clock.elapsed()
      part = { what, bytes, done: 0, began: shown }
    },
    advance: (bytes) => {
      part.done += bytes
      if (clock.elapsed() - shown < everyMs) return
      shown = clock.elapsed()
      show(pace())
    },
    end: hide,
  }
}

const mega = (bytes: number): string => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)

const timeText = (seconds: number): string => {
  const whole = Math.ceil(seconds)
  if (whole < 120) return `${whole} s`
  const minutes = Math.ceil(whole / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** One line: percent, bytes, rate, time left. */
export const paceText = ({ what, done, bytes, percent, bytesPerSecond, secondsLeft }: Pace): string =>
  [
    `${what}: ${Math.floor(percent)} %`,
    `${mega(done)} of ${mega(bytes)} MB`,
    `${mega(bytesPerSecond)} MB/s`,
    ...(secondsLeft === undefined ? [] : [`${timeText(secondsLeft)} left`]),
  ].join(', ')
