/** Where a sidecar gets the files of a delivery that is on its way (external-36). */
import {
  bytesReply,
  defineRoute,
  object,
  string,
  type Infer,
  type IngressHead,
  type Route,
} from '../../../core/plugin.js'
import type { Outbox } from '../../execution/deliveries/contract.js'
import { assetErrors, type Assets } from '../../media/assets/contract.js'
import { ingressDomain, ingressErrors } from '../ingress/contract.js'
import { admitSidecar, sharedScheme, type AccessParts } from './setup/access.js'
import { routeIn } from './sidecar/reply-route.js'

export interface AssetRouteParts extends AccessParts {
  readonly outbox: Pick<Outbox, 'findOpen'>
  readonly assets: () => Pick<Assets, 'find' | 'open'> | undefined
}

const id = () => string({ min: 1, max: 400 })
const params = object({ name: id(), delivery_id: id(), asset_id: id() })

/** True for a file of an output that is on its way to this sidecar. */
const isOnItsWay = ({ outbox }: AssetRouteParts, { name, delivery_id, asset_id }: Infer<typeof params>): boolean => {
  const delivery = outbox.findOpen(delivery_id)
  if (delivery?.plugin !== 'external' || routeIn(delivery.address)?.connector !== name) return false
  return delivery.files.some((file) => file.id === asset_id)
}

export const deliveryAssetRoute = (parts: AssetRouteParts): Route =>
  defineRoute({
    id: 'external.asset',
    method: 'GET',
    path: '/v1/connectors/external/:name/deliveries/:delivery_id/assets/:asset_id/raw',
    summary: 'Gives a sidecar the bytes of a file that is being delivered to it.',
    access: 'ingress',
    ingress: (head: IngressHead<Infer<typeof params>>) => admitSidecar(parts, head),
    scheme: sharedScheme,
    params,
    problemDomain: ingressDomain,
    reply: bytesReply(),
    problems: [ingressErrors.unauthorized, ingressErrors.not_found, assetErrors.asset_integrity_mismatch],
    handler(input) {
      const { asset_id } = input.params
      const assets = parts.assets()
      const asset = isOnItsWay(parts, input.params) ? assets?.find(asset_id) : undefined
      if (asset === undefined || assets === undefined)
        throw ingressErrors.not_found({ members: { reason: 'no_such_file' } })
      return {
        type: asset.media_type,
        name: asset.file_name,
        length: asset.byte_length,
        tag: asset.sha256,
        open: () => assets.open(asset_id, 'raw'),
      }
    },
  })
