import { randomBytes } from 'node:crypto'
import type { Clock } from './clock.js'

/** Makes ids that sort by the time they were made and are never guessable. */
export interface Ids {
  /**
   * `<prefix>_<26 characters>` in Crockford's base 32: 10 of Unix ms, 2 of a counter, 14 random (70 bits). Within one
   * life of the daemon they sort in order of making.
   */
  make(prefix: string): string
  /** `bytes` random bytes in hex. */
  random(bytes: number): string
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const digit = (value: number): string => alphabet[value & 31] ?? ''

/** `length` digits, most significant first. Division, because bits above 32 are lost to shifts. */
const encode = (value: number, length: number): string => {
  let text = ''
  for (let rest = value, n = 0; n < length; n += 1, rest = Math.floor(rest / 32)) text = digit(rest % 32) + text
  return text
}

/** Random bytes taken from a reserve: asking the kernel for each id costs more than the id. */
const createReserve = (size: number) => {
  let reserve = randomBytes(size)
  let used = 0
  return (count: number): Uint8Array => {
    if (used + count > reserve.length) [reserve, used] = [randomBytes(Math.max(size, count)), 0]
    used += count
    return reserve.subarray(used - count, used)
  }
}

export const createIds = (clock: Clock): Ids => {
  const take = createReserve(4096)
  let at = 0
  let time = ''
  let counter = 0
  const stamp = (): string => {
    const now = Math.max(clock.now(), counter === 1023 ? at + 1 : at)
    counter = now === at ? counter + 1 : 0
    if (now !== at || time === '') time = encode(now, 10)
    at = now
    return time + digit(counter >> 5) + digit(counter)
  }
  return {
    make(prefix) {
      let id = `${prefix}_${stamp()}`
      for (const byte of take(14)) id += digit(byte)
      return id
    },
    random: (bytes) => Buffer.from(take(bytes)).toString('hex'),
  }
}
