/** Opus in Ogg: pages, the first with the head of the sound. */
import { markAt, type Sniffer } from './facts.js'

const pageHead = 27
const [beginning, rate] = [2, 48_000]
const unset = 0xffffffffffffffffn

interface Page {
  /** As long as its checksum says so. */
  readonly isWhole: boolean
  readonly start: number
  readonly end: number
  readonly flags: number
  readonly granule: bigint
}

const polynomial = 0x04c11db7
const remainders = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte << 24
  for (let bit = 0; bit < 8; bit += 1) rest = (rest << 1) ^ (rest < 0 ? polynomial : 0)
  return rest
})
/** Where a page says its checksum, which counts as zeros in it. */
const checksum = { start: 22, end: 26 }

const isWhole = (page: Buffer): boolean => {
  let sum = 0
  for (let at = 0; at < page.length; at += 1) {
    const byte = at >= checksum.start && at < checksum.end ? 0 : (page[at] ?? 0)
    sum = (sum << 8) ^ (remainders[(sum >>> 24) ^ byte] ?? 0)
  }
  return sum >>> 0 === page.readUInt32LE(checksum.start)
}

const pageAt = (bytes: Buffer, at: number): Page | undefined => {
  if (at + pageHead > bytes.length || markAt(bytes, at) !== 'OggS' || bytes[at + 4] !== 0) return undefined
  const start = at + pageHead + (bytes[at + 26] ?? 0)
  const length = bytes.subarray(at + pageHead, start).reduce((sum, each) => sum + each, 0)
  if (start + length > bytes.length) return undefined
  const end = start + length
  return {
    isWhole: isWhole(bytes.subarray(at, end)),
    start,
    end,
    flags: bytes[at + 5] ?? 0,
    granule: bytes.readBigUInt64LE(at + 6),
  }
}

export const sniffOpus: Sniffer = ({ bytes, refuse }) => {
  const first = pageAt(bytes, 0)
  if (first?.isWhole !== true || (first.flags & beginning) === 0) return refuse('it does not begin as one')
  if (bytes.toString('latin1', first.start, first.start + 8) !== 'OpusHead' || first.end - first.start < 19)
    return refuse('the sound in it is no Opus')
  const [channels, skipped] = [bytes[first.start + 9], bytes.readUInt16LE(first.start + 10)]
  let [pages, last, at] = [0, 0n, first.end]
  for (let page = pageAt(bytes, at); page !== undefined; page = pageAt(bytes, at)) {
    at = page.end
    if (!page.isWhole && pages === 0) return refuse('its head is damaged')
    if (!page.isWhole) continue
    pages += 1
    if (page.granule !== unset && page.granule > last) last = page.granule
  }
  if (pages < 2) return refuse('it has no sound')
  return { rate, channels, seconds: Math.max(0, Number(last) - skipped) / rate }
}
