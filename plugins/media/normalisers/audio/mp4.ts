/** MP4: boxes, each with a length and a name, some around others. */
import { markAt, type Sniffer, type Sound } from './facts.js'

const around: ReadonlySet<string> = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'mvex', 'moof', 'traf'])

interface Box {
  readonly name: string
  readonly start: number
  readonly end: number
}

const boxAt = (bytes: Buffer, at: number): Box | undefined => {
  if (at + 8 > bytes.length) return undefined
  const declared = bytes.readUInt32BE(at)
  const [wide, rest] = [declared === 1, declared === 0]
  if (wide && at + 16 > bytes.length) return undefined
  const head = wide ? 16 : 8
  const size = rest ? bytes.length - at : wide ? Number(bytes.readBigUInt64BE(at + 8)) : declared
  return size < head ? undefined : { name: markAt(bytes, at + 4), start: at + head, end: at + size }
}

interface Found {
  begins: boolean
  data: number
  handlers: string[]
  timescale: number
  duration: number
  mediaScale: number
  /** Of a sample of fragments that say nothing of their own. */
  sampleDuration: number
  /** In the scale of the media. */
  fragments: number
  rate?: number
  channels?: number
}

const uint = (bytes: Buffer, at: number, end: number): number => (at + 4 <= end ? bytes.readUInt32BE(at) : 0)

/** The scale and the duration behind the stamps of a head, whose second version has longer ones. */
const timesOf = (bytes: Buffer, { start, end }: Box): { scale: number; duration: number } => {
  const long = bytes[start] === 1
  const at = start + (long ? 20 : 12)
  const duration = long ? uint(bytes, at + 4, end) * 2 ** 32 + uint(bytes, at + 8, end) : uint(bytes, at + 4, end)
  const unknown = long ? 2 ** 64 - 1 : 0xffffffff
  return { scale: uint(bytes, at, end), duration: duration >= unknown ? 0 : duration }
}

/** Samples of a fragment last what each says, or what all of them do. */
const runDuration = (bytes: Buffer, { start, end }: Box, each: number): number => {
  const flags = uint(bytes, start, end) & 0xffffff
  const count = uint(bytes, start + 4, end)
  const [own, entries] = [(flags & 0x100) !== 0, [0x100, 0x200, 0x400, 0x800].filter((flag) => (flags & flag) !== 0)]
  if (!own) return count * each
  let at = start + 8 + ((flags & 1) === 0 ? 0 : 4) + ((flags & 4) === 0 ? 0 : 4)
  let sum = 0
  for (let sample = 0; sample < count && at + 4 <= end; sample += 1, at += entries.length * 4)
    sum += uint(bytes, at, end)
  return sum
}

const headDuration = (bytes: Buffer, { start, end }: Box, usual: number): number => {
  const flags = uint(bytes, start, end) & 0xffffff
  const at = start + 8 + ((flags & 1) === 0 ? 0 : 8) + ((flags & 2) === 0 ? 0 : 4)
  return (flags & 8) === 0 ? usual : uint(bytes, at, end)
}

const take = (found: Found, bytes: Buffer, box: Box): void => {
  const { name, start, end } = box
  if (name === 'ftyp') found.begins = true
  else if (name === 'mdat') found.data += end - start
  else if (name === 'hdlr') found.handlers.push(markAt(bytes, start + 8))
  else if (name === 'mvhd') ({ scale: found.timescale, duration: found.duration } = timesOf(bytes, box))
  else if (name === 'mdhd') found.mediaScale = timesOf(bytes, box).scale
  else if (name === 'trex') found.sampleDuration = uint(bytes, start + 12, end)
  else if (name === 'tfhd') found.sampleDuration = headDuration(bytes, box, found.sampleDuration)
  else if (name === 'trun') found.fragments += runDuration(bytes, box, found.sampleDuration)
  else if (name === 'stsd' && found.handlers.at(-1) === 'soun' && start + 44 <= end) {
    found.channels = bytes.readUInt16BE(start + 32)
    found.rate = bytes.readUInt16BE(start + 40)
  }
}

const look = ({ bytes, refuse }: Sound): Found => {
  const found: Found = {
    begins: false,
    data: 0,
    handlers: [],
    timescale: 0,
    duration: 0,
    mediaScale: 0,
    sampleDuration: 0,
    fragments: 0,
  }
  for (let at = 0; at < bytes.length;) {
    const box = boxAt(bytes, at)
    if (box === undefined) return refuse('its boxes cannot be read')
    if (at === 0 && box.name !== 'ftyp') return refuse('it does not begin as one')
    if (box.end > bytes.length) return refuse('it is cut off')
    take(found, bytes, box)
    at = around.has(box.name) ? box.start : box.end
  }
  return found
}

export const sniffMp4: Sniffer = (sound) => {
  const { refuse } = sound
  const { data, handlers, timescale, duration, mediaScale, fragments, rate, channels } = look(sound)
  if (handlers.includes('vide')) return refuse('it has a picture')
  if (!handlers.includes('soun')) return refuse('it has no track of sound')
  if (data === 0) return refuse('it has no sound')
  const seconds =
    duration > 0 && timescale > 0 ? duration / timescale : mediaScale > 0 ? fragments / mediaScale : undefined
  // Rates above 65,535 Hz have no room there.
  return { rate: rate === 0 ? undefined : rate, channels, seconds }
}
