/** A file that a person names on a command line, as a request takes it. */
import path from 'node:path'
import { isUtf8 } from 'node:buffer'
import { commandErrors, readGivenBytes } from '../../../core/plugin.js'
import { mostAssetBytes } from './normalising/normaliser.js'

const typesByEnding: Readonly<Record<string, string>> = {
  '.txt': 'text/plain',
  '.log': 'text/plain',
  '.md': 'text/markdown',
  '.csv': 'text/csv',
  '.json': 'application/json',
  '.pdf': 'application/pdf',
  '.dxf': 'application/dxf',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.wav': 'audio/wav',
  '.webm': 'audio/webm',
  '.mp3': 'audio/mpeg',
  '.opus': 'audio/opus',
  '.aac': 'audio/aac',
  '.flac': 'audio/flac',
  '.mp4': 'audio/mp4',
  '.m4a': 'audio/m4a',
}

export interface UploadBody {
  readonly file_name: string
  readonly media_type: string
  readonly content_base64: string
}

/** What it is, by the end of its name; text where that says nothing and it is some. */
const typeOf = (file: string, bytes: Buffer): string => {
  const known = typesByEnding[path.extname(file).toLowerCase()]
  if (known !== undefined) return known
  if (isUtf8(bytes)) return 'text/plain'
  const endings = Object.keys(typesByEnding).join(', ')
  throw commandErrors.file_kind_unknown({ details: { file, endings } })
}

/** A file of the media type that is given, else of what it is. Throws `file_unreadable`, `file_kind_unknown`. */
export const givenFile = (file: string, media_type?: string): UploadBody => {
  const bytes = readGivenBytes(file, mostAssetBytes)
  return {
    file_name: path.basename(file),
    media_type: media_type ?? typeOf(file, bytes),
    content_base64: bytes.toString('base64'),
  }
}
