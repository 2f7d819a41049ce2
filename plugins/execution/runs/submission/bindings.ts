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

interface Binding {
  readonly keys: readonly string[]
  readonly session_id: string
}

/** Throws `binding_conflict` for a key that belongs to another session. */
export const checkKeys = (store: RunStore, { keys, session_id }: Binding): void => {
  for (const key of keys)
    if ((sessionOfBinding(store, key) ?? session_id) !== session_id)
      throw runErrors.binding_conflict({
        details: { key },
        errors: [{ path: 'body.binding_keys', rule: 'must not hold a key of another session' }],
      })
}

/** Binds keys that were checked. */
export const bind = (store: RunStore, tx: Tx, { keys, session_id }: Binding): void => {
  for (const key of keys) {
    const id = bindingId(key)
    if (!store.bindings.has(id)) tx.insert(store.bindings, { id, session_id, at: tx.now })
  }
}
