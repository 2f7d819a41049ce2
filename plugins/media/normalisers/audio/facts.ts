/** What a container says of the sound in it, and how its bytes are read. */
import type { Refuse } from '../../../../core/plugin.js'

/** What is declared; a raw format declares nothing. */
export interface Facts {
  /** Hz. */
  readonly rate?: number | undefined
  readonly channels?: number | undefined
  readonly seconds?: number | undefined
}

export interface Sound {
  readonly bytes: Buffer
  readonly refuse: Refuse
}

/** Looks at one container: refuses what is not whole, or holds no sound. */
export type Sniffer = (sound: Sound) => Facts

/** A four-character mark at a place. */
export const markAt = (bytes: Buffer, at: number): string => bytes.toString('latin1', at, at + 4)

/** The first byte behind a tag that players write before their files (ID3v2). */
export const behindTag = (bytes: Buffer): number => {
  if (bytes.toString('latin1', 0, 3) !== 'ID3' || bytes.length < 10) return 0
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + ((bytes[at] ?? 0) & 127), 0)
  return 10 + size + (((bytes[5] ?? 0) & 16) === 0 ? 0 : 10)
}

/** A frame of a format that is nothing but frames. */
export interface SoundFrame {
  readonly length: number
  readonly samples: number
  readonly rate: number
  readonly channels: number
}

/** Whole frames one behind the other, as far as they go. */
export const walkFrames = (
  bytes: Buffer,
  start: number,
  frameAt: (at: number) => SoundFrame | undefined,
): {
  readonly count: number
  readonly seconds: number
  readonly end: number
  readonly first: SoundFrame | undefined
} => {
  let [at, count, seconds] = [start, 0, 0]
  let first: SoundFrame | undefined
  for (;;) {
    const frame = at < bytes.length ? frameAt(at) : undefined
    if (frame === undefined || at + frame.length > bytes.length) return { count, seconds, end: at, first }
    first ??= frame
    at += frame.length
    count += 1
    seconds += frame.samples / frame.rate
  }
}
