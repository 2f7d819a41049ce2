/** What a file is, by how it begins: what its sender says of it does not count. */
import type { SourceKind } from '../record/structs.js'

const text = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.subarray(from, to)).toString('latin1')

const signatures: readonly { readonly type: string; readonly fits: (bytes: Uint8Array) => boolean }[] = [
  { type: 'image/png', fits: (bytes) => text(bytes, 0, 8) === '\u0089PNG\r\n\u001a\n' },
  { type: 'image/jpeg', fits: (bytes) => text(bytes, 0, 3) === '\u00ff\u00d8\u00ff' },
  { type: 'audio/wav', fits: (bytes) => text(bytes, 0, 4) === 'RIFF' && text(bytes, 8, 12) === 'WAVE' },
  { type: 'audio/webm', fits: (bytes) => text(bytes, 0, 4) === '\u001aE\u00df\u00a3' },
]

/** Undefined for a file of no kind that sources send. */
export const detectedType = (bytes: Uint8Array): string | undefined => signatures.find(({ fits }) => fits(bytes))?.type

/** How the file of an observation ends. */
export const endingOf = (media_type: string): string =>
  media_type === 'image/jpeg' ? 'jpg' : media_type.slice(media_type.indexOf('/') + 1)

const pictures = ['image/png', 'image/jpeg']
/** What sources of each kind send. */
export const typesOf: Readonly<Record<SourceKind, readonly string[]>> = {
  screen_snapshot: pictures,
  webcam_snapshot: pictures,
  microphone_segment: ['audio/wav', 'audio/webm'],
}
