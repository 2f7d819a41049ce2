/** Which runs name an asset. */
import type { AssetHolder } from '../../../media/assets/contract.js'
import type { RunStore } from './store.js'

export const runAssets = ({ files }: RunStore): AssetHolder => ({
  domain: 'runs',
  of: (asset_id) =>
    files.ids('asset', asset_id).flatMap((id) => {
      const found = files.find(id)
      if (found === undefined) return []
      return [{ owner_id: found.run_id, role: 'input_attachment', hard: true, parent_id: found.session_id }]
    }),
})
