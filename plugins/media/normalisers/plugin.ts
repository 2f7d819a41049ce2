import { definePlugin, Sandbox } from '../../../core/plugin.js'
import { AssetNormalisers } from '../assets/contract.js'
import { inSandbox } from './in-sandbox.js'
import { jsonNormaliser, textNormaliser } from './text.js'

const mebibyte = 1024 * 1024

export default definePlugin({
  id: 'normalisers',
  version: '1.0.0',
  api: 1,
  summary: 'Looks at files before they are stored: text, JSON, pictures and PDFs.',
  needs: { sandbox: Sandbox },
  register(ctx, { sandbox }) {
    ctx.contribute(
      AssetNormalisers,
      textNormaliser,
      jsonNormaliser(sandbox),
      inSandbox(sandbox, {
        id: 'image',
        media_types: ['image/png', 'image/jpeg'],
        program: new URL('./image-program.js', import.meta.url),
        limits: { ms: 10_000, memoryBytes: 768 * mebibyte, resultBytes: 4 * mebibyte },
      }),
      inSandbox(sandbox, {
        id: 'pdf',
        media_types: ['application/pdf'],
        program: new URL('./pdf-program.js', import.meta.url),
        limits: { ms: 10_000, memoryBytes: 768 * mebibyte, resultBytes: 4 * mebibyte },
      }),
    )
  },
})
