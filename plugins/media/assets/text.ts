/** Text and JSON: stored as they come, and their text is their own. */
import type { AssetNormaliser, IncomingFile } from './contract.js'
import { assetErrors } from './errors.js'

const refuse = (media_type: string, reason: string) => assetErrors.asset_invalid({ details: { media_type, reason } })

const mark = Buffer.from('\ufeff')

const checkText = ({ media_type, bytes }: IncomingFile): string => {
  if (bytes.includes(0)) throw refuse(media_type, 'it holds a NUL, which no text has')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw refuse(media_type, 'it is not UTF-8')
  }
}
const checkJson = (media_type: string, text: string): void => {
  try {
    JSON.parse(text)
  } catch {
    throw refuse(media_type, 'it is not JSON')
  }
}

export const textNormaliser: AssetNormaliser = {
  id: 'text',
  media_types: ['text/plain', 'text/csv', 'text/markdown', 'application/json'],
  async normalise(file) {
    const { media_type, bytes } = file
    const text = checkText(file)
    if (media_type === 'application/json') checkJson(media_type, text)
    const marked = mark.equals(bytes.subarray(0, mark.length))
    return { bytes, text: marked ? bytes.subarray(mark.length) : bytes }
  },
}
