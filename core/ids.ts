import { randomBytes } from 'node:crypto'
import type { Clock } from './clock.js'

/** Makes ids that sort by the time they were made and are never guessable. */
export interface Ids {
  /** `<prefix>_<26 characters>`: 48 bits of time, 12 of a counter, 70 random, in Crockford's base 32; sorts in order of making. */
  make(prefix: string): string
  /** `bytes` random bytes in hex. */
  random(bytes: number): string
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

export const createIds = (clock: Clock): Ids => {
  let last = 0
  const tick = (): number => (last = Math.max(clock.now() * 4096, last + 1))
  const encode = (value: bigint): string => {
    let text = ''
    for (let rest = value, n = 0; n < 26; n += 1, rest >>= 5n) text = alphabet[Number(rest & 31n)] + text
    return text
  }
  return {
    make: (prefix) => `${prefix}_${encode((BigInt(tick()) << 70n) | (BigInt(`0x${randomBytes(9).toString('hex')}`) >> 2n))}`,
    random: (bytes) => randomBytes(bytes).toString('hex'),
  }
}
