/**
 * Rows and links of any number in a few words: the sum of their digests, in which their order does not matter. A digest
 * has two halves of 32 bits, so that one that is wrong hides from the sum once in 2^64.
 */
import type { Cell } from '../../tables/rows.js'

export interface Digest {
  a: number
  b: number
}

export const noDigest = (): Digest => ({ a: 0, b: 0 })

const textTag = 0x10000
const halves = { a: { seed: 0x9e3779b9, prime: 0x85ebca77 }, b: { seed: 0x41c6ce57, prime: 0x9e3779b1 } } as const

/** Each step can be undone, so that cells which differ in one place never have the same half. */
const mix = (hash: number, word: number, prime: number): number =>
  Math.imul(((hash << 5) | (hash >>> 27)) ^ word, prime)

const halfOf = (cells: readonly Cell[], { seed, prime }: { readonly seed: number; readonly prime: number }): number => {
  let hash: number = seed
  for (const cell of cells) {
    if (typeof cell === 'number') {
      hash = mix(mix(hash, cell | 0, prime), Math.floor(cell / 2 ** 32), prime)
      continue
    }
    hash = mix(hash, textTag + cell.length, prime)
    for (let at = 0; at < cell.length; at += 1) hash = mix(hash, cell.charCodeAt(at), prime)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d)
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b)
  return hash ^ (hash >>> 16)
}

export const digestOf = (cells: readonly Cell[]): Digest => ({ a: halfOf(cells, halves.a), b: halfOf(cells, halves.b) })

/** Adds a digest so many times; -1 takes it away. */
export const add = (sum: Digest, cells: readonly Cell[], times = 1): void => {
  sum.a = (sum.a + times * halfOf(cells, halves.a)) | 0
  sum.b = (sum.b + times * halfOf(cells, halves.b)) | 0
}

export const isSame = (one: Digest, other: Digest): boolean => one.a === other.a && one.b === other.b
