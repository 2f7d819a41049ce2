/** The typing sign: shown while a run works, and again before the platform takes it away. */
import type { Clock } from '../../../core/plugin.js'
import type { Calls } from './calls.js'
import { chatOf, placeKey, type Place } from './places.js'

/** Chats with a sign at a time; further ones have none. */
const mostSigns = 500
/** A sign is not shown more often, whatever its kind says. Milliseconds. */
const shortestMs = 1000

interface Sign {
  readonly place: Place
  /** The runs that work for this chat. */
  readonly runs: Set<string>
  cancel: () => void
}

export interface Typing {
  /** Has these places show that a run works, and no others. */
  show(run_id: string, places: readonly Place[]): void
  close(): void
}

interface Life {
  readonly clock: Clock
  readonly calls: Calls
  readonly signs: Map<string, Sign>
  /** Places of each run that has signs. */
  readonly shown: Map<string, readonly string[]>
}

export const createTyping = (parts: Pick<Life, 'clock' | 'calls'>): Typing => {
  const life: Life = { ...parts, signs: new Map(), shown: new Map() }
  return {
    show(run_id, places) {
      const keys = places.map(placeKey)
      for (const key of life.shown.get(run_id) ?? []) if (!keys.includes(key)) leave(life, key, run_id)
      if (places.length === 0) return void life.shown.delete(run_id)
      for (const place of places) join(life, place, run_id)
      life.shown.set(run_id, keys)
    },
    close() {
      for (const { cancel } of life.signs.values()) cancel()
      life.signs.clear()
      life.shown.clear()
    },
  }
}

const join = (life: Life, place: Place, run_id: string): void => {
  const key = placeKey(place)
  const known = life.signs.get(key)
  if (known !== undefined) return void known.runs.add(run_id)
  if (life.signs.size >= mostSigns || place.kind.typing === undefined) return
  life.signs.set(key, { place, runs: new Set([run_id]), cancel: () => {} })
  beat(life, key)
}

const leave = (life: Life, key: string, run_id: string): void => {
  const sign = life.signs.get(key)
  if (sign === undefined || !sign.runs.delete(run_id) || sign.runs.size > 0) return
  sign.cancel()
  life.signs.delete(key)
  void wipe(life, sign.place)
}

const wipe = async ({ calls, signs }: Life, place: Place): Promise<void> => {
  const { kind, address } = place
  if (kind.still === undefined || signs.has(placeKey(place))) return
  await calls.make(place, (signal) => kind.still?.(address, signal) ?? Promise.resolve({ type: 'done' }))
}

const beat = (life: Life, key: string): void => {
  const sign = life.signs.get(key)
  const typing_ms = sign && chatOf(sign.place)?.typing_ms
  if (sign === undefined || typing_ms === undefined) return void life.signs.delete(key)
  sign.cancel = life.clock.after(Math.max(shortestMs, typing_ms), () => beat(life, key))
  void once(life, sign.place)
}

const once = async (life: Life, place: Place): Promise<void> => {
  const { kind, address } = place
  const made = await life.calls.make(
    place,
    (signal) => kind.typing?.(address, signal) ?? Promise.resolve({ type: 'done' }),
  )
  // It came behind the end of the run.
  if (made !== undefined && !life.signs.has(placeKey(place))) await wipe(life, place)
}
