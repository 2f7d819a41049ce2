/** A file that a person names on a command line, as a request takes it. */
import path from 'node:path'
import { readGivenBytes } from '../../../core/plugin.js'

/** Most bytes of one file: 12 MiB. */
export const mostAssetBytes = 12 * 1024 * 1024

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

/** What it is, by the end of its name: text where that says nothing. Throws `file_unreadable`. */
export const givenFile = (file: string): UploadBody => ({
  file_name: path.basename(file),
  media_type: typesByEnding[path.extname(file).toLowerCase()] ?? 'text/plain',
  content_base64: readGivenBytes(file, mostAssetBytes).toString('base64'),
})
