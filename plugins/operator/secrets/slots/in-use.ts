import { Problem } from '../../../../core/plugin.js'
import { secretErrors } from './errors.js'
import type { StoredSlot } from './record.js'
import type { SecretReference } from './references.js'

/** Who uses an account of an MCP server can log out of that. */
export const inUse = (
  { slot_id, mode }: Pick<StoredSlot, 'slot_id' | 'mode'>,
  users: readonly SecretReference[],
): Problem => {
  const names = users.map(({ kind, id }) => `${kind} ${id}`).slice(0, 10)
  const details = { secret_ref: slot_id, users: names.join(', ') }
  const server = users.find(({ kind }) => kind === 'mcp_server')?.id
  const { code, spec } = secretErrors.secret_in_use
  if (server === undefined || mode !== 'oauth_account') return new Problem(code, spec, { details })
  const action = `${spec.action} To log out of the MCP server: holdfast mcp oauth logout {server}`
  return new Problem(code, { ...spec, action }, { details: { ...details, server } })
}
