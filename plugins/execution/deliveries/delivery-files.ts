/** Files that deliveries name: none of them can be deleted while the delivery is kept, whatever became of it. */
import type { Collection, CollectionSpec, Tx } from '../../../core/plugin.js'
import { filesIn, type AssetHolder, type AttachmentRef, type OutputPart } from '../../media/assets/contract.js'
import type { DeliveryRecord } from './store.js'

/** That a delivery has a file. */
export type DeliveryFile = {
  readonly delivery_id: string
  readonly session_id: string
  readonly asset_id: string
  readonly roles: readonly string[]
}

export const deliveryFileCollection: CollectionSpec<DeliveryFile> = {
  name: 'delivery_files',
  version: 1,
  id: ({ delivery_id, asset_id }) => `${delivery_id} ${asset_id}`,
  indexes: { asset: { group: ({ asset_id }) => asset_id } },
  settled: () => true,
  kept: { kind: 'deliveries' },
  references: ({ delivery_id, asset_id }) => [
    { collection: 'deliveries', id: delivery_id },
    { collection: 'assets', id: asset_id },
  ],
}

interface Sent {
  readonly parts?: readonly OutputPart[]
  readonly artifacts?: readonly AttachmentRef[]
}

/** The caller names them too in this commit, so that they are there. */
export const nameFiles = (
  { tx, files }: { readonly tx: Tx; readonly files: Collection<DeliveryFile> },
  { delivery_id, session_id }: DeliveryRecord,
  { parts = [], artifacts = [] }: Sent,
): void => {
  const shown = new Set(filesIn(parts).map(({ id }) => id))
  const along = new Set(artifacts.map(({ id }) => id))
  for (const asset_id of new Set([...shown, ...along])) {
    const roles = [
      ...(shown.has(asset_id) ? ['delivery_part'] : []),
      ...(along.has(asset_id) ? ['delivery_artifact'] : []),
    ]
    tx.insert(files, { delivery_id, session_id, asset_id, roles })
  }
}

interface HolderParts {
  readonly deliveries: Collection<DeliveryRecord>
  readonly files: Collection<DeliveryFile>
}

export const deliveryHolder = ({ deliveries, files }: HolderParts): AssetHolder => ({
  domain: 'deliveries',
  of: (asset_id) =>
    files.ids('asset', asset_id).flatMap((id) => {
      const file = files.find(id)
      if (file === undefined) return []
      const { delivery_id: owner_id, session_id: parent_id, roles } = file
      const status = deliveries.find(owner_id)?.status
      const detail = status === undefined ? {} : { detail_id: status }
      return roles.map((role) => ({ owner_id, role, hard: true, parent_id, ...detail }))
    }),
})
