import { defineErrors } from '../../../../core/plugin.js'

export const secretErrors = defineErrors({
  secret_not_found: {
    status: 404,
    detail: 'There is no secret {secret_ref}.',
    action:
      'List those that are there with GET /v1/runtime/secrets, or store it: holdfast secrets set --stdin {secret_ref}',
  },
  secret_not_account: {
    status: 404,
    detail: 'The secret {secret_ref} is no account.',
    action:
      'List the accounts with GET /v1/runtime/auth/accounts; see the secret with GET /v1/runtime/secrets/{secret_ref}.',
  },
  secret_in_use: {
    status: 409,
    detail: 'The secret {secret_ref} is used by {users}.',
    action:
      'Let what uses it use another secret first, store a new value in this one, or take its value from all with ' +
      'POST /v1/runtime/auth/slots/{secret_ref}/revoke.',
  },
  secret_unreadable: {
    status: 409,
    detail: 'The secret {secret_ref} cannot be decrypted: {reason}.',
    action:
      'Start the daemon with the key whose id GET /v1/runtime/secrets/{secret_ref} shows as key_id, ' +
      'or store the secret again.',
  },
  secret_revoked: {
    status: 409,
    detail: 'The secret {secret_ref} was revoked.',
    action: 'Log in again if it is an account; else store a new value in it: holdfast secrets set --stdin {secret_ref}',
  },
  secret_without_value: {
    status: 409,
    detail: 'The secret {secret_ref} is an account, which has no single value.',
    action: 'Use a secret of the mode opaque_secret or api_key.',
  },
  secret_invalid: {
    status: 400,
    detail: 'The secret cannot be stored as it is: {what}.',
    action: 'Correct the field and send it again.',
  },
  secrets_full: {
    status: 409,
    detail: 'There is no room for more secrets: {reason}.',
    action: 'Delete secrets that nothing uses any more. Large values belong in files, and their keys here.',
  },
  secrets_key_unusable: {
    status: 409,
    detail: 'Nothing can be encrypted: {reason}.',
    action:
      'Give the key with --secrets-key-file or SERVICE_SECRETS_KEY, or put it back as secrets/slots.key in the ' +
      'state root with mode 0600, and start again.',
  },
  secrets_key_elsewhere: {
    status: 409,
    detail: 'The daemon did not make the key that is in force, so it cannot replace it.',
    action:
      'Start the daemon with the new key, and name the file of the old one with --secrets-previous-key-file: all ' +
      'secrets are encrypted anew at that start.',
  },
  secrets_key_not_missing: {
    status: 404,
    detail: 'No headers of reply targets wait for a key {key_id} that is not here.',
    action: 'Give the id of a key that a warning secrets_key_missing in GET /v1/status says is not here.',
  },
  account_refresh_failed: {
    status: 409,
    detail: 'The account {slot_id} has no new tokens: {reason}',
    action: 'Do what the sentence says, or log in again.',
  },
  account_refresh_unavailable: {
    status: 409,
    detail: 'Nothing in this daemon refreshes the account {slot_id}.',
    action: 'Log in again, and store the new tokens with POST /v1/runtime/auth/accounts.',
  },
})
