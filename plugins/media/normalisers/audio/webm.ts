/** WebM: elements, each with an id, a length and what is in it, which may be further elements. */
import type { Facts, Sniffer, Sound } from './facts.js'

const ids = {
  head: 0x1a45dfa3,
  documentType: 0x4282,
  segment: 0x18538067,
  info: 0x1549a966,
  scale: 0x2ad7b1,
  duration: 0x4489,
  tracks: 0x1654ae6b,
  track: 0xae,
  trackType: 0x83,
  codec: 0x86,
  audio: 0xe1,
  rate: 0xb5,
  channels: 0x9f,
  cluster: 0x1f43b675,
  clusterTime: 0xe7,
  group: 0xa0,
  block: 0xa1,
  simpleBlock: 0xa3,
} as const
/** What is in them follows as if they were not there: of a recording under way some have no length. */
const around: ReadonlySet<number> = new Set([
  ids.head,
  ids.segment,
  ids.info,
  ids.tracks,
  ids.track,
  ids.audio,
  ids.cluster,
  ids.group,
])

const [video, sound] = [1, 2]
const codecs: ReadonlySet<string> = new Set(['A_OPUS', 'A_VORBIS'])

interface Element {
  readonly id: number
  readonly start: number
  /** Infinity where it has no length. */
  readonly end: number
}

/** Bytes of a number that tells its own length, by its first byte. */
const widthOf = (first: number): number => (first === 0 ? 9 : Math.clz32(first) - 23)

const elementAt = (bytes: Buffer, at: number): Element | undefined => {
  const idWidth = widthOf(bytes[at] ?? 0)
  const sizeWidth = widthOf(bytes[at + idWidth] ?? 0)
  const start = at + idWidth + sizeWidth
  if (idWidth > 4 || sizeWidth > 8 || start > bytes.length) return undefined
  let size = (bytes[at + idWidth] ?? 0) & ((1 << (8 - sizeWidth)) - 1)
  for (let next = at + idWidth + 1; next < start; next += 1) size = size * 256 + (bytes[next] ?? 0)
  const hasLength = size !== 2 ** (7 * sizeWidth) - 1
  return { id: bytes.readUIntBE(at, idWidth), start, end: hasLength ? start + size : Infinity }
}

const whole = (bytes: Buffer, { start, end }: Element): number =>
  end > start && end - start <= 6 ? bytes.readUIntBE(start, end - start) : 0
const float = (bytes: Buffer, { start, end }: Element): number | undefined => {
  if (end - start === 4) return bytes.readFloatBE(start)
  return end - start === 8 ? bytes.readDoubleBE(start) : undefined
}

interface Found {
  documentType: string
  scale: number
  duration?: number | undefined
  readonly tracks: { type: number; codec: string; rate?: number | undefined; channels: number }[]
  clusterTime: number
  blocks: number
  last: number
}

const take = (found: Found, bytes: Buffer, element: Element): void => {
  const { id, start, end } = element
  const track = found.tracks.at(-1)
  if (id === ids.track) found.tracks.push({ type: 0, codec: '', channels: 1 })
  else if (id === ids.documentType) found.documentType = bytes.toString('latin1', start, Math.min(end, start + 16))
  else if (id === ids.scale) found.scale = whole(bytes, element)
  else if (id === ids.duration) found.duration = float(bytes, element)
  else if (id === ids.clusterTime) found.clusterTime = whole(bytes, element)
  else if (id === ids.block || id === ids.simpleBlock) {
    found.blocks += 1
    // A number of a track of one byte comes before the time within the cluster.
    if (end - start > 4) found.last = Math.max(found.last, found.clusterTime + bytes.readInt16BE(start + 1))
  } else if (track !== undefined) {
    if (id === ids.trackType) track.type = whole(bytes, element)
    else if (id === ids.codec)
      track.codec = bytes.toString('latin1', start, Math.min(end, start + 32)).replace(/\0+$/u, '')
    else if (id === ids.rate) track.rate = float(bytes, element)
    else if (id === ids.channels) track.channels = whole(bytes, element)
  }
}

const look = ({ bytes, refuse }: Sound): Found => {
  const found: Found = { documentType: '', scale: 1_000_000, tracks: [], clusterTime: 0, blocks: 0, last: 0 }
  /** Where the elements end that are around the next one. */
  const ends: number[] = [Infinity]
  for (let at = 0; at < bytes.length;) {
    const element = elementAt(bytes, at)
    if (element === undefined) return refuse('its elements cannot be read')
    while (at >= (ends.at(-1) ?? Infinity)) ends.pop()
    const [inside, most] = [around.has(element.id), ends.at(-1) ?? Infinity]
    if (element.end !== Infinity && element.end > most) return refuse('its elements contradict each other')
    if (inside) ends.push(Math.min(element.end, most))
    if (!inside && element.end > bytes.length) {
      // The last block of a recording that was broken off.
      if (found.blocks > 0) break
      return refuse('it is cut off')
    }
    take(found, bytes, element)
    at = inside ? element.start : element.end
  }
  return found
}

export const sniffWebm: Sniffer = (given): Facts => {
  const { bytes, refuse } = given
  if (bytes.length < 4 || bytes.readUInt32BE(0) !== ids.head) return refuse('it does not begin as one')
  const { documentType, tracks, blocks, scale, duration, last } = look(given)
  if (documentType !== 'webm') return refuse('it is another kind of Matroska file')
  if (tracks.some(({ type }) => type === video)) return refuse('it has a picture')
  const track = tracks.find(({ type, codec }) => type === sound && codecs.has(codec))
  if (track === undefined) return refuse('it has no track of Opus or Vorbis')
  if (blocks === 0) return refuse('it has no sound')
  return { rate: track.rate, channels: track.channels, seconds: ((duration ?? last) * scale) / 1e9 }
}
