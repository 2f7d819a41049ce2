/** Finds a text in the bytes of a record however it is written, so that what does not hold it is never made a value. */
import { comparable, type Sieve } from '../../../core/plugin.js'

const escaped = (text: string): string => text.replaceAll(/[$()*+./?[\\\]^{|}]/gu, String.raw`\$&`)

/** Signs beyond are no other way to write one. */
const signs = 0x30000
let known: ReadonlyMap<string, readonly string[]> | undefined
/** All signs that are compared as another one is, by that. */
const others = (): ReadonlyMap<string, readonly string[]> => {
  if (known !== undefined) return known
  const found = new Map<string, string[]>()
  for (let code = 0; code < signs; code += 1) {
    const sign = String.fromCodePoint(code)
    const as = comparable(sign)
    if (as === sign) continue
    const some = found.get(as)
    if (some === undefined) found.set(as, [sign])
    else some.push(sign)
  }
  return (known = found)
}

/** The bytes that JSON has for a sign, each as a character. */
const bytesOf = (sign: string): string => Buffer.from(JSON.stringify(sign).slice(1, -1)).toString('latin1')

/** All ways to write a sign with one mark at most; undefined of one with more, whose order is free. */
const writtenOf = (sign: string): readonly string[] | undefined => {
  const all = [sign, ...(others().get(sign) ?? [])]
  const apart = all.map((one) => one.normalize('NFD'))
  if (/^\p{M}/u.test(sign) || apart.some((one) => Array.from(one).length > 2)) return undefined
  const dotted = sign === 'i' ? ['i\u0307', 'I\u0307'] : []
  return [...new Set([...all, ...apart, ...dotted].map(bytesOf))].toSorted((a, b) => b.length - a.length)
}

/** The longest part whose signs are told apart, which no mark follows. */
const toldApart = (text: string): readonly (readonly string[])[] => {
  let best: (readonly string[])[] = []
  let row: (readonly string[])[] = []
  const all = Array.from(text)
  for (const [at, sign] of all.entries()) {
    const written = /^\p{M}/u.test(all[at + 1] ?? '') ? undefined : writtenOf(sign)
    row = written === undefined ? [] : [...row, written]
    if (row.length > best.length) best = row
  }
  return best
}

/** Bytes that are made a text at once: a large one would cost more than all that is done with it. */
const chunk = 16_384
const beyondAscii = /[\x80-\xff]/

/** Says no where a record does not have the text, however it is written, and yes where it may. */
export const sieveOf = (text: string): Sieve => {
  const written = toldApart(comparable(text))
  const all = written.map((ways) => `(?:${ways.map(escaped).join('|')})`).join('')
  const pattern = written.length === 0 ? beyondAscii : new RegExp(all)
  const longest = written.reduce((sum, ways) => sum + Math.max(...ways.map((each) => each.length)), 0)
  return (line) => {
    const bytes = Buffer.from(line.buffer, line.byteOffset, line.length)
    for (let at = 0; at < bytes.length; at += chunk)
      if (pattern.test(bytes.toString('latin1', at, at + chunk + longest))) return true
    return false
  }
}
