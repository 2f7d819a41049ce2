/** Which assets others were made of: told, and kept by nothing (assets-16). */
import { object, string, type Collection, type CollectionSpec, type Infer, type Tx } from '../../../../core/plugin.js'
import type { AssetHolder } from './naming.js'
import { namingIn } from './naming-in.js'

const AssetSource = object({ asset_id: string(), source_asset_id: string(), maker: string() })
type AssetSource = Infer<typeof AssetSource>

export const sourceCollection: CollectionSpec<AssetSource> = {
  name: 'asset_sources',
  version: 1,
  id: ({ asset_id, source_asset_id }) => `${asset_id} ${source_asset_id}`,
  indexes: {
    source: { group: ({ source_asset_id }) => source_asset_id },
    made: { group: ({ asset_id }) => asset_id },
  },
  settled: () => true,
  removed: 'forgotten',
  schema: AssetSource,
  references: ({ asset_id, source_asset_id }) =>
    [asset_id, source_asset_id].map((id) => ({ collection: 'assets', id })),
}

/** What an asset was made of, and by what kind of work. */
export interface MadeOf {
  readonly maker: string
  readonly asset_ids: readonly string[]
}

export type AssetSources = Collection<AssetSource>

/** In the commit that adds an asset. Those that are no longer there are left out. */
export const noteSources = (
  tx: Tx,
  { sources, find }: { readonly sources: AssetSources; readonly find: (asset_id: string) => object | undefined },
  { asset_id, maker, asset_ids }: MadeOf & { readonly asset_id: string },
): void => {
  for (const source_asset_id of new Set(asset_ids))
    if (find(source_asset_id) !== undefined) tx.insert(sources, { asset_id, source_asset_id, maker })
}

/** In the commit that deletes an asset: it names nothing any more. */
export const forgetSources = (tx: Tx, sources: AssetSources, asset_id: string): void => {
  for (const id of sources.ids('made', asset_id)) tx.remove(sources, id, 'deleted')
}

/** Of the domain `assets`. */
export const sourceNaming = (sources: AssetSources): AssetHolder['namings'][number] =>
  namingIn({
    collection: sources,
    index: 'source',
    group: (asset_id, hard) => (hard ? undefined : asset_id),
    reference: ({ asset_id: owner_id, maker: detail_id }) => ({
      owner_id,
      role: 'provenance_source_asset',
      detail_id,
    }),
  })
