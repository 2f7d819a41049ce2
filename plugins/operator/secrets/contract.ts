/**
 * Secrets that are stored encrypted, by the name under which others refer to them. Rules: docs/rules/secrets.md.
 */
import {
  array,
  boolean,
  defineToken,
  doc,
  enums,
  integer,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
  type JsonObject,
  type Token,
  type Tx,
} from '../../../core/plugin.js'
import { modes, providers, type SlotDraft } from './slots/record.js'

/** Who keeps what the key of secrets sealed, and how to seal it. */
export { SealKeepers, SecretSeal } from './slots/seal.js'
/** What is sealed, as it is stored. */
export { isSealed, Sealed } from './slots/sealed.js'
/** Their shapes. */
export type { SealKeeper } from './slots/seal.js'
/** Who refers to secrets, and who refreshes accounts. */
export { AccountRefreshers, SecretReferences } from './slots/references.js'
/** Their shapes. */
export type { AccountRefresher, SecretReference, SecretUses } from './slots/references.js'
/** What is stored. */
export type { SecretMode, SecretProvider, SlotDraft } from './slots/record.js'
/** Problems of `SecretSlots`, for the `problems` of routes that call it. */
export { secretErrors } from './slots/errors.js'

/** What is shown of a secret: never its value (secrets-2). */
export const SecretStatus = named(
  'SecretSlotStatus',
  object({
    slot_id: doc(string(), 'The name that others refer to it by.'),
    provider: doc(enums(providers), 'Whose secret it is.'),
    mode: doc(enums(modes), 'What it is: one value, the key of an API, or an account with tokens.'),
    summary: doc(string(), 'One line for people.'),
    updated_at_ms: timestamp(),
    details: object({
      version: doc(integer({ min: 1 }), 'Grows with each change of the value.'),
      created_at_ms: timestamp(),
      key_id: doc(string(), 'The key that it is encrypted with.'),
      readable: doc(boolean(), 'False if it cannot be decrypted or was revoked.'),
      problem: optional(doc(string(), 'Why it cannot be used.')),
      action: optional(doc(string(), 'What to do about it.')),
      expires_at_ms: optional(timestamp()),
      revoked_at_ms: optional(doc(timestamp(), 'It holds nothing since then.')),
      used_by: optional(array(object({ kind: doc(string(), 'What kind of thing uses it.'), id: string() }))),
    }),
  }),
)
/** The value form of `SecretSlotStatus`. */
export type SecretStatus = Infer<typeof SecretStatus>

/** Secrets, for plugins that use them. */
export interface SecretSlots {
  /** Undefined if there is none of this name. */
  find(secret_ref: string): SecretStatus | undefined
  /**
   * The value as it is now: ask at each use and keep nothing. It is redacted everywhere from then on. Throws
   * `secret_not_found`, `secret_revoked`, `secret_unreadable`, or `secret_without_value` for an account.
   */
  value(secret_ref: string): string
  /** All of what is stored of it, such as the tokens of an account. Throws as `value` does. */
  state(secret_ref: string): JsonObject
  /** Stores a secret, or a new value of it, in a commit with what refers to it. Throws `secret_invalid`. */
  put(tx: Tx, draft: SlotDraft): void
  /** Removes it. Throws `secret_not_found`, or `secret_in_use` while anything refers to it. */
  remove(tx: Tx, secret_ref: string): void
  /**
   * Takes its value and ends what was lent of it, whoever uses it: nobody gets a value until another one is stored.
   * Throws `secret_not_found`.
   */
  revoke(tx: Tx, secret_ref: string): void
  /** Calls back when a secret has another value or is gone, on disk. Must not throw. Returns its undo. */
  onChange(hear: (secret_ref: string) => void): () => void
}
export const SecretSlots: Token<SecretSlots> = defineToken<SecretSlots>('secret-slots@1')
