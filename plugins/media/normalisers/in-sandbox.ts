/** Normalisers whose work is done in the sandbox: one family each, whose files are the parts of the asset. */
import { object, type JobFamily, type JobLimits, type Sandbox } from '../../../core/plugin.js'
import { assetErrors, type AssetNormaliser } from '../assets/contract.js'

export interface SandboxedNormaliser {
  readonly id: string
  readonly media_types: readonly string[]
  /** Takes the media type as its options. Answers the parts that it made: `raw`, `text`, and `preview`, a PNG. */
  readonly program: URL
  readonly limits: JobLimits
}

export const inSandbox = (sandbox: Sandbox, spec: SandboxedNormaliser): AssetNormaliser => {
  const { id, media_types, program, limits } = spec
  const family: JobFamily<object> = { name: id, program, limits, answer: object({}) }
  return {
    id,
    media_types,
    async normalise({ media_type, bytes }) {
      const result = await sandbox.run(family, { bytes, options: media_type })
      if (result.type !== 'done') throw assetErrors.asset_invalid({ details: { media_type, reason: result.reason } })
      const preview = result.files.get('preview')
      return {
        bytes: result.files.get('raw') ?? bytes,
        text: result.files.get('text'),
        preview: preview && { media_type: 'image/png', bytes: preview },
      }
    },
  }
}
