/** Normalisers that are never asked about a media type of theirs, because another one is. */
import { contributorOf, type HealthCheck, type Warning } from '../../../../core/plugin.js'
import { canonicalType } from './media-types.js'
import { normaliserOf, type AssetNormaliser } from './normaliser.js'

const warning = (normaliser: AssetNormaliser, media_type: string, asked: string): Warning => {
  const { id } = normaliser
  const plugin = contributorOf(normaliser) ?? id
  return {
    severity: 'warning',
    code: 'normaliser_unasked',
    message: `The normaliser ${id} is never asked about ${media_type}: ${asked} is, which was there before.`,
    action: `Take ${media_type} out of media_types of ${id} in the plugin ${plugin}.`,
    related_id: id,
  }
}

const unasked = (normalisers: readonly AssetNormaliser[], one: AssetNormaliser): Warning[] =>
  [...new Set(one.media_types.map(canonicalType))].flatMap((media_type) => {
    const asked = normaliserOf(normalisers, media_type)
    return asked === undefined || asked.id === one.id ? [] : [warning(one, media_type, asked.id)]
  })

export const unaskedHealth = (normalisers: () => readonly AssetNormaliser[]): HealthCheck => ({
  id: 'normalisers',
  check: () => normalisers().flatMap((one) => unasked(normalisers(), one)),
})
