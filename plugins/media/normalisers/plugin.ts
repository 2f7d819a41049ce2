import { definePlugin, Sandbox } from '../../../core/plugin.js'
import { AssetNormalisers } from '../assets/contract.js'
import { StatusSections } from '../../operator/status/contract.js'
import { inSandbox } from './in-sandbox.js'
import { sandboxHealth, sandboxSection } from './status.js'
import { jsonNormaliser, textNormaliser } from './text.js'

const audioTypes = 'wav webm mpeg mpga opus aac flac mp4 m4a pcm l16 l24'.split(' ').map((kind) => `audio/${kind}`)
const mebibyte = 1024 * 1024

export default definePlugin({
  id: 'normalisers',
  version: '1.0.0',
  api: 1,
  summary: 'Looks at files before they are stored: text, JSON, pictures, PDFs, drawings and sound.',
  needs: { sandbox: Sandbox },
  register(ctx, { sandbox }) {
    ctx.contribute(StatusSections, sandboxSection(sandbox))
    ctx.health(sandboxHealth(sandbox))
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
      inSandbox(sandbox, {
        id: 'dxf',
        media_types: ['application/dxf'],
        program: new URL('./dxf-program.js', import.meta.url),
        limits: { ms: 10_000, memoryBytes: 768 * mebibyte, resultBytes: 4 * mebibyte },
      }),
      inSandbox(sandbox, {
        id: 'audio',
        media_types: audioTypes,
        program: new URL('./audio-program.js', import.meta.url),
        limits: { ms: 10_000, memoryBytes: 256 * mebibyte, resultBytes: 0 },
      }),
    )
  },
})
