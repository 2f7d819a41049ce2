/** MP3: frames of MPEG audio, layer III. */
import { behindTag, walkFrames, type Sniffer, type SoundFrame } from './facts.js'

/** kbit/s by the index in a frame, for MPEG 1 and for 2 and 2.5. */
const bitrates = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const
const rates = [44_100, 48_000, 32_000] as const
/** MPEG 1 by the bits of the version, then 2 and 2.5, each half as fast. */
const [mpeg1, mpeg2, mpeg25] = [3, 2, 0]
const halves: Readonly<Record<number, number>> = { [mpeg1]: 1, [mpeg2]: 2, [mpeg25]: 4 }
const layer3 = 1

const frameAt =
  (bytes: Buffer) =>
  (at: number): SoundFrame | undefined => {
    if (at + 4 > bytes.length) return undefined
    const head = bytes.readUInt32BE(at)
    const version = (head >>> 19) & 3
    const half = halves[version]
    if (head >>> 21 !== 0x7ff || half === undefined || ((head >>> 17) & 3) !== layer3) return undefined
    const bitrate = bitrates[half === 1 ? 0 : 1][(head >>> 12) & 15] ?? 0
    const rate = (rates[(head >>> 10) & 3] ?? 0) / half
    if (bitrate === 0 || rate === 0) return undefined
    const samples = half === 1 ? 1152 : 576
    const length = Math.floor((samples / 8) * ((bitrate * 1000) / rate)) + ((head >>> 9) & 1)
    return { length, samples, rate, channels: ((head >>> 6) & 3) === 3 ? 1 : 2 }
  }

export const sniffMp3: Sniffer = ({ bytes, refuse }) => {
  const start = behindTag(bytes)
  const { count, seconds, end, first } = walkFrames(bytes, start, frameAt(bytes))
  if (first === undefined) return refuse('it has no whole frame')
  // One alone may be chance.
  if (count === 1 && end < bytes.length) return refuse('it has no whole frame behind the first')
  return { rate: first.rate, channels: first.channels, seconds }
}
