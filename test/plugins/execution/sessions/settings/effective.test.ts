import test from 'ava'
import { credentialScope } from '../../../../support/scopes.js'
import type { CredentialScope, SessionRecord } from '../../../../../plugins/execution/sessions/contract.js'
import {
  effectiveCapabilityScope,
  effectiveCredentialScope,
  mayUseConnectorCredential,
  mayUseRoute,
} from '../../../../../plugins/execution/sessions/settings/effective.js'

const bare: SessionRecord = { session_id: 's1', agent_id: 'a1', created_at_ms: 1 }
const scoped = (more: Partial<CredentialScope>): SessionRecord => ({
  ...bare,
  credential_scope: credentialScope(more),
})
const mail = { connector: 'mail', credential: 'MAIL_KEY' }

test('a session without scopes may use everything and has no effective scopes', (t) => {
  t.true(mayUseRoute(bare, 'demo'))
  t.true(mayUseConnectorCredential(bare, mail))
  t.is(effectiveCapabilityScope(bare), undefined)
  t.is(effectiveCredentialScope(bare), undefined)
})

test('a route may be used if its lists let it pass', (t) => {
  t.true(mayUseRoute(scoped({ route_allow: ['demo'] }), 'demo'))
  t.false(mayUseRoute(scoped({ route_allow: ['demo'] }), 'other'))
  t.false(mayUseRoute(scoped({ route_deny: ['*'] }), 'demo'))
})

test('a credential of a connector needs both: the connector and, where connectors are scoped, the credential by name', (t) => {
  t.true(mayUseConnectorCredential(scoped({ route_deny: ['*'] }), mail))
  t.false(mayUseConnectorCredential(scoped({ connector_allow: ['mail'] }), mail))
  t.true(
    mayUseConnectorCredential(scoped({ connector_allow: ['mail'], connector_credential_allow: ['MAIL_KEY'] }), mail),
  )
  t.false(
    mayUseConnectorCredential(scoped({ connector_allow: ['chat'], connector_credential_allow: ['MAIL_KEY'] }), mail),
  )
  t.false(mayUseConnectorCredential(scoped({ connector_credential_deny: ['MAIL_KEY'] }), mail))
})
