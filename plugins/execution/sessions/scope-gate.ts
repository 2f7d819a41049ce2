/** Foreign tools that the capability scope of a session does not let pass. */
import type { ToolGate } from '../tools/contract.js'
import { permitsCapability, type Sessions } from './contract.js'

/** A tool passes if its server does and it does itself, by the name that models see. */
export const scopeGate = (sessions: Pick<Sessions, 'find' | 'effectiveCapabilityScope'>): ToolGate => ({
  id: 'capability-scope',
  hidden(session_id) {
    const session = sessions.find(session_id)
    const scope = session === undefined ? undefined : sessions.effectiveCapabilityScope(session)
    if (scope === undefined) return undefined
    return ({ name, origin }) =>
      origin !== undefined &&
      !(permitsCapability(scope, 'mcp_server', origin.server) && permitsCapability(scope, 'mcp_tool', name))
  },
})
