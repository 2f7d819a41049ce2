/** What bytes are, by how they begin; nobody is asked who may be wrong. */
import type { FileSource } from './agent-file.js'

type Media = 'image/png' | 'image/jpeg' | 'audio/wav' | 'audio/webm'

const isAt = (bytes: Uint8Array, at: number, text: string): boolean =>
  Buffer.from(bytes.subarray(at, at + text.length)).toString('latin1') === text

const mediaOf = (bytes: Uint8Array): Media | undefined => {
  if (isAt(bytes, 0, '\u0089PNG\r\n\u001a\n')) return 'image/png'
  if (isAt(bytes, 0, '\u00ff\u00d8\u00ff')) return 'image/jpeg'
  if (isAt(bytes, 0, 'RIFF') && isAt(bytes, 8, 'WAVE')) return 'audio/wav'
  return isAt(bytes, 0, '\u001aE\u00df\u00a3') ? 'audio/webm' : undefined
}

/** Most bytes of one capture: 12 MiB. */
export const mostBytes = 12 * 1024 * 1024

const endings = { 'image/png': 'png', 'image/jpeg': 'jpg', 'audio/wav': 'wav', 'audio/webm': 'webm' } as const
const isSound = (kind: FileSource['kind']): boolean => kind === 'microphone_segment'

/** How the file of a capture ends that its source asks for. */
export const endingOf = ({ kind, driver }: FileSource): string =>
  isSound(kind) ? 'wav' : driver.kind === 'macos_camera_snapshot' ? 'jpg' : 'png'

/** What may be sent, or why it may not, in words that follow what it is. */
export type Fit =
  | { readonly ok: true; readonly media_type: Media; readonly ending: string }
  | { readonly ok: false; readonly problem: string }

export const fitOf = ({ kind }: FileSource, bytes: Uint8Array): Fit => {
  if (bytes.length === 0) return { ok: false, problem: 'is empty' }
  if (bytes.length > mostBytes) return { ok: false, problem: `has more than ${mostBytes / 1024 / 1024} MiB` }
  const media_type = mediaOf(bytes)
  const fits = media_type !== undefined && media_type.startsWith('audio/') === isSound(kind)
  if (fits) return { ok: true, media_type, ending: endings[media_type] }
  return { ok: false, problem: isSound(kind) ? 'is no WAV or WebM sound' : 'is no PNG or JPEG picture' }
}
