/**
 * Lasting keys: what is kept in many records, or ends in archives, is sealed once and stays as it is. Its key is made
 * of the key of secrets that was in force, and sealed anew in its stead when that changes.
 */
import { createHmac } from 'node:crypto'
import {
  object,
  openText,
  sealText,
  string,
  type Collection,
  type CollectionSpec,
  type Infer,
  type Json,
  type Log,
  type State,
} from '../../../../core/plugin.js'
import { secretErrors } from './errors.js'
import type { Key, Keys } from './keys.js'
import type { Sealed } from './sealed.js'

/** Named by the key of secrets that it was made of; `sealed_with` is the one that opens it now. */
const LastingKey = object({ key_id: string(), sealed_with: string(), sealed: string() })
type LastingKey = Infer<typeof LastingKey>

const group = 'all'
const lastingCollection: CollectionSpec<LastingKey> = {
  name: 'lasting_keys',
  version: 1,
  id: ({ key_id }) => key_id,
  indexes: { all: { group: () => group }, sealed_with: { group: ({ sealed_with }) => sealed_with } },
  removed: 'forgotten',
  bounded: { lasting_keys: 'one for each key of secrets under which something was sealed' },
  schema: LastingKey,
}

const mark = 'lasting_'
const digits = 24

const mac = (key: Uint8Array, ...texts: readonly (string | Uint8Array)[]): Buffer => {
  const made = createHmac('sha256', key)
  for (const text of texts) made.update(text).update('\n')
  return made.digest()
}
const madeOf = ({ bytes }: Key): Uint8Array => mac(bytes, 'lasting-key')

export interface Lasting {
  readonly collection: Pick<Collection<LastingKey>, 'groups' | 'count'>
  /** Equal values seal equally. Throws `secrets_key_unusable`. */
  seal(value: Json, about: string): Sealed
  open(sealed: Sealed, about: string): Json | undefined
  has(): boolean
  sealAnew(): Promise<void>
  /**
   * Gives up what needs a key that is not here: what was sealed with it stays locked. Throws `secrets_key_not_missing`
   * for any other key.
   */
  forget(key_id: string): Promise<void>
}

/** Whether `createLasting` sealed it. */
export const isLasting = ({ sealed_with }: Sealed): boolean => sealed_with.startsWith(mark)

export interface LastingParts {
  readonly state: State
  readonly keys: Keys
  readonly newNonce: () => string
  readonly log: Log
}

export const createLasting = ({ state, keys, newNonce, log }: LastingParts): Lasting => {
  const collection = state.collection(lastingCollection)
  const used = new Set<string>()
  const aboutKey = (key_id: string): string => `lasting-key\n${key_id}`
  const keyOf = (key_id: string): Uint8Array | undefined => {
    const whole = keys.find(key_id)
    if (whole !== undefined) return madeOf(whole)
    const kept = collection.find(key_id)
    const key = kept && keys.find(kept.sealed_with)
    return key && openText(Buffer.from(kept.sealed, 'base64'), { key: key.bytes, about: aboutKey(key_id) })
  }
  /**
   * Those that the key in force does not open yet: also that of a key which goes, because a crash may have come between
   * what was sealed and the record.
   */
  const old = (now: string): string[] => {
    const going = keys.ids().filter((id) => id !== now)
    const all = new Set([...collection.ids('all', group), ...used, ...going])
    return [...all].filter((id) => collection.find(id)?.sealed_with !== now)
  }
  const sealAnew = (): Promise<void> =>
    state.commit((tx) => {
      const { id, bytes } = keys.current()
      for (const key_id of old(id)) {
        const text = keyOf(key_id)
        if (text === undefined) continue
        const sealed = sealText(text, { key: bytes, nonce: newNonce(), about: aboutKey(key_id) })
        tx.put(collection, { key_id, sealed_with: id, sealed: Buffer.from(sealed).toString('base64') })
      }
    })
  /**
   * The record tells that the key is needed. What is sealed opens without it while the key is here, so that nobody
   * waits for it, and a commit that is under way can seal.
   */
  const note = (key_id: string): void => {
    if (used.has(key_id)) return
    used.add(key_id)
    if (collection.has(key_id)) return
    void Promise.resolve()
      .then(sealAnew)
      .catch((error: unknown) => {
        used.delete(key_id)
        log.warn('a key that is in use could not be noted; the next use tries again', { error })
      })
  }
  return {
    collection,
    has: () => collection.count('all', group) > 0,
    forget: (key_id) =>
      state.commit((tx) => {
        const lost = keys.find(key_id) === undefined ? [...collection.ids('sealed_with', key_id)] : []
        if (lost.length === 0) throw secretErrors.secrets_key_not_missing({ details: { key_id } })
        for (const id of lost) tx.remove(collection, id, 'its key is lost for good')
      }),
    sealAnew: async () => {
      if (old(keys.current().id).length > 0) await sealAnew()
    },
    seal(value, about) {
      const now = keys.current()
      const key = madeOf(now)
      const text = Buffer.from(JSON.stringify(value))
      const nonce = mac(key, about, text).toString('hex').slice(0, digits)
      const sealed = sealText(text, { key, nonce, about: `lasting\n${about}` })
      note(now.id)
      return { sealed_with: `${mark}${now.id}`, sealed: Buffer.from(sealed).toString('base64') }
    },
    open({ sealed_with, sealed }, about) {
      const key = keyOf(sealed_with.slice(mark.length))
      const text = key && openText(Buffer.from(sealed, 'base64'), { key, about: `lasting\n${about}` })
      if (text === undefined) return undefined
      const value: Json = JSON.parse(new TextDecoder().decode(text))
      return value
    },
  }
}
