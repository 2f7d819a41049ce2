import type { Collection, CollectionSpec, JsonObject, Observers, Portions, State, Tx } from '../../../../core/plugin.js'
import type { SecretReference, SecretUses } from './references.js'
import { secretErrors } from './errors.js'
import { inUse } from './in-use.js'
import { checkDraft, expiryOf, StoredSlot, type SlotDraft } from './record.js'
import type { Keys } from './keys.js'
import { createRoom, room as most } from './room.js'
import { sealAnew } from './seal-anew.js'
import type { Vault } from './vault.js'

const group = 'all'
/** Slots that are opened in one go. */
const portion = 50

const slotCollection: CollectionSpec<StoredSlot> = {
  name: 'secret_slots',
  version: 1,
  id: ({ slot_id }) => slot_id,
  indexes: { all: { group: () => group }, key: { group: ({ key_id }) => key_id } },
  removed: 'forgotten',
  bounded: { secrets: most },
  schema: StoredSlot,
}

export interface SlotStore {
  readonly collection: Collection<StoredSlot>
  list(): Iterable<StoredSlot>
  find(slot_id: string): StoredSlot | undefined
  /** Throws `secret_not_found`. */
  get(slot_id: string): StoredSlot
  usesOf(slot_id: string): readonly SecretReference[]
  put(tx: Tx, draft: SlotDraft): StoredSlot
  remove(tx: Tx, slot_id: string): void
  revoke(tx: Tx, slot_id: string): StoredSlot
  onChange(hear: (slot_id: string) => void): () => void
  /** Has the values of all that open redacted from now on, before anybody uses them (secrets-22). */
  learn(): Portions<void>
  /** Encrypts what another known key encrypted with the one in force; how many slots that were. */
  sealAnew(): Promise<number>
}

export interface SlotParts {
  readonly state: State
  readonly keys: Keys
  readonly vault: Vault
  readonly users: () => readonly SecretUses[]
  readonly observers: Pick<Observers<SecretUses>, 'tell'>
}

const present = (slot: StoredSlot | undefined, slot_id: string): StoredSlot => {
  if (slot === undefined) throw secretErrors.secret_not_found({ details: { secret_ref: slot_id } })
  return slot
}

export const createSlots = ({ state, keys, vault, users, observers }: SlotParts): SlotStore => {
  const collection = state.collection(slotCollection)
  const room = createRoom(collection, group)
  const listeners = new Set<(slot_id: string) => void>()
  const find = (slot_id: string): StoredSlot | undefined => collection.find(slot_id)
  const get = (slot_id: string): StoredSlot => present(find(slot_id), slot_id)
  const tell = (slot_id: string): void => listeners.forEach((hear) => hear(slot_id))
  const held = (slot: StoredSlot, told: JsonObject): (() => void) => {
    const letGo = vault.guard(told)
    return () => {
      vault.hold(slot.slot_id, { version: slot.version, state: told, letGo })
      tell(slot.slot_id)
    }
  }
  const put = (tx: Tx, draft: SlotDraft): StoredSlot => {
    checkDraft(draft)
    const before = find(draft.slot_id)
    const { slot_id, provider, mode } = draft
    const version = (before?.version ?? 0) + 1
    const expires_at_ms = expiryOf(draft)
    const slot: StoredSlot = {
      slot_id,
      provider,
      mode,
      version,
      created_at_ms: before?.created_at_ms ?? tx.now,
      updated_at_ms: Math.max(tx.now, before?.updated_at_ms ?? 0),
      ...(expires_at_ms !== undefined && { expires_at_ms }),
      ...vault.seal({ slot_id, version }, draft.state),
    }
    room.take(slot, before)
    tx.put(collection, slot)
    tx.after(held(slot, draft.state))
    return slot
  }
  const usesOf = (slot_id: string): readonly SecretReference[] => users().flatMap((user) => user.of(slot_id))
  const gone = (slot_id: string) => (): void => {
    vault.release(slot_id)
    tell(slot_id)
  }
  const remove = (tx: Tx, slot_id: string): void => {
    const slot = get(slot_id)
    const users = usesOf(slot_id)
    if (users.length > 0) throw inUse(slot, users)
    tx.remove(collection, slot_id, 'deleted')
    tx.after(gone(slot_id))
  }
  const revoke = (tx: Tx, slot_id: string): StoredSlot => {
    const { expires_at_ms: _, ...before } = get(slot_id)
    if (before.revoked_at_ms !== undefined) return get(slot_id)
    const version = before.version + 1
    const updated_at_ms = Math.max(tx.now, before.updated_at_ms)
    const emptied = { updated_at_ms, revoked_at_ms: tx.now, ...vault.seal({ slot_id, version }, {}) }
    const slot: StoredSlot = { ...before, version, ...emptied }
    tx.put(collection, slot)
    observers.tell(tx, 'hearing of a revoked secret', (user) => user.revoke?.(tx, slot_id))
    tx.after(gone(slot_id))
    return slot
  }
  return {
    collection,
    list: () => collection.ids('all', group).map(get),
    find,
    get,
    usesOf,
    put,
    remove,
    revoke,
    onChange(hear) {
      listeners.add(hear)
      return () => void listeners.delete(hear)
    },
    learn: () => learn(collection, vault),
    sealAnew: () => sealAnew({ state, keys, vault, collection }),
  }
}

function* learn(collection: Collection<StoredSlot>, vault: Vault): Portions<void> {
  for (const [at, slot_id] of collection.ids('all', group).entries()) {
    const slot = collection.find(slot_id)
    if (slot !== undefined) vault.learn(slot)
    if (at % portion === portion - 1) yield
  }
}
