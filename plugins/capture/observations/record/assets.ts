/** Which observations name an asset. */
import type { AssetHolder } from '../../../media/assets/contract.js'
import type { ObservationStore } from './store.js'

/** What is purged keeps nothing. */
export const observationAssets = ({ observations }: ObservationStore): AssetHolder => {
  const named = (index: 'asset' | 'text_asset', role: string, asset_id: string) =>
    observations.ids(index, asset_id).flatMap((id) => {
      const found = observations.find(id)
      if (found === undefined) return []
      const { retention_state, source_id } = found.view
      return [
        { owner_id: id, role, hard: retention_state === 'active', parent_id: source_id, detail_id: retention_state },
      ]
    })
  return {
    domain: 'observations',
    of: (asset_id) => [
      ...named('asset', 'raw_asset', asset_id),
      ...named('text_asset', 'canonical_text_asset', asset_id),
    ],
  }
}
