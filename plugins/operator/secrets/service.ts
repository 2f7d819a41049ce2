import { Problem, type Clock, type State } from '../../../core/plugin.js'
import {
  secretErrors,
  type AccountRefresher,
  type SealKeeper,
  type SecretSlots,
  type SecretStatus,
} from './contract.js'
import type { SecretRouteParts } from './routes.js'
import type { Keys } from './slots/keys.js'
import type { Lasting } from './slots/lasting.js'
import { draftFrom, type StoredSlot } from './slots/record.js'
import type { SlotStore } from './slots/store.js'
import type { Vault } from './slots/vault.js'
import { statusOf } from './views.js'

export interface ServiceParts {
  readonly state: State
  readonly keys: Keys
  readonly vault: Vault
  readonly slots: SlotStore
  readonly lasting: Pick<Lasting, 'forget'>
  readonly keepers: () => readonly SealKeeper[]
  readonly refreshers: () => readonly AccountRefresher[]
  readonly clock: Clock
}

export interface SecretService {
  readonly slots: SecretSlots
  readonly routes: SecretRouteParts
  /** Ends a change of the key that a crash cut off, and encrypts anew what earlier keys encrypted. */
  settle(): Promise<void>
}

export const createService = ({
  state,
  keys,
  vault,
  slots,
  lasting,
  keepers,
  refreshers,
  clock,
}: ServiceParts): SecretService => {
  const status = (slot: StoredSlot): SecretStatus =>
    statusOf(slot, { problem: vault.faultOf(slot), uses: slots.usesOf(slot.slot_id), now: clock.now() })
  const open = (secret_ref: string) => vault.open(slots.get(secret_ref))
  let changing: ReturnType<SecretRouteParts['rekey']> | undefined
  const settle = async (): Promise<number> => {
    if (keys.fault !== undefined) return 0
    const anew = await slots.sealAnew()
    for (const keeper of keepers()) await keeper.sealAnew()
    await keys.finish()
    return anew
  }
  const rekey: SecretRouteParts['rekey'] = async () => {
    const { id } = await keys.begin()
    const encrypted_anew = await settle()
    const { collection } = slots
    return {
      key_id: id,
      encrypted_anew,
      unreadable: collection.count('all', 'all') - collection.count('key', id),
    }
  }
  const refresh = async (slot_id: string): Promise<void> => {
    let failure: Problem | undefined
    for (const refresher of refreshers())
      try {
        const work = refresher.refresh(slot_id)
        if (work !== undefined) return await work
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        // The account may be that of another one.
        failure = error
      }
    if (failure === undefined) throw secretErrors.account_refresh_unavailable({ details: { slot_id } })
    throw secretErrors.account_refresh_failed({ details: { slot_id, reason: failure.message }, cause: failure })
  }
  return {
    settle: async () => void (await settle()),
    slots: {
      find: (secret_ref) => {
        const slot = slots.find(secret_ref)
        return slot === undefined ? undefined : status(slot)
      },
      value(secret_ref) {
        const { value } = open(secret_ref)
        if (typeof value !== 'string') throw secretErrors.secret_without_value({ details: { secret_ref } })
        return value
      },
      state: open,
      put: (tx, draft) => void slots.put(tx, draft),
      remove: slots.remove,
      revoke: (tx, secret_ref) => void slots.revoke(tx, secret_ref),
      onChange: slots.onChange,
    },
    routes: {
      list: slots.list,
      status,
      get: slots.get,
      put: (wish, fresh) =>
        state.commit((tx) => status(slots.put(tx, draftFrom(wish, slots.find(wish.slot_id), fresh)))),
      remove: (slot_id) => state.commit((tx) => slots.remove(tx, slot_id)),
      revoke: (slot_id) => state.commit((tx) => status(slots.revoke(tx, slot_id))),
      refresh,
      forgetKey: lasting.forget,
      rekey: () =>
        (changing ??= rekey().finally(() => {
          changing = undefined
        })),
    },
  }
}
