/** Text and JSON: stored as they come, and their text is their own. */
import { isUtf8 } from 'node:buffer'
import type { Sandbox } from '../../../core/plugin.js'
import { assetErrors, type AssetNormaliser, type IncomingFile, type NormalisedFile } from '../assets/contract.js'
import { inSandbox } from './in-sandbox.js'

const refuse = (media_type: string, reason: string) => assetErrors.asset_invalid({ details: { media_type, reason } })

const mark = Buffer.from('\ufeff')

const asText = ({ media_type, bytes }: IncomingFile): NormalisedFile => {
  if (bytes.includes(0)) throw refuse(media_type, 'it holds a NUL, which no text has')
  if (!isUtf8(bytes)) throw refuse(media_type, 'it is not UTF-8')
  const marked = mark.equals(bytes.subarray(0, mark.length))
  return { bytes, text: marked ? bytes.subarray(mark.length) : bytes }
}

export const textNormaliser: AssetNormaliser = {
  id: 'text',
  media_types: ['text/plain', 'text/csv', 'text/markdown'],
  normalise: async (file) => asText(file),
}

export const jsonNormaliser = (sandbox: Sandbox): AssetNormaliser => {
  const reader = inSandbox(sandbox, {
    id: 'json',
    media_types: ['application/json'],
    program: new URL('./json-program.js', import.meta.url),
    limits: { ms: 10_000, memoryBytes: 1024 * 1024 * 1024, resultBytes: 0 },
  })
  return {
    ...reader,
    async normalise(file) {
      const text = asText(file)
      await reader.normalise({ ...file, bytes: text.text ?? file.bytes })
      return text
    },
  }
}
