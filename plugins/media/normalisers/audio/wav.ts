/** WAV: RIFF chunks around uncompressed samples. */
import { markAt, type Facts, type Sniffer, type Sound } from './facts.js'

const [integers, floats, extensible] = [1, 3, 0xfffe]
const widths: Readonly<Record<number, readonly number[]>> = { [integers]: [8, 16, 24, 32], [floats]: [32, 64] }
/** The tail of the name of a format that an extensible one gives. */
const formatTail = '000000001000800000aa00389b71'
/** Who writes to a pipe does not know the length. */
const unknown = 0xffffffff

interface Format extends Facts {
  readonly rate: number
  readonly align: number
}

const formatOf = ({ bytes, refuse }: Sound, at: number, size: number): Format => {
  if (size < 16) return refuse('its format is cut off')
  const declared = bytes.readUInt16LE(at)
  const named = declared === extensible && size >= 40 && bytes.toString('hex', at + 26, at + 40) === formatTail
  const kind = named ? bytes.readUInt16LE(at + 24) : declared
  const [channels, rate, perSecond, align, bits] = [
    bytes.readUInt16LE(at + 2),
    bytes.readUInt32LE(at + 4),
    bytes.readUInt32LE(at + 8),
    bytes.readUInt16LE(at + 12),
    bytes.readUInt16LE(at + 14),
  ]
  if (widths[kind]?.includes(bits) !== true) return refuse('its samples are in no format that is taken')
  if (align !== (channels * bits) / 8 || perSecond !== rate * align) return refuse('its format contradicts itself')
  return { channels, rate, align }
}

export const sniffWav: Sniffer = (sound) => {
  const { bytes, refuse } = sound
  if (markAt(bytes, 0) !== 'RIFF' || markAt(bytes, 8) !== 'WAVE') return refuse('it does not begin as one')
  let format: Format | undefined
  for (let at = 12; at + 8 <= bytes.length;) {
    const [mark, declared, start] = [markAt(bytes, at), bytes.readUInt32LE(at + 4), at + 8]
    const size = mark === 'data' && declared === unknown ? bytes.length - start : declared
    if (start + size > bytes.length) return refuse('it is cut off')
    if (mark === 'fmt ') {
      if (format !== undefined) return refuse('it has two formats')
      format = formatOf(sound, start, size)
    }
    if (mark === 'data') {
      if (format === undefined) return refuse('its samples come before their format')
      if (size === 0 || size % format.align !== 0) return refuse('its samples are not whole')
      return { ...format, seconds: size / format.align / format.rate }
    }
    at = start + size + (size % 2)
  }
  return refuse('it has no samples')
}
