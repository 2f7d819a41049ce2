/** Who uses a secret. */
import {
  answerOf,
  array,
  asItIs,
  awaited,
  definePoint,
  hasMembers,
  open,
  refusing,
  string,
  withAnswers,
  type Point,
  type Tx,
} from '../../../../core/plugin.js'

/** Something that uses a secret: what kind of thing, and which. */
export interface SecretReference {
  readonly kind: string
  readonly id: string
}

/** Says what of a plugin uses a secret: as long as anything does, it cannot be deleted. */
export interface SecretUses {
  /** Unique; the plugin's id, or more. */
  readonly id: string
  /** Must be fast, must not throw and must not do I/O: it is asked within the commit that would delete the secret. */
  of(secret_ref: string): readonly SecretReference[]
  /** Must end, in the commit that revokes a secret, what was lent of it. Must be done when it returns. */
  revoke?(tx: Tx, secret_ref: string): void
}
/** Gets new tokens for accounts. */
export interface AccountRefresher {
  /** Unique; the plugin's id, or more. */
  readonly id: string
  /**
   * Resolves when an account has new tokens, on disk; undefined if it is none of its own. Rejects with a problem whose
   * sentence may be shown. That of a third-party plugin has ten seconds.
   */
  refresh(slot_id: string): Promise<void> | undefined
}
/** Everybody who refreshes accounts. */
export const AccountRefreshers: Point<AccountRefresher> = withAnswers(
  definePoint<AccountRefresher>(
    'account-refreshers@1',
    (refresher) => refresher.id,
    hasMembers('a refresher of accounts', { id: 'id', refresh: 'function' }),
  ),
  { refresh: awaited(refusing(() => undefined)) },
)

/** Everybody who uses secrets. */
export const SecretReferences: Point<SecretUses> = withAnswers(
  definePoint<SecretUses>(
    'secret-references@1',
    (uses) => uses.id,
    hasMembers('a user of secrets', { id: 'id', of: 'function' }),
  ),
  {
    // A secret that may be in use is not deleted.
    of: answerOf(array(open({ kind: string(), id: string() })), [], {
      named: (plugin) => [{ kind: 'plugin', id: plugin }],
    }),
    revoke: asItIs,
  },
)
