/** Keys that lead to a session for ever: each is written in the commit of the run that named it. */
import { digest, type Tx } from '../../../../core/plugin.js'
import { runErrors } from '../record/errors.js'
import type { RunStore } from '../record/store.js'

const bindingId = (key: string): string => digest(['binding', key])

const trimmed = (key: string, at: number): string => {
  const text = key.trim()
  if (text === '')
    throw runErrors.binding_key_blank({ errors: [{ path: `body.binding_keys.${at}`, rule: 'must not be blank' }] })
  return text
}

/** Trimmed and without repetition. */
export const bindingKeys = (keys: readonly string[]): string[] => [...new Set(keys.map(trimmed))]

/** The session that a key is bound to; undefined if there is none. */
export const sessionOfBinding = (store: RunStore, key: string): string | undefined =>
  store.bindings.find(bindingId(key.trim()))?.session_id

/** Binds keys; throws `binding_conflict` for one that belongs to another session. */
export const bind = (
  store: RunStore,
  tx: Tx,
  { keys, session_id }: { keys: readonly string[]; session_id: string },
): void => {
  for (const key of keys) {
    const id = bindingId(key)
    const known = store.bindings.find(id)
    if (known === undefined) tx.insert(store.bindings, { id, session_id, at: tx.now })
    else if (known.session_id !== session_id)
      throw runErrors.binding_conflict({
        details: { key },
        errors: [{ path: 'body.binding_keys', rule: 'must not hold a key of another session' }],
      })
  }
}
