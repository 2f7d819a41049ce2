/** Normalisers that are never asked about a media type of theirs, because another one is. */
import type { HealthCheck, Warning } from '../../../../core/plugin.js'
import { canonicalType } from './media-types.js'
import { normaliserOf, type AssetNormaliser } from './normaliser.js'

const warning = (id: string, media_type: string, asked: string): Warning => ({
  severity: 'warning',
  code: 'normaliser_unasked',
  message: `The normaliser ${id} is never asked about ${media_type}: ${asked} is, which was there before.`,
  action: `Take ${media_type} out of media_types in the plugin of ${id}.`,
  related_id: id,
})

const unasked = (normalisers: readonly AssetNormaliser[], { id, media_types }: AssetNormaliser): Warning[] =>
  [...new Set(media_types.map(canonicalType))].flatMap((media_type) => {
    const asked = normaliserOf(normalisers, media_type)
    return asked === undefined || asked.id === id ? [] : [warning(id, media_type, asked.id)]
  })

export const unaskedHealth = (normalisers: () => readonly AssetNormaliser[]): HealthCheck => ({
  id: 'normalisers',
  check: () => normalisers().flatMap((one) => unasked(normalisers(), one)),
})
