/** Which observations name an asset. */
import { namingIn, type AssetHolder } from '../../../media/assets/contract.js'
import { groupOf, type ObservationStore } from './store.js'

/** What is purged keeps nothing. */
export const observationAssets = ({ observations }: ObservationStore): AssetHolder => {
  const naming = (index: 'asset' | 'text_asset', role: string) =>
    namingIn({
      collection: observations,
      index,
      group: (asset_id, hard) => groupOf(hard ? 'active' : 'purged', asset_id),
      reference: ({ view: { observation_id, source_id, retention_state } }) => ({
        owner_id: observation_id,
        role,
        parent_id: source_id,
        detail_id: retention_state,
      }),
    })
  return {
    domain: 'observations',
    namings: [naming('asset', 'raw_asset'), naming('text_asset', 'canonical_text_asset')],
  }
}
