import { randomBytes } from 'node:crypto'
import type { Clock } from './clock.js'

/** Makes ids that sort by the time they were made and are never guessable. */
export interface Ids {
  /**
   * `<prefix>_<26 characters>` in Crockford's base 32: 10 of Unix ms, 2 of a counter, 14 random (70 bits). They sort in
   * order of making, also over restarts. So their time is ahead where the wall clock once was: it says nothing.
   */
  make(prefix: string): string
  /** `bytes` random bytes in hex. */
  random(bytes: number): string
}

/** Ids as the daemon makes them: they go on behind those of earlier lives, whatever the wall clock says now. */
export interface IdSource extends Ids {
  /** Every id from now on sorts behind these; what was not made here counts for nothing. They may be read twice. */
  goOnBehind(known: Iterable<string>): void
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const digit = (value: number): string => alphabet[value & 31] ?? ''

/** `length` digits, most significant first. Division, because bits above 32 are lost to shifts. */
const encode = (value: number, length: number): string => {
  let text = ''
  for (let rest = value, n = 0; n < length; n += 1, rest = Math.floor(rest / 32)) text = digit(rest % 32) + text
  return text
}

/** Ids that people chose may look like ours: none counts that tells a time from the year 2248 on. */
const latestTime = 2 ** 43
const stampDigits = 12
const madeHere = /[_-][0-9a-hjkmnp-tv-z]{26}$/u

/** Time and counter of an id that was made here, as text that sorts. */
const stampIn = (id: string): string => id.slice(-26, stampDigits - 26)
const decode = (text: string): number => Array.from(text).reduce((sum, char) => sum * 32 + alphabet.indexOf(char), 0)

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

/** Of some ids the one that was made last; empty if none of them was made here. */
export const latestId = (known: Iterable<string>): string => {
  let [latest, of] = ['', '']
  for (const id of known) {
    const stamp = stampIn(id)
    if (stamp > latest && stamp < encode(latestTime, 10) && madeHere.test(id)) [latest, of] = [stamp, id]
  }
  return of
}

/** True of an id that was made here, no later than another that was, and not before a moment, Unix ms. */
export const isMadeBy = (id: string, latest: string, since = 0): boolean =>
  latest !== '' && madeHere.test(id) && stampIn(id) <= stampIn(latest) && stampIn(id) >= encode(since, 10)

/** The latest stamp of ids that were made here. Each is looked at closely only if a look at all finds a stranger. */
const latestOf = (known: Iterable<string>, least: string): string => {
  const end = encode(latestTime, 10)
  const among = (counts: (id: string) => boolean): string => {
    let [latest, of] = [least, '']
    for (const id of known) {
      const found = stampIn(id)
      if (found > latest && found < end && counts(id)) [latest, of] = [found, id]
    }
    return of
  }
  const [first, sure] = [among(() => true), (id: string) => madeHere.test(id)]
  const id = first === '' || sure(first) ? first : among(sure)
  return id === '' ? least : stampIn(id)
}

export const createIds = (clock: Clock): IdSource => {
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
  const goOnBehind = (known: Iterable<string>): void => {
    const latest = latestOf(known, encode(at, 10) + encode(counter, 2))
    ;[at, counter, time] = [decode(latest.slice(0, 10)), decode(latest.slice(10)), latest.slice(0, 10)]
  }
  return {
    goOnBehind,
    make(prefix) {
      let id = `${prefix}_${stamp()}`
      for (const byte of take(14)) id += digit(byte)
      return id
    },
    random: (bytes) => Buffer.from(take(bytes)).toString('hex'),
  }
}
