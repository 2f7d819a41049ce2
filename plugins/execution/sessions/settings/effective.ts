/** What the settings of a session come to. Pure. */
import type { CapabilityScope, CredentialScope, SessionSettings } from './settings.js'
import { permitsCredential, restrict, withDefaultDeny } from './scopes.js'

/** The baseline of the persona, restricted by the session. */
export const effectiveCapabilityScope = ({ persona, capability_scope }: SessionSettings): CapabilityScope | undefined =>
  restrict(persona?.capability_scope, capability_scope)

export const effectiveCredentialScope = ({ credential_scope }: SessionSettings): CredentialScope | undefined =>
  credential_scope === undefined ? undefined : withDefaultDeny(credential_scope)

export const mayUseRoute = ({ credential_scope }: SessionSettings, route_id: string): boolean =>
  permitsCredential(credential_scope, 'route', route_id)

export const mayUseConnectorCredential = (
  { credential_scope }: SessionSettings,
  { connector, credential }: { readonly connector: string; readonly credential: string },
): boolean =>
  permitsCredential(credential_scope, 'connector', connector) &&
  permitsCredential(credential_scope, 'connector_credential', credential)
