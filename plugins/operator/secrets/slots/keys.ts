/**
 * The keys that slots are encrypted with. One is in force; others may be known, so that what they encrypted can still
 * be read and is encrypted anew.
 */
import {
  Problem,
  keyId,
  keyOf,
  readSecretFile,
  type Ids,
  type SecretFault,
  type Secrets,
} from '../../../../core/plugin.js'
import { secretErrors } from './errors.js'

export interface KeyConfig {
  readonly secrets_key?: string | undefined
  readonly secrets_key_file?: string | undefined
  readonly secrets_previous_key_file?: string | undefined
}

export interface Key {
  readonly id: string
  readonly bytes: Uint8Array
}

/** Why nothing can be encrypted: what is wrong with the own file, or `given` for a key that the operator named. */
export interface KeyFault {
  readonly kind: Exclude<SecretFault, 'empty' | 'too_long'> | 'no_key' | 'given'
  readonly reason: string
}

/** The keys that are there are read when the first one is asked for: that needs no storage that takes changes. */
export interface Keys {
  /** Makes the first key of a root where nothing is encrypted yet. */
  open(isEmpty: boolean): Promise<void>
  /** Throws `secrets_key_unusable`. */
  current(): Key
  find(id: string): Key | undefined
  /** Ids of all that are known. */
  ids(): readonly string[]
  readonly fault: KeyFault | undefined
  /** Why the earlier key that the operator named is none; undefined if it is, or if none was named. */
  readonly previousFault: string | undefined
  /**
   * Makes a new key durable beside the old one and puts it in force. Throws `secrets_key_elsewhere`,
   * `secrets_key_unusable` and `storage_write_failed`.
   */
  begin(): Promise<Key>
  /** Forgets the old key: nothing is encrypted with it any more. No effect if no change was begun. */
  finish(): Promise<void>
}

/** Its file in `secrets/`, and that of the key which is about to take its place. */
export const [keyFile, nextFile] = ['slots.key', 'slots.key.next'] as const
const purpose = 'secret-slots-key'
const wrongForm = 'it is not 32 bytes in hex or base64'

export interface KeyParts {
  readonly config: KeyConfig
  readonly secrets: Secrets
  readonly ids: Ids
}

const given = (text: string | undefined): string | undefined => (text?.trim() === '' ? undefined : text?.trim())

const read = (file: string): string | Problem => {
  try {
    return readSecretFile(file, { mustBePrivate: true })
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

/** Keys by their ids, learnt from text; what is no key is none. */
const createKnown = (secrets: Secrets) => {
  const known = new Map<string, Key>()
  const learn = (text: string): Key | undefined => {
    secrets.guard(text)
    const bytes = keyOf(text)
    if (bytes === undefined) return undefined
    const key = { id: keyId(bytes, purpose), bytes }
    known.set(key.id, key)
    return key
  }
  return { learn, find: (id: string): Key | undefined => known.get(id), ids: (): string[] => [...known.keys()] }
}

const ownFaults: Readonly<Record<SecretFault | 'no_key', KeyFault>> = {
  absent: { kind: 'absent', reason: `secrets/${keyFile} is missing` },
  no_file: { kind: 'no_file', reason: `secrets/${keyFile} is no regular file` },
  not_private: { kind: 'not_private', reason: `others than its owner may read or change secrets/${keyFile}` },
  empty: { kind: 'no_key', reason: `secrets/${keyFile} is empty` },
  too_long: { kind: 'no_key', reason: `secrets/${keyFile} has more than 64 KiB, and is no key` },
  no_key: { kind: 'no_key', reason: `secrets/${keyFile} is not 32 bytes in hex or base64` },
}

interface Found {
  readonly active?: Key | undefined
  /** The text of a key that is about to take the place of the own one. */
  readonly pending?: string | undefined
  readonly fault?: KeyFault | undefined
}

/** Why a file holds no key. One that it holds is learnt. */
const faultOf = (file: string, learn: (text: string) => Key | undefined): string | undefined => {
  const text = read(file)
  if (typeof text !== 'string') return text.message
  return learn(text) === undefined ? `${file}: ${wrongForm}` : undefined
}

export const createKeys = ({ config, secrets, ids }: KeyParts): Keys => {
  const { learn, find, ids: allIds } = createKnown(secrets)
  const isElsewhere = given(config.secrets_key) !== undefined || given(config.secrets_key_file) !== undefined
  let found: Found | undefined
  let previousFault: string | undefined

  const named = (text: string | Problem): Found => {
    const active = typeof text === 'string' ? learn(text) : undefined
    if (active !== undefined) return { active }
    return { fault: { kind: 'given', reason: typeof text === 'string' ? `the key: ${wrongForm}` : text.message } }
  }
  const own = (): Found => {
    const [text, pending] = [secrets.find(keyFile), secrets.find(nextFile)]
    const [old, begun] = [text, pending].map((one) => (one === undefined ? undefined : learn(one)))
    if (begun !== undefined) return { active: begun, pending }
    return old === undefined ? { fault: ownFaults[secrets.faultOf(keyFile) ?? 'no_key'] } : { active: old }
  }
  const look = (): Found => {
    const previous = given(config.secrets_previous_key_file)
    previousFault = previous === undefined ? undefined : faultOf(previous, learn)
    const kept = own()
    return isElsewhere ? named(given(config.secrets_key) ?? read(given(config.secrets_key_file) ?? '')) : kept
  }
  const now = (): Found => (found ??= look())
  const open = async (isEmpty: boolean): Promise<void> => {
    // Looked at anew: while storage took no changes somebody may have put one there.
    found = undefined
    if (!isEmpty || now().fault?.kind !== 'absent') return
    const made = ids.random(32)
    await secrets.keep(keyFile, made)
    found = { active: learn(made) }
  }
  const unusable = (reason: string): Error => secretErrors.secrets_key_unusable({ details: { reason } })
  const current = (): Key => {
    const { active, fault } = now()
    if (active === undefined) throw unusable(fault?.reason ?? wrongForm)
    return active
  }
  const begin = async (): Promise<Key> => {
    if (isElsewhere) throw secretErrors.secrets_key_elsewhere()
    current()
    if (now().pending === undefined) {
      if (secrets.faultOf(nextFile) === 'no_file') throw unusable(`secrets/${nextFile} is no regular file`)
      const pending = ids.random(32)
      await secrets.keep(nextFile, pending)
      found = { active: learn(pending), pending }
    }
    return current()
  }
  const finish = async (): Promise<void> => {
    const { active, pending } = now()
    if (pending === undefined) return
    await secrets.keep(keyFile, pending)
    await secrets.drop(nextFile)
    found = { active }
  }
  return {
    open,
    current,
    find(id) {
      now()
      return find(id)
    },
    ids() {
      now()
      return allIds()
    },
    get fault() {
      return now().fault
    },
    get previousFault() {
      now()
      return previousFault
    },
    begin,
    finish,
  }
}
