/** What names an asset: asked of everybody whose records do. */
import type { AssetHolder, AssetReference } from './contract.js'

const keyOf = ({ domain, parent_id = '', owner_id, role, detail_id = '', hard }: AssetReference): string =>
  [domain, parent_id, owner_id, role, detail_id, hard ? '0' : '1'].join('\0')

/** Each once, by domain, then by what they belong to, owner and role. */
export const referencesTo = (holders: readonly AssetHolder[], asset_id: string): AssetReference[] => {
  const found = holders.flatMap(({ domain, of }) => of(asset_id).map((held) => ({ ...held, domain })))
  const byKey = new Map(found.map((reference) => [keyOf(reference), reference]))
  return [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, reference]) => reference)
}

export const countsOf = (references: readonly AssetReference[]) => {
  const hard_reference_count = references.filter(({ hard }) => hard).length
  return { hard_reference_count, soft_reference_count: references.length - hard_reference_count }
}
