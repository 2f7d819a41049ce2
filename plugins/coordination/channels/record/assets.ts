/** Which assets channels and messages name: all of them keep what they name (channels-22). */
import {
  enums,
  object,
  string,
  type Collection,
  type CollectionSpec,
  type Infer,
  type Tx,
} from '../../../../core/plugin.js'
import { filesIn, namingIn, type AssetHolder } from '../../../media/assets/contract.js'
import type { ChannelRecord, MessageRecord } from './record.js'

const roles = ['pinned_asset', 'message_part', 'message_artifact'] as const
const ChannelAsset = object({
  owner_id: string(),
  channel_id: string(),
  asset_id: string(),
  role: enums(roles),
})
export type ChannelAsset = Infer<typeof ChannelAsset>

/** An owner as the first word of a key: ids of channels may hold blanks. */
const word = (owner_id: string): string => encodeURIComponent(owner_id)

export const assetCollection: CollectionSpec<ChannelAsset> = {
  name: 'channel_assets',
  version: 1,
  id: ({ owner_id, role, asset_id }) => `${word(owner_id)} ${role} ${asset_id}`,
  indexes: { asset: { group: ({ asset_id }) => asset_id }, channel: { group: ({ channel_id }) => channel_id } },
  settled: () => true,
  removed: 'forgotten',
  schema: ChannelAsset,
  references: ({ asset_id }) => [{ collection: 'assets', id: asset_id }],
}

export const channelAssets = (collection: Collection<ChannelAsset>): AssetHolder => {
  const naming = namingIn({
    collection,
    index: 'asset',
    reference: ({ owner_id, channel_id, role }) => ({
      owner_id,
      role,
      ...(role !== 'pinned_asset' && { parent_id: channel_id }),
    }),
  })
  return {
    domain: 'channels',
    namings: [{ ...naming, find: (asset_id, owner_id) => naming.find?.(asset_id, word(owner_id)) }],
  }
}

/** In the commit that adds the message. */
export const nameFiles = (tx: Tx, collection: Collection<ChannelAsset>, message: MessageRecord): void => {
  const { message_id: owner_id, channel_id, output } = message
  const put = (role: ChannelAsset['role'], ids: Iterable<string>): void => {
    for (const asset_id of new Set(ids)) tx.insert(collection, { owner_id, channel_id, asset_id, role })
  }
  put(
    'message_part',
    filesIn(output.parts).map(({ id }) => id),
  )
  put(
    'message_artifact',
    output.artifacts.map(({ id }) => id),
  )
}

type Pins = Pick<ChannelRecord, 'channel_id' | 'pinned_asset_ids'>

/** In the commit that changes what is pinned. */
export const namePins = (
  tx: Tx,
  collection: Collection<ChannelAsset>,
  { before, after }: { readonly before?: Pins | undefined; readonly after: Pins },
): void => {
  const { channel_id, pinned_asset_ids = [] } = after
  const had = before?.pinned_asset_ids ?? []
  const record = (asset_id: string): ChannelAsset => ({
    owner_id: channel_id,
    channel_id,
    asset_id,
    role: 'pinned_asset',
  })
  for (const asset_id of had)
    if (!pinned_asset_ids.includes(asset_id))
      tx.remove(collection, collection.spec.id(record(asset_id)), 'it is pinned no longer')
  for (const asset_id of pinned_asset_ids) if (!had.includes(asset_id)) tx.insert(collection, record(asset_id))
}
