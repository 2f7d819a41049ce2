/** What an operator must know of keys: above all which one a restored root needs. */
import { commandLine, count, type Collection, type Warning } from '../../../core/plugin.js'
import type { Keys } from './slots/keys.js'
import type { StoredSlot } from './slots/record.js'

const action =
  'Put the key with this id back as secrets/slots.key in the state root with mode 0600, or name its file with ' +
  '--secrets-key-file or --secrets-previous-key-file, and start again; what cannot come back is stored again with ' +
  `${commandLine('secrets set', 'SECRET_REF')} --stdin.`

export const keyWarnings = (
  keys: Pick<Keys, 'fault' | 'find'>,
  slots: Pick<Collection<StoredSlot>, 'groups' | 'count'>,
): readonly Warning[] => {
  const missing = slots
    .groups('key')
    .filter((key_id) => keys.find(key_id) === undefined)
    .map((key_id): Warning => ({
      severity: 'error',
      code: 'secrets_key_missing',
      message: `${count(slots.count('key', key_id), 'secret')} cannot be decrypted: the key ${key_id} is not here.`,
      related_id: key_id,
      action,
    }))
  if (keys.fault === undefined) return missing
  return [
    ...missing,
    {
      severity: 'warning',
      code: 'secrets_key_unusable',
      message: `No secret can be stored: ${keys.fault}.`,
      action:
        'Put a key of 32 bytes there: (umask 077; openssl rand -hex 32 > STATE_ROOT/secrets/slots.key), and start ' +
        'again.',
    },
  ]
}
