import type { SecretReference, SecretStatus } from './contract.js'
import type { StoredSlot } from './slots/record.js'

const words = { opaque_secret: 'a secret', api_key: 'the key of an API', oauth_account: 'an OAuth account' } as const

const renew = 'Store a new value in it; log in again if it is an account.'
const action =
  'Start the daemon with the key that key_id names: put it into a file of its own with mode 0600, and name that with ' +
  '--secrets-previous-key-file; or store the secret again. A secrets/slots.key that is there is another key: leave it.'

interface Seen {
  readonly problem: string | undefined
  readonly uses: readonly SecretReference[]
  readonly now: number
}

const summaryOf = (what: string, { revoked_at_ms, expires_at_ms }: StoredSlot, { problem, now }: Seen): string => {
  if (revoked_at_ms !== undefined) return `${what}, revoked`
  if (problem === undefined && expires_at_ms !== undefined && expires_at_ms <= now) return `${what}, expired`
  return problem === undefined ? what : `${what}, which cannot be decrypted: ${problem}`
}

export const statusOf = (slot: StoredSlot, seen: Seen): SecretStatus => {
  const { problem, uses } = seen
  const { slot_id, provider, mode, version, created_at_ms, updated_at_ms, expires_at_ms, revoked_at_ms, key_id } = slot
  const what = `${words[mode]}, version ${version}`
  return {
    slot_id,
    provider,
    mode,
    summary: summaryOf(what, slot, seen),
    updated_at_ms,
    details: {
      version,
      created_at_ms,
      key_id,
      readable: problem === undefined,
      ...(problem !== undefined && { problem, action: revoked_at_ms === undefined ? action : renew }),
      ...(revoked_at_ms !== undefined && { revoked_at_ms }),
      ...(expires_at_ms !== undefined && { expires_at_ms }),
      ...(uses.length > 0 && { used_by: [...uses] }),
    },
  }
}
