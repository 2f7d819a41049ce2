/** How much of the daemon's time what one server writes may take: it waits meanwhile, and nobody else does. */
import { createTurns, type Clock } from '../../../../core/plugin.js'

/** Work on one stream, from the moment that something came. */
export interface Visit {
  begin(): void
  /** Between two pieces of work: what to wait for before the next one; undefined to go on. */
  rest(): Promise<void> | undefined
  end(): void
}

export interface Pace {
  /** Streams of one server share its time. */
  visit(): Visit
}

/** In one turn of the event loop, and at once after a time of quiet. Milliseconds. */
const [sliceMs, burstMs] = [4, 200]
/** Of the daemon's time in the long run. */
const share = 0.1

export const createPace = (clock: Clock): Pace => {
  const turn = createTurns()
  let [credit, counted] = [burstMs, clock.elapsed()]
  const count = (worked: number): void => {
    const now = clock.elapsed()
    credit = Math.min(burstMs, credit + (now - counted) * share) - worked
    counted = now
  }
  return {
    visit() {
      let begun: number | undefined
      const begin = (): void => {
        begun = clock.elapsed()
      }
      const end = (): void => {
        if (begun !== undefined) count(clock.elapsed() - begun)
        begun = undefined
      }
      const wait = async (): Promise<void> => {
        if (credit < 0) await clock.sleep(-credit / share)
        await turn()
        begin()
      }
      return {
        begin,
        end,
        rest() {
          if (begun !== undefined && clock.elapsed() - begun < sliceMs) return undefined
          end()
          return wait()
        },
      }
    },
  }
}
