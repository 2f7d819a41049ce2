/**
 * The watermark: the last durable sequence, replaced once a second when
 * something changed, and `clean` at a close. A log that ends before it was
 * damaged, not torn.
 */
import type { Disk } from '../disk/disk.js'
import { seal, unseal } from './sealed.js'

export interface Watermark {
  readonly v: 1
  readonly k: 'watermark'
  readonly root: string
  readonly generation: number
  readonly sequence: number
  /** The daemon closed in order: the log of this generation ends exactly here. */
  readonly clean: boolean
}

export type WatermarkRead = { readonly watermark: Watermark | undefined; readonly broken: boolean }

export const readWatermark = (disk: Disk, path: string): WatermarkRead => {
  const bytes = disk.readFile(path)
  if (bytes === undefined) return { watermark: undefined, broken: false }
  const watermark = unseal<Watermark>(bytes)
  return { watermark, broken: watermark === undefined }
}

export const writeWatermark = (
  disk: Disk,
  path: string,
  { root, generation, sequence, clean }: Omit<Watermark, 'v' | 'k'>,
): Promise<void> => disk.replace(path, seal({ v: 1, k: 'watermark', root, generation, sequence, clean }))
