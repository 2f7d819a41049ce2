/**
 * The keys that slots are encrypted with. One is in force; others may be known, so that what they encrypted can still
 * be read and is encrypted anew.
 */
import { Problem, keyId, keyOf, readSecretFile, type Ids, type Secrets } from '../../../../core/plugin.js'
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

export interface Keys {
  /** Reads the keys that are there, and makes the first one of a root where nothing is encrypted yet. */
  open(isEmpty: boolean): Promise<void>
  /** Throws `secrets_key_unusable`. */
  current(): Key
  find(id: string): Key | undefined
  /** Why nothing can be encrypted. */
  readonly fault: string | undefined
  /** Makes a new key durable beside the old one and puts it in force. Throws `secrets_key_elsewhere`. */
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
  return { learn, find: (id: string): Key | undefined => known.get(id) }
}

export const createKeys = ({ config, secrets, ids }: KeyParts): Keys => {
  const { learn, find } = createKnown(secrets)
  const isElsewhere = given(config.secrets_key) !== undefined || given(config.secrets_key_file) !== undefined
  let active: Key | undefined
  let pending: string | undefined
  let fault: string | undefined = 'the keys were not read yet'

  /** A key that the operator named. */
  const named = (text: string | Problem): void => {
    active = typeof text === 'string' ? learn(text) : undefined
    fault = active !== undefined ? undefined : typeof text === 'string' ? `the key: ${wrongForm}` : text.message
  }
  const own = async (isEmpty: boolean): Promise<void> => {
    const text = secrets.find(keyFile)
    active = text === undefined ? undefined : learn(text)
    if (active === undefined && !secrets.has(keyFile) && isEmpty) {
      const made = ids.random(32)
      await secrets.keep(keyFile, made)
      active = learn(made)
    }
    const why = secrets.has(keyFile) ? `secrets/${keyFile} is empty, no key, or others may read it` : undefined
    fault = active === undefined ? (why ?? `secrets/${keyFile} is missing`) : undefined
  }
  const open = async (isEmpty: boolean): Promise<void> => {
    const previous = given(config.secrets_previous_key_file)
    const old = previous === undefined ? undefined : read(previous)
    if (typeof old === 'string') learn(old)
    const [text, file] = [given(config.secrets_key), given(config.secrets_key_file)]
    const next = secrets.find(nextFile)
    if (text !== undefined || file !== undefined) {
      const stale = secrets.find(keyFile)
      if (stale !== undefined) learn(stale)
      if (next !== undefined) learn(next)
      return named(text ?? read(file ?? ''))
    }
    await own(isEmpty)
    const begun = next === undefined ? undefined : learn(next)
    if (begun !== undefined) [active, pending, fault] = [begun, next, undefined]
  }
  const current = (): Key => {
    if (active === undefined) throw secretErrors.secrets_key_unusable({ details: { reason: fault ?? wrongForm } })
    return active
  }
  const begin = async (): Promise<Key> => {
    if (isElsewhere) throw secretErrors.secrets_key_elsewhere()
    current()
    if (pending === undefined) {
      const made = ids.random(32)
      await secrets.keep(nextFile, made)
      pending = made
    }
    active = learn(pending)
    return current()
  }
  const finish = async (): Promise<void> => {
    if (pending === undefined) return
    await secrets.keep(keyFile, pending)
    await secrets.drop(nextFile)
    pending = undefined
  }
  return {
    open,
    current,
    find,
    get fault() {
      return fault
    },
    begin,
    finish,
  }
}
