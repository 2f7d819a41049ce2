/** What operators see of the walls around files of others: in the status, and as a warning. */
import {
  boolean,
  doc,
  object,
  optional,
  sentence,
  string,
  type HealthCheck,
  type Sandbox,
} from '../../../core/plugin.js'
import type { StatusSection } from '../../operator/status/contract.js'

const View = object({
  in_force: optional(doc(boolean(), 'Whether files are looked at behind walls; absent before the first was.')),
  reason: optional(doc(string(), 'Why they are not.')),
})

export const sandboxSection = (sandbox: Sandbox): StatusSection => ({
  name: 'sandbox',
  schema: View,
  collect: () => ({ ...sandbox.walls() }),
  withoutState: true,
})

export const sandboxHealth = (sandbox: Sandbox): HealthCheck => ({
  id: 'sandbox',
  check: () => {
    const { in_force: inForce = true, reason = '' } = sandbox.walls() ?? {}
    if (inForce) return []
    const message = sentence(
      `Files of others are looked at without walls, in processes of the daemon's user: ${reason}`,
    )
    const action = 'Install bubblewrap and let this user make namespaces.'
    return [{ severity: 'warning', code: 'file_sandbox_unavailable', message, action }]
  },
})
