/** Who may be worked on now: a few at a time, and few of those whose platforms are slow (ingress-13). */
import type { Clock } from '../../../../core/plugin.js'

/** Events at a time, of one connector, and beyond which a connector begins no second one: others begin theirs. */
const [mostActive, mostOfLane, mostShared] = [8, 4, 6]
/** Events at a time of all connectors whose platforms are slow, and what an attempt takes that is. Milliseconds. */
const [mostSlow, slowMs] = [4, 5000]

export interface Room {
  /** Another event of this connector may be worked on. */
  has(lane: string): boolean
  /** This event is worked on. */
  isActive(id: string): boolean
  begin(id: string, lane: string): void
  end(id: string): void
  /** Forgets who is slow and not among these. */
  keepOnly(lanes: readonly string[]): void
}

/** Of one connector at a time, so many more than one that its events come in turns. */
export const mostLooked = mostOfLane + 1

export const createRoom = (clock: Pick<Clock, 'elapsed'>): Room => {
  const active = new Map<string, { readonly lane: string; readonly began: number }>()
  /** Connectors whose last attempt was slow. */
  const slow = new Set<string>()
  const isLong = (began: number): boolean => clock.elapsed() - began >= slowMs
  const isSlow = (lane: string): boolean =>
    slow.has(lane) || [...active.values()].some((one) => one.lane === lane && isLong(one.began))
  const count = (holds: (lane: string) => boolean): number =>
    [...active.values()].filter(({ lane }) => holds(lane)).length
  return {
    has(lane) {
      if (active.size >= mostActive) return false
      const mine = count((one) => one === lane)
      if (isSlow(lane)) return mine === 0 && count(isSlow) < mostSlow
      return mine === 0 || (mine < mostOfLane && active.size < mostShared)
    },
    isActive: (id) => active.has(id),
    begin: (id, lane) => void active.set(id, { lane, began: clock.elapsed() }),
    end(id) {
      const found = active.get(id)
      active.delete(id)
      if (found === undefined) return
      if (isLong(found.began)) slow.add(found.lane)
      else slow.delete(found.lane)
    },
    keepOnly(lanes) {
      for (const lane of slow) if (!lanes.includes(lane)) slow.delete(lane)
    },
  }
}
