/** The profile `canonical_text`: the words in the subject; what is said in sound is written down. */
import { fault, Problem } from '../../../core/plugin.js'
import { fileLine, type Asset, type Assets } from '../assets/contract.js'
import type { DerivationProfile, DerivationWish, Derived, Material } from './contract.js'
import { wholeFingerprint } from './derive.js'
import { derivationErrors } from './errors.js'
import { derivedName } from './naming.js'
import { optionsDigest } from './options.js'
import type { Speech } from './speech.js'

const isSound = (asset: Asset | undefined): asset is Asset => asset?.media_type.startsWith('audio/') === true

const unfit = (reason: string, rule: string, path = 'body.transcription') =>
  derivationErrors.derivation_invalid({ details: { reason }, errors: [{ path, rule }] })

export interface CanonicalTextParts {
  readonly assets: Assets
  readonly speech: Speech
}

export const canonicalText = ({ assets, speech }: CanonicalTextParts): DerivationProfile => {
  const textAsset = (name: string, bytes: Uint8Array): Promise<Asset> =>
    assets.add({ file_name: derivedName(name, '.txt'), media_type: 'text/plain', bytes })
  const completed = (result: Asset): Derived => ({ type: 'completed', result })

  /** The words that are there already; undefined if there are none. */
  const present = async ({ asset, canonical, words }: Material): Promise<Asset | undefined> => {
    if (words !== undefined) return textAsset('words', Buffer.from(words))
    if (canonical?.asset !== undefined) return canonical.asset
    if (canonical === undefined || asset === undefined) return undefined
    return textAsset(asset.file_name, await assets.read(asset.asset_id, 'text'))
  }
  const plans = new WeakMap<Material, ReturnType<Speech['plan']>>()
  /** Asked once for each request, which has a material of its own: all that comes of it is of one plan. */
  const planFor = (material: Material): ReturnType<Speech['plan']> => {
    const plan = plans.get(material) ?? speech.plan()
    plans.set(material, plan)
    return plan
  }
  /** True where sound is listened to, whatever words it has. */
  const isAnew = ({ material, options, force }: DerivationWish): boolean =>
    options !== undefined || (force && material.canonical?.given !== true && !(planFor(material) instanceof Problem))
  const written = (asset: Asset, { material, options }: DerivationWish, signal: AbortSignal): Promise<Derived> =>
    speech.written(planFor(material), { asset, options }, signal)

  return {
    profile: 'canonical_text',
    version: 1,
    check({ material, options }) {
      if (options === undefined) return
      if (!isSound(material.asset)) throw unfit('there is no speech in it', 'goes with sound alone')
      const planned = planFor(material)
      if (planned instanceof Problem) throw planned
      const { plan } = planned
      if (options.timestamp_granularities !== undefined && !plan.tellsTimes)
        throw unfit(
          `${plan.model} of route ${plan.route_id} tells no times`,
          'needs a model that tells the times of words',
          'body.transcription.timestamp_granularities',
        )
      if (options.prompt !== undefined && !plan.takesPrompt)
        throw unfit(
          `route ${plan.route_id} passes no prompt on`,
          'needs a route that passes it on',
          'body.transcription.prompt',
        )
    },
    fingerprint({ material, options }) {
      const planned = isSound(material.asset) ? planFor(material) : undefined
      if (planned === undefined || planned instanceof Problem) return wholeFingerprint(material)
      const base = options === undefined ? wholeFingerprint(material) : material.fingerprint
      return `${base}:transcription:v1:${optionsDigest(planned.plan, options)}`
    },
    async derive(wish, signal) {
      const { asset } = wish.material
      if (isSound(asset) && isAnew(wish)) return written(asset, wish, signal)
      const words = await present(wish.material)
      if (words !== undefined) return completed(words)
      if (isSound(asset)) return written(asset, wish, signal)
      if (asset === undefined) throw fault('a subject is words or has a file')
      const { asset_id: id, file_name, media_type } = asset
      return completed(await textAsset(file_name, Buffer.from(fileLine({ id, file_name, media_type }))))
    },
  }
}
