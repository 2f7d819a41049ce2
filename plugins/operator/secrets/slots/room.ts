/** How many secrets there may be: each value is known in a dozen forms, and a start learns all of them. */
import type { Collection } from '../../../../core/plugin.js'
import { secretErrors } from './errors.js'
import type { StoredSlot } from './record.js'

/** Slots at most, bytes of all of them, and bytes beyond for new values of those that are there: tokens come anew. */
const [mostSlots, mostBytes, reserve] = [10_000, 8 * 1024 * 1024, 1024 * 1024]

export const room = `at most ${mostSlots}, and 8 MiB of them`

const bytesOf = ({ sealed }: Pick<StoredSlot, 'sealed'>): number => Math.ceil((sealed.length * 3) / 4)

const full = (reason: string): Error => secretErrors.secrets_full({ details: { reason } })

export interface Room {
  /** Throws `secrets_full`. What does not grow has room. */
  take(slot: StoredSlot, before: StoredSlot | undefined): void
}

/** `group` holds all slots. They are counted only when there might be no room. */
export const createRoom = (collection: Collection<StoredSlot>, group: string): Room => {
  /** No less than the bytes of all slots: those that were counted last, and all that was written since. */
  let atMost = Infinity
  const count = (): number => {
    let bytes = 0
    for (const slot_id of collection.ids('all', group)) {
      const slot = collection.find(slot_id)
      if (slot !== undefined) bytes += bytesOf(slot)
    }
    return bytes
  }
  return {
    take(slot, before) {
      if (before === undefined && collection.count('all', group) >= mostSlots) throw full(`there are ${mostSlots}`)
      const [bytes, held] = [bytesOf(slot), before === undefined ? 0 : bytesOf(before)]
      const most = before === undefined ? mostBytes : mostBytes + reserve
      if (atMost + bytes > most) atMost = count()
      if (bytes > held && atMost - held + bytes > most) throw full('together they have 8 MiB')
      atMost += bytes
    },
  }
}
