/** Opus in Ogg: pages, the first with the head of the sound. */
import { markAt, type Sniffer } from './facts.js'

const pageHead = 27
const [beginning, rate] = [2, 48_000]
const unset = 0xffffffffffffffffn

interface Page {
  readonly start: number
  readonly end: number
  readonly flags: number
  readonly granule: bigint
}

const pageAt = (bytes: Buffer, at: number): Page | undefined => {
  if (at + pageHead > bytes.length || markAt(bytes, at) !== 'OggS' || bytes[at + 4] !== 0) return undefined
  const start = at + pageHead + (bytes[at + 26] ?? 0)
  const length = bytes.subarray(at + pageHead, start).reduce((sum, each) => sum + each, 0)
  if (start + length > bytes.length) return undefined
  return { start, end: start + length, flags: bytes[at + 5] ?? 0, granule: bytes.readBigUInt64LE(at + 6) }
}

export const sniffOpus: Sniffer = ({ bytes, refuse }) => {
  const first = pageAt(bytes, 0)
  if (first === undefined || (first.flags & beginning) === 0) return refuse('it does not begin as one')
  if (bytes.toString('latin1', first.start, first.start + 8) !== 'OpusHead' || first.end - first.start < 19)
    return refuse('the sound in it is no Opus')
  const [channels, skipped] = [bytes[first.start + 9], bytes.readUInt16LE(first.start + 10)]
  let [pages, last, at] = [0, 0n, first.end]
  for (let page = pageAt(bytes, at); page !== undefined; page = pageAt(bytes, at)) {
    pages += 1
    if (page.granule !== unset && page.granule > last) last = page.granule
    at = page.end
  }
  if (pages < 2) return refuse('it has no sound')
  return { rate, channels, seconds: Math.max(0, Number(last) - skipped) / rate }
}
