import type { Collection, State } from '../../../../core/plugin.js'
import type { Keys } from './keys.js'
import type { StoredSlot } from './record.js'
import type { Vault } from './vault.js'

/** Slots that are encrypted anew in one commit. */
const batch = 100

export interface AnewParts {
  readonly state: State
  readonly keys: Keys
  readonly vault: Vault
  readonly collection: Collection<StoredSlot>
}

/** Slots of other keys as they are under the one in force; those that cannot be read stay as they are. */
function* anew({ keys, vault, collection }: AnewParts): Generator<StoredSlot> {
  const now = keys.current().id
  for (const key_id of collection.groups('key'))
    if (key_id !== now && keys.find(key_id) !== undefined)
      for (const slot_id of collection.ids('key', key_id)) {
        const slot = collection.find(slot_id)
        const sealed = slot === undefined ? undefined : vault.sealAnew(slot)
        if (sealed !== undefined) yield sealed
      }
}

const some = (slots: Iterable<StoredSlot>): StoredSlot[] => {
  const taken: StoredSlot[] = []
  for (const slot of slots) if (taken.push(slot) === batch) break
  return taken
}

/** Encrypts what another known key encrypted with the one in force; how many slots that were. */
export const sealAnew = async (parts: AnewParts): Promise<number> => {
  let done = 0
  for (let now = -1; now !== 0; done += now)
    now = await parts.state.commit((tx) => {
      const slots = some(anew(parts))
      for (const slot of slots) tx.put(parts.collection, slot)
      return slots.length
    })
  return done
}
