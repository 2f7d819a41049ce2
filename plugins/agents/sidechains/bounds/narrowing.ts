/** A child may do what its parent may, or less (agents-4 to agents-6). Pure. */
import { unsafeCast } from '../../../../core/plugin.js'
import {
  normalScope,
  permitsEntry,
  restrictScope,
  type CapabilityScope,
  type CredentialScope,
  type Isolation,
  type ToolSurface,
} from '../../../execution/sessions/contract.js'
import { modesByStrictness, type PermissionMode } from '../../../execution/tools/contract.js'
import { agentErrors } from './errors.js'
import { beyondSurface, narrowedSurface } from './surface.js'

const widened = (path: string, reason: string): Error =>
  agentErrors.agent_widened({ details: { reason }, errors: [{ path, rule: 'must lie within what the parent has' }] })

/** Throws `agent_widened` for a mode that lets more pass than that of the parent. */
export const narrowedMode = (parent: PermissionMode, wanted: PermissionMode | undefined): PermissionMode => {
  if (wanted === undefined) return parent
  if (modesByStrictness.indexOf(wanted) < modesByStrictness.indexOf(parent))
    throw widened('body.permission_mode', `${wanted} lets more pass than ${parent}`)
  return wanted
}

/** Throws `agent_widened` where the parent works in a copy of the workspace and the child would work in itself. */
export const narrowedIsolation = (
  parent: Isolation | undefined,
  wanted: Isolation | undefined,
): Isolation | undefined => {
  if (wanted === 'shared' && parent === 'worktree')
    throw widened('body.fork_context.isolation', 'its parent works in a copy of the workspace')
  return wanted ?? parent
}

const narrowed = <S extends CapabilityScope | CredentialScope>(
  parent: S | undefined,
  wanted: S | undefined,
  path: string,
): S | undefined => {
  if (wanted === undefined) return parent
  for (const [list, names] of Object.entries(unsafeCast<Record<string, readonly string[]>>(wanted))) {
    const kind = list.endsWith('_allow') ? list.slice(0, -'_allow'.length) : undefined
    const beyond = kind === undefined ? undefined : names.find((name) => !permitsEntry(parent, kind, name.trim()))
    if (beyond !== undefined) throw widened(`${path}.${list}`, `${beyond} is beyond ${list} of the parent`)
  }
  return restrictScope(parent, normalScope(wanted))
}

/** Throws `agent_widened` for an entry that the parent's scope does not permit. */
export const narrowedCapabilities = (
  parent: CapabilityScope | undefined,
  wanted: CapabilityScope | undefined,
): CapabilityScope | undefined => narrowed(parent, wanted, 'body.capability_scope')

const noCredentials: CredentialScope = {
  route_allow: [],
  route_deny: [],
  connector_allow: [],
  connector_deny: ['*'],
  connector_credential_allow: [],
  connector_credential_deny: ['*'],
  mcp_server_allow: [],
  mcp_server_deny: ['*'],
}

/** Connectors, their credentials and servers are given by name alone: who narrows the routes gives none of them. */
const asGiven = (wanted: CredentialScope): CredentialScope => {
  const none = (allow: readonly string[], deny: string[]): string[] => (allow.length === 0 ? ['*'] : deny)
  return {
    ...wanted,
    connector_deny: none(wanted.connector_allow, wanted.connector_deny),
    connector_credential_deny: none(wanted.connector_credential_allow, wanted.connector_credential_deny),
    mcp_server_deny: none(wanted.mcp_server_allow, wanted.mcp_server_deny),
  }
}

/** Without a wish the child keeps routes alone. Throws as `narrowedCapabilities`. */
export const narrowedCredentials = (
  parent: CredentialScope | undefined,
  wanted: CredentialScope | undefined,
): CredentialScope | undefined =>
  wanted === undefined
    ? restrictScope(parent, noCredentials)
    : narrowed(parent, asGiven(wanted), 'body.credential_scope')

/** Throws `agent_widened` for an entry that the parent's surface does not let pass. */
export const checkedSurface = (
  parent: ToolSurface | undefined,
  wanted: ToolSurface | undefined,
): ToolSurface | undefined => {
  const beyond = wanted === undefined ? undefined : beyondSurface(parent, wanted)
  if (beyond !== undefined) throw widened('body.tool_surface.allowlist', `the parent does not have ${beyond}`)
  return narrowedSurface(parent, wanted)
}
