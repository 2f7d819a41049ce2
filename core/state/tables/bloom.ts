/**
 * A Bloom filter: tells for certain that a text is absent, and errs for one in seven hundred of those that are absent,
 * one in a hundred in tables of earlier versions. Each error reads a block.
 */

const bitsPerText = 14
const hashes = 7

export interface Bloom {
  mayHave(text: string): boolean
}

/** FNV-1a over the UTF-16 units, then mixed; two halves stand for all hashes of a text. */
const hashOf = (text: string, seed: number): number => {
  let hash = 0x811c9dc5 ^ seed
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

const seeds = [0, 0x9e3779b9] as const

/** Takes texts, of which nobody knows the number, and makes the filter at the end. */
export interface BloomDraft {
  add(text: string): void
  /** The bits, as base64. */
  finish(): string
}

export const createBloomDraft = (): BloomDraft => {
  let pairs = new Uint32Array(1024)
  let used = 0
  const add = (text: string): void => {
    if (used + 2 > pairs.length) {
      const larger = new Uint32Array(pairs.length * 2)
      larger.set(pairs)
      pairs = larger
    }
    pairs[used] = hashOf(text, seeds[0])
    pairs[used + 1] = hashOf(text, seeds[1])
    used += 2
  }
  const finish = (): string => {
    const bits = Buffer.alloc(Math.max(8, Math.ceil(((used / 2) * bitsPerText) / 8)))
    const size = bits.length * 8
    for (let at = 0; at < used; at += 2)
      for (let n = 0; n < hashes; n += 1) {
        const bit = ((pairs[at] ?? 0) + n * (pairs[at + 1] ?? 0)) % size
        bits[bit >>> 3] = (bits[bit >>> 3] ?? 0) | (1 << (bit & 7))
      }
    return bits.toString('base64')
  }
  return { add, finish }
}

/** The hashes of the text that was asked for last: one text is looked for in the filter of each table. */
const asked = { text: '', start: hashOf('', seeds[0]), step: hashOf('', seeds[1]) }
const ask = (text: string): typeof asked => {
  if (asked.text !== text) {
    asked.text = text
    asked.start = hashOf(text, seeds[0])
    asked.step = hashOf(text, seeds[1])
  }
  return asked
}

export const readBloom = (base64: string): Bloom => {
  const bits = Buffer.from(base64, 'base64')
  const size = bits.length * 8
  return {
    mayHave: (text) => {
      const { start, step } = ask(text)
      for (let n = 0; n < hashes; n += 1) {
        const bit = (start + n * step) % size
        if (((bits[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0) return false
      }
      return true
    },
  }
}
