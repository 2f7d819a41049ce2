/** Whether an event is of the child that runs (external-17). */
import { ingressErrors } from '../../ingress/contract.js'
import type { ExternalConnector } from '../setup/connector.js'
import type { Manifests } from '../sidecar/manifests.js'

/** Looks at the identities in one request; the manifest is fetched once in it at most. */
export type InstanceCheck = (instance_id: string) => Promise<boolean>

/**
 * A remote sidecar may be many processes. That of a child is known, or is asked for once more: it may have started
 * meanwhile. Throws `service_unavailable` where it says nothing: the event may be sent again.
 */
export const createInstanceCheck = (manifests: Manifests, connector: ExternalConnector): InstanceCheck => {
  if (connector.settings.mode !== 'child_process') return async () => true
  let fetched: ReturnType<Manifests['fetch']> | undefined
  const idNow = async (): Promise<string> => {
    const asked = await (fetched ??= manifests.fetch(connector))
    if (asked.type === 'answer') return asked.value.instance_id
    throw ingressErrors.service_unavailable({ members: { reason: 'sidecar_unreachable' }, retryAfter: 1 })
  }
  return async (instance_id) => {
    if (fetched === undefined && manifests.known(connector)?.instance_id === instance_id) return true
    return (await idNow()) === instance_id
  }
}
