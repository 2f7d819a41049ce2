/** What assets know of what is derived: their ids in it, and words that were written down later. */
import type { Tx } from '../../../core/plugin.js'
import type { Assets } from './contract.js'
import type { AssetHolder } from './naming/naming.js'
import { sourceNaming } from './naming/made-of.js'
import { namingIn } from './naming/naming-in.js'
import { refOf, type AssetStore } from './store.js'

/** Sorted, each once. */
const changed = (ids: readonly string[], change: { add: string } | { remove: string }): string[] =>
  'add' in change ? [...new Set([...ids, change.add])].toSorted() : ids.filter((id) => id !== change.remove)

/** Assets whose text is that of another one, or that were made of it: they are whole by themselves and keep none. */
export const assetHolder = ({ assets, sources }: AssetStore): AssetHolder => ({
  domain: 'assets',
  namings: [
    namingIn({
      collection: assets,
      index: 'attached',
      group: (asset_id, hard) => (hard ? undefined : asset_id),
      reference: ({ asset_id }) => ({ owner_id: asset_id, role: 'attached_text_asset' }),
    }),
    sourceNaming(sources),
  ],
})

export const derivedOf = (store: AssetStore): Pick<Assets, 'isWhole' | 'noteDerivation' | 'setText'> => ({
  isWhole(asset_id) {
    const found = store.find(asset_id)
    return found !== undefined && store.blobs.has(found.raw)
  },
  noteDerivation(tx: Tx, asset_id, change) {
    const found = store.find(asset_id)
    if (found === undefined) return
    store.put(tx, { ...found, derivation_ids: changed(found.derivation_ids, change) })
  },
  setText(tx: Tx, asset_id, words_asset_id) {
    const words = store.get(words_asset_id)
    store.put(tx, { ...store.get(asset_id), text: refOf(words.raw), attached_text_asset_id: words_asset_id })
  },
})
