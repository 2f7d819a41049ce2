/** What other plugins keep under the key of secrets. */
import {
  asItIs,
  definePoint,
  defineToken,
  hasMembers,
  nonceBytes,
  openText,
  sealText,
  withAnswers,
  yesOrNo,
  type Ids,
  type Json,
  type Point,
  type Token,
} from '../../../../core/plugin.js'
import type { Keys } from './keys.js'
import { isLasting, type Lasting } from './lasting.js'
import type { Sealed } from './sealed.js'

/** Seals what other plugins store. */
export interface SecretSeal {
  /** The id of the key in force. Throws `secrets_key_unusable`. */
  keyId(): string
  /** `about` says what the value is: as something else it does not open. Throws `secrets_key_unusable`. */
  seal(value: Json, about: string): Sealed
  /**
   * The same for what stays as it is written when the key changes, because it stands in many records or in archives:
   * no keeper seals it anew. Equal values seal equally, so that they can be told apart.
   */
  sealLasting(value: Json, about: string): Sealed
  /** Undefined if its key is not here, or its bytes are not as they were written. */
  open(sealed: Sealed, about: string): Json | undefined
}
/** Seals what other plugins store. */
export const SecretSeal: Token<SecretSeal> = defineToken<SecretSeal>('secret-seal@1')

/** Keeps sealed values, and seals them anew when the key changes: until then the old key stays. */
export interface SealKeeper {
  readonly id: string
  /** Whether it keeps any. Must do no I/O. */
  has(): boolean
  /** Resolves when all that opens is sealed with the key in force, on disk. May be called again. */
  sealAnew(): Promise<void>
}
/** Everyone who keeps sealed values. */
export const SealKeepers: Point<SealKeeper> = withAnswers(
  definePoint<SealKeeper>(
    'seal-keepers@1',
    ({ id }) => id,
    hasMembers('a keeper of sealed values', { id: 'id', has: 'function', sealAnew: 'function' }),
  ),
  // A key under which there may be values is not made anew, and the old one stays where one rejects.
  { has: yesOrNo(true), sealAnew: asItIs },
)

export interface SealParts {
  readonly keys: Keys
  readonly ids: Ids
  readonly lasting: Pick<Lasting, 'seal' | 'open'>
}

export const createSeal = ({ keys, ids, lasting }: SealParts): SecretSeal => ({
  keyId: () => keys.current().id,
  seal(value, about) {
    const { id, bytes } = keys.current()
    const text = Buffer.from(JSON.stringify(value))
    const sealed = sealText(text, { key: bytes, nonce: ids.random(nonceBytes), about: `sealed\n${about}` })
    return { sealed_with: id, sealed: Buffer.from(sealed).toString('base64') }
  },
  sealLasting: lasting.seal,
  open(value, about) {
    if (isLasting(value)) return lasting.open(value, about)
    const { sealed_with, sealed } = value
    const key = keys.find(sealed_with)
    const text = key && openText(Buffer.from(sealed, 'base64'), { key: key.bytes, about: `sealed\n${about}` })
    if (text === undefined) return undefined
    const opened: Json = JSON.parse(new TextDecoder().decode(text))
    return opened
  },
})
