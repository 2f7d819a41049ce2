/** What slots hold, in the clear: opened at the start, and let go when it is no longer the value. */
import {
  canonical,
  createAfterlife,
  isJsonObject,
  isSecretName,
  nonceBytes,
  openText,
  sealText,
  type Clock,
  type Ids,
  type Json,
  type JsonObject,
  type Secrets,
} from '../../../../core/plugin.js'
import { secretErrors } from './errors.js'
import type { Keys } from './keys.js'
import type { StoredSlot } from './record.js'

type Place = Pick<StoredSlot, 'slot_id' | 'version'>

/** Bound to its slot and version: elsewhere it does not open. */
const aboutOf = ({ slot_id, version }: Place): string => `secret-slot\n${slot_id}\n${version}`

interface Held {
  readonly version: number
  readonly state: JsonObject
  readonly letGo: () => void
}

export interface Vault {
  seal(place: Place, state: JsonObject): Pick<StoredSlot, 'key_id' | 'sealed'>
  /** Throws `secret_revoked` or `secret_unreadable`. From now on its values are redacted, until they are released. */
  open(slot: StoredSlot): JsonObject
  /** Has the values of a slot redacted from now on, as `open` does, if it opens. */
  learn(slot: StoredSlot): void
  /** The same text under the key that is in force; undefined if it does not open. */
  sealAnew(slot: StoredSlot): StoredSlot | undefined
  /** Why it cannot be opened; undefined if it can. */
  faultOf(slot: StoredSlot): string | undefined
  /** Redacts the values of a state from now on, until the answer is called. */
  guard(state: JsonObject): () => void
  /** A state that is now that of a slot, with what guards it. */
  hold(slot_id: string, held: Held): void
  /** The slot has another state now, or is gone. */
  release(slot_id: string): void
}

export interface VaultParts {
  readonly keys: Keys
  readonly secrets: Secrets
  readonly clock: Clock
  readonly ids: Ids
}

/** Values that are secret: of a plain secret its value, of an account what is named like a secret. */
function* valuesIn(name: string, value: Json | undefined): Generator<string> {
  if (typeof value === 'string') {
    if (name === 'value' || isSecretName(name)) yield value
  } else if (Array.isArray(value)) for (const item of value) yield* valuesIn(name, item)
  else if (isJsonObject(value)) for (const [key, item] of Object.entries(value)) yield* valuesIn(key, item)
}

export const createVault = ({ keys, secrets, clock, ids }: VaultParts): Vault => {
  const held = new Map<string, Held>()
  const afterlife = createAfterlife(clock)
  const textOf = (slot: StoredSlot): Uint8Array | undefined => {
    const key = keys.find(slot.key_id)
    if (key === undefined) return undefined
    return openText(Buffer.from(slot.sealed, 'base64'), { key: key.bytes, about: aboutOf(slot) })
  }
  const faultOf = (slot: StoredSlot): string | undefined => {
    if (slot.revoked_at_ms !== undefined) return 'it was revoked'
    if (keys.find(slot.key_id) === undefined) return `the key ${slot.key_id} is not known`
    return textOf(slot) === undefined ? 'its bytes are not as they were written' : undefined
  }
  const sealBytes = (place: Place, text: Uint8Array): Pick<StoredSlot, 'key_id' | 'sealed'> => {
    const { id, bytes } = keys.current()
    const sealed = sealText(text, { key: bytes, nonce: ids.random(nonceBytes), about: aboutOf(place) })
    return { key_id: id, sealed: Buffer.from(sealed).toString('base64') }
  }
  const guard = (state: JsonObject): (() => void) => {
    const undo = Array.from(valuesIn('', state), secrets.guard)
    return () => undo.forEach((letGo) => letGo())
  }
  const release = (slot_id: string): void => {
    const before = held.get(slot_id)
    held.delete(slot_id)
    if (before !== undefined) afterlife.add(canonical(before.state).length, before.letGo)
  }
  const hold = (slot_id: string, now: Held): void => {
    release(slot_id)
    held.set(slot_id, now)
  }
  /** Undefined if it does not open. */
  const stateOf = (slot: StoredSlot): JsonObject | undefined => {
    const { slot_id, version } = slot
    const now = held.get(slot_id)
    if (now?.version === version) return now.state
    const text = textOf(slot)
    if (text === undefined) return undefined
    const state: JsonObject = JSON.parse(new TextDecoder().decode(text))
    hold(slot_id, { version, state, letGo: guard(state) })
    return state
  }
  return {
    seal: (place, state) => sealBytes(place, Buffer.from(canonical(state))),
    open(slot) {
      const { slot_id, revoked_at_ms } = slot
      if (revoked_at_ms !== undefined) throw secretErrors.secret_revoked({ details: { secret_ref: slot_id } })
      const state = stateOf(slot)
      if (state !== undefined) return state
      throw secretErrors.secret_unreadable({ details: { secret_ref: slot_id, reason: faultOf(slot) ?? '' } })
    },
    learn(slot) {
      if (slot.revoked_at_ms === undefined) stateOf(slot)
    },
    sealAnew(slot) {
      const text = textOf(slot)
      return text === undefined ? undefined : { ...slot, ...sealBytes(slot, text) }
    },
    faultOf,
    guard,
    hold,
    release,
  }
}
