/** The profile `visual_preview`: a picture of the subject. */
import type { Asset, Assets } from '../assets/contract.js'
import type { DerivationProfile, DerivationWish } from './contract.js'
import { derivationErrors } from './errors.js'
import { derivedName } from './naming.js'

const isPicture = ({ media_type }: Asset): boolean => media_type.startsWith('image/')

/** What there is a picture of. Throws `visual_preview_unsupported`. */
const pictured = ({ material: { asset } }: DerivationWish): Asset => {
  if (asset !== undefined && (isPicture(asset) || asset.preview_image_uri !== undefined)) return asset
  const subject = asset === undefined ? 'words' : `${asset.media_type} as asset ${asset.asset_id} is`
  throw derivationErrors.visual_preview_unsupported({ details: { subject } })
}

export const visualPreview = (assets: Assets): DerivationProfile => ({
  profile: 'visual_preview',
  version: 1,
  check(wish) {
    if (wish.options !== undefined)
      throw derivationErrors.derivation_invalid({
        details: { reason: 'only a canonical text is written down' },
        errors: [{ path: 'body.transcription', rule: 'goes with the profile canonical_text alone' }],
      })
    pictured(wish)
  },
  async derive(wish) {
    const asset = pictured(wish)
    if (isPicture(asset)) return { type: 'completed', result: asset }
    const bytes = await assets.read(asset.asset_id, 'preview')
    const media_type = asset.preview_image_media_type ?? 'image/png'
    const file_name = derivedName(asset.file_name, '.preview.png')
    return { type: 'completed', result: await assets.add({ file_name, media_type, bytes }) }
  },
})
