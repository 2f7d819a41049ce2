/** AAC: frames with a head each (ADTS), or one head for all of it (ADIF). */
import { behindTag, markAt, walkFrames, type Sniffer, type SoundFrame } from './facts.js'

const rates = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350]
const headBytes = 7
/** The head of an ADIF file, without its tables. */
const leastAdif = 17

const frameAt =
  (bytes: Buffer) =>
  (at: number): SoundFrame | undefined => {
    if (at + headBytes > bytes.length) return undefined
    const [second, third, fourth, fifth, sixth, seventh] = bytes.subarray(at + 1, at + headBytes)
    if (bytes[at] !== 0xff || ((second ?? 0) & 0xf6) !== 0xf0) return undefined
    const rate = rates[((third ?? 0) >> 2) & 15]
    const channels = (((third ?? 0) & 1) << 2) | ((fourth ?? 0) >> 6)
    const length = (((fourth ?? 0) & 3) << 11) | ((fifth ?? 0) << 3) | ((sixth ?? 0) >> 5)
    if (rate === undefined || length <= headBytes) return undefined
    // Where it says nothing of channels, the frames themselves do.
    return { length, samples: 1024 * (((seventh ?? 0) & 3) + 1), rate, channels: channels === 0 ? 1 : channels }
  }

export const sniffAac: Sniffer = ({ bytes, refuse }) => {
  if (markAt(bytes, 0) === 'ADIF') return bytes.length < leastAdif ? refuse('it is cut off') : {}
  const { count, seconds, end, first } = walkFrames(bytes, behindTag(bytes), frameAt(bytes))
  if (first === undefined) return refuse('it has no whole frame')
  if (count === 1 && end < bytes.length) return refuse('it has no whole frame behind the first')
  return { rate: first.rate, channels: first.channels === 7 ? 8 : first.channels, seconds }
}
