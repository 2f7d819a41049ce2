/** FLAC: blocks that tell of the sound, then its frames. */
import { markAt, type Sniffer } from './facts.js'

const [blockHead, infoBytes] = [4, 34]

/** The first byte behind all blocks; undefined where they are cut off. */
const behindBlocks = (bytes: Buffer): number | undefined => {
  for (let at = blockHead; at + blockHead <= bytes.length;) {
    const last = ((bytes[at] ?? 0) & 128) !== 0
    at += blockHead + bytes.readUIntBE(at + 1, 3)
    if (last) return at
  }
  return undefined
}

export const sniffFlac: Sniffer = ({ bytes, refuse }) => {
  if (markAt(bytes, 0) !== 'fLaC') return refuse('it does not begin as one')
  const start = 2 * blockHead
  if (bytes.length < start + infoBytes || ((bytes[4] ?? 0) & 127) !== 0 || bytes.readUIntBE(5, 3) !== infoBytes)
    return refuse('it does not begin with what tells of the sound')
  const sound = behindBlocks(bytes)
  if (sound === undefined || sound + 2 > bytes.length) return refuse('it has no sound')
  if ((bytes.readUInt16BE(sound) & 0xfffe) !== 0xfff8) return refuse('it has no whole frame')
  const packed = bytes.readUIntBE(start + 10, 3)
  const rate = packed >> 4
  const samples = ((bytes[start + 13] ?? 0) & 15) * 2 ** 32 + bytes.readUInt32BE(start + 14)
  return { rate, channels: ((packed >> 1) & 7) + 1, seconds: rate === 0 ? 0 : samples / rate }
}
