/** What names an asset: asked of everybody whose records do. */
import { doc, integer, type PageSource } from '../../../../core/plugin.js'
import type { AssetHolder, AssetNaming, AssetReference, ReferenceQuery } from './naming.js'

/** References that an answer tells, at most. */
export const mostReferences = 1_000

/** Fields that say how many references there are. */
export const countFields = {
  hard_reference_count: doc(integer({ min: 0 }), 'How many keep it.'),
  soft_reference_count: doc(integer({ min: 0 }), 'How many do not.'),
}

export const countsOf = (holders: readonly AssetHolder[], asset_id: string) => {
  const namings = holders.flatMap((holder) => holder.namings)
  const count = (hard: boolean): number => namings.reduce((sum, naming) => sum + naming.count(asset_id, hard), 0)
  return { hard_reference_count: count(true), soft_reference_count: count(false) }
}

/** A reference with its place among all. */
export interface PlacedReference {
  readonly place: string
  readonly reference: AssetReference
}

/** Where the references of one naming stand among all of an asset: hard ones first, then by domain. */
interface Stretch {
  readonly name: string
  readonly hard: boolean
  readonly domain: string
  readonly naming: AssetNaming
}

const stretchesOf = (holders: readonly AssetHolder[]): Stretch[] =>
  [true, false]
    .flatMap((hard) =>
      holders.flatMap(({ domain, namings }) =>
        namings.map((naming, at) => ({ name: `${hard ? 'hard' : 'soft'} ${domain} ${at}`, hard, domain, naming })),
      ),
    )
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))

/** What a naming lists, as answers show it. */
const listIn = (
  { name, hard, domain, naming }: Stretch,
  query: Omit<ReferenceQuery, 'hard'>,
): readonly PlacedReference[] =>
  naming
    .list({ ...query, hard })
    .map(({ key, reference }) => ({ place: `${name}\0${key}`, reference: { ...reference, domain, hard } }))

/** At most `limit` of them from a place on: the others are not looked at. */
export const listReferences = (
  holders: readonly AssetHolder[],
  { asset_id, limit, beyond = '' }: Omit<ReferenceQuery, 'hard'>,
): PlacedReference[] => {
  const [from = '', key] = beyond.split('\0')
  const found: PlacedReference[] = []
  for (const stretch of stretchesOf(holders)) {
    if (found.length >= limit) return found
    if (stretch.name < from) continue
    found.push(
      ...listIn(stretch, { asset_id, limit: limit - found.length, beyond: stretch.name === from ? key : undefined }),
    )
  }
  return found
}

/** One that keeps it, if there is one. */
export const keeperOf = (holders: readonly AssetHolder[], asset_id: string): AssetReference | undefined => {
  for (const stretch of stretchesOf(holders).filter(({ hard }) => hard)) {
    const [first] = listIn(stretch, { asset_id, limit: 1 })
    if (first !== undefined) return first.reference
    // Somebody else's plugin may fail at the list.
    const { domain, naming } = stretch
    if (naming.count(asset_id, true) !== 0) return { domain, owner_id: 'unknown', role: 'unknown', hard: true }
  }
  return undefined
}

/** All of them in pages. */
export const referenceSource = (holders: readonly AssetHolder[], asset_id: string): PageSource<PlacedReference> => ({
  count: () => {
    const { hard_reference_count, soft_reference_count } = countsOf(holders, asset_id)
    return hard_reference_count + soft_reference_count
  },
  key: ({ place }) => place,
  list: ({ limit, beyond }) => listReferences(holders, { asset_id, limit, ...(beyond !== undefined && { beyond }) }),
})
