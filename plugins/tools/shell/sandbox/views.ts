/** What operators see of the sandbox: in the status, in the runtime and as a warning. */
import {
  boolean,
  doc,
  enums,
  object,
  optional,
  sentence,
  string,
  type HealthCheck,
  type JsonObject,
} from '../../../../core/plugin.js'
import { sandboxModes, type Sandbox, type SandboxSettings } from './sandbox.js'

/** The member `shell` of the status and of the runtime. */
export const ShellView = object({
  sandbox: object({
    mode: doc(enums(sandboxModes), 'What the configuration wants.'),
    in_force: doc(boolean(), 'Whether commands run in it now.'),
    network: doc(boolean(), 'Whether commands reach the network.'),
    reason: optional(doc(string(), 'Why it is wanted and not in force.')),
  }),
})

export const shellView = (sandbox: Sandbox, { sandbox_network }: SandboxSettings): JsonObject => {
  const { mode, inForce, reason } = sandbox.state()
  const network = inForce ? sandbox_network : mode !== 'required'
  return { sandbox: { mode, in_force: inForce, network, ...(reason !== undefined && { reason }) } }
}

const effects = {
  off: '',
  on: 'commands run without walls',
  required: 'every command is refused',
}

export const sandboxHealth = (sandbox: Sandbox): HealthCheck => ({
  id: 'shell.sandbox',
  check: () => {
    const { mode, inForce, reason } = sandbox.state()
    if (inForce || mode === 'off') return []
    const message = sentence(`There is no sandbox for bash, so ${effects[mode]}: ${reason ?? 'nobody has looked yet'}`)
    const action = 'Install bubblewrap and let this user make namespaces, or set shell.sandbox to off.'
    return [{ severity: 'warning', code: 'sandbox_unavailable', message, action }]
  },
})
