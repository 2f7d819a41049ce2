/** How much one answer of a provider may be, and for how long it is read in one go (models-81). */
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../../../core/plugin.js'

/** Also an event that says nothing costs time. */
const mostEvents = 1_000_000
/** UTF-16 units, of deltas and parts together: these say again what those have said. */
const mostText = 64 * 1024 * 1024

/** A look at the clock costs as much as a short event: not each has one. */
const eventsOfLook = 32
/** What was read since others had a turn, at most: events, where the clock stands still, and milliseconds. */
const [eventsOfTurn, turnMs] = [8192, 10]

/** Looks at each event of one answer. */
export interface StreamBounds {
  /** What is wrong with an answer that has this event too, with so much text; undefined if it may go on. */
  exceeded(length: number): string | undefined
  /** A turn of the event loop that others have, if it is time: a provider that yields what it has gives them none. */
  turn(): Promise<void> | undefined
}

export const createStreamBounds = (clock: Pick<Clock, 'elapsed'>): StreamBounds => {
  let [events, text] = [0, 0]
  let turn = { at: clock.elapsed(), events: 0 }
  const others = async (): Promise<void> => {
    await setImmediate()
    turn = { at: clock.elapsed(), events }
  }
  return {
    exceeded(length) {
      events += 1
      text += length
      if (events > mostEvents) return `it has more than ${mostEvents.toLocaleString('en')} events`
      return text > mostText ? `it has more than ${mostText.toLocaleString('en')} characters` : undefined
    },
    turn() {
      if (events % eventsOfLook !== 0) return undefined
      return events - turn.events >= eventsOfTurn || clock.elapsed() - turn.at >= turnMs ? others() : undefined
    },
  }
}
