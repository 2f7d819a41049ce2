/** Where in a text a value may begin: most places need no more than a look at one byte. */

const hashes = 0x100000
/** Of the first four code units. */
const hashAt = (text: string, at: number): number =>
  (text.charCodeAt(at) ^
    (text.charCodeAt(at + 1) << 5) ^
    (text.charCodeAt(at + 2) << 10) ^
    (text.charCodeAt(at + 3) << 15)) &
  (hashes - 1)

export interface Begins {
  /** One value more, or one less, begins so. */
  mark(begin: string, by: 1 | -1): void
  /** The next place from `from` on and before `stop`, else `stop`. */
  next(text: string, range: readonly [from: number, stop: number]): number
}

export const createBegins = (): Begins => {
  let begins = new Uint8Array(0)
  /** How many begin with each hash. */
  const counts = new Map<number, number>()
  const mark = (begin: string, by: 1 | -1): void => {
    if (begins.length === 0) begins = new Uint8Array(hashes)
    const hash = hashAt(begin, 0)
    const now = (counts.get(hash) ?? 0) + by
    if (now > 0) counts.set(hash, now)
    else counts.delete(hash)
    begins[hash] = now > 0 ? 1 : 0
  }
  const next: Begins['next'] = (text, [from, stop]) => {
    for (let at = from; at < stop; at += 1) if (begins[hashAt(text, at)] === 1) return at
    return stop
  }
  return { mark, next }
}
