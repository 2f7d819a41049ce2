/** What the supervision of children is given by its plugin. */
import type { ConnectorKind, Connectors } from '../../registry/contract.js'
import type { ExternalCounts } from '../setup/counts.js'
import type { ChildCredentials } from './credentials.js'
import type { ExternalSettings } from '../setup/settings.js'
import type { SidecarClient } from '../sidecar/client.js'
import type { Manifests } from '../sidecar/manifests.js'

export interface ChildParts {
  readonly kind: ConnectorKind<ExternalSettings>
  readonly connectors: Connectors
  /** `begin` before each start, `end` when the child has ended or is stopped. */
  readonly credentials: Pick<ChildCredentials, 'begin' | 'end'>
  /** For readiness: not the manifests that are remembered, but what the child says now. */
  readonly client: Pick<SidecarClient, 'manifest' | 'health'>
  /** `forget` when a child has ended: the next one has another identity. */
  readonly manifests: Pick<Manifests, 'forget'>
  /** `add(name, 'child_restart')`, and `add(name, 'manifest_failure')` where readiness fetches in vain. */
  readonly counts: Pick<ExternalCounts, 'add'>
}
