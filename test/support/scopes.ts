/** Scopes that allow and deny nothing by name, and what a test adds to them. */
import type { CapabilityScope, CredentialScope } from '../../plugins/execution/sessions/contract.js'

export const capabilityScope = (more: Partial<CapabilityScope> = {}): CapabilityScope => ({
  skill_allow: [],
  skill_deny: [],
  mcp_server_allow: [],
  mcp_server_deny: [],
  mcp_tool_allow: [],
  mcp_tool_deny: [],
  ...more,
})

export const credentialScope = (more: Partial<CredentialScope> = {}): CredentialScope => ({
  route_allow: [],
  route_deny: [],
  connector_allow: [],
  connector_deny: [],
  connector_credential_allow: [],
  connector_credential_deny: [],
  mcp_server_allow: [],
  mcp_server_deny: [],
  ...more,
})
