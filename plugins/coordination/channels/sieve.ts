/** Finds a text in the bytes of a record whatever its case, so that what does not hold it is never made a value. */
import type { Sieve } from '../../../core/plugin.js'

const escaped = (text: string): string => text.replaceAll(/[$()*+./?[\\\]^{|}]/gu, String.raw`\$&`)

/** Finds the text whatever its case. */
export const patternOf = (text: string): RegExp => new RegExp(escaped(text), 'iu')

const block = 256
/** Characters beyond have no case. */
const blocks = 0x200
const charactersOf = (_: unknown, at: number): string =>
  String.fromCodePoint(...Array.from({ length: block }, (__, n) => at * block + n))

let known: string | undefined
/** All characters that have a case. */
const cased = (): string =>
  (known ??= (
    Array.from({ length: blocks }, charactersOf)
      .join('')
      .match(/[\p{CWL}\p{CWU}\p{CWCF}]/gu) ?? []
  ).join(''))

/** A character in each of its cases, as the bytes that JSON has for it, each byte as a character. */
const writtenOf = (one: string): readonly string[] =>
  [...new Set([one, ...(cased().match(new RegExp(escaped(one), 'giu')) ?? [])])].map((each) =>
    Buffer.from(JSON.stringify(each).slice(1, -1)).toString('latin1'),
  )

/** Bytes that are made a text at once: a large one would cost more than all that is done with it. */
const chunk = 16_384

/** Says no where a record does not have the text in any case, and yes where it may. */
export const sieveOf = (text: string): Sieve => {
  const written = Array.from(text, writtenOf)
  const pattern = new RegExp(written.map((cases) => `(?:${cases.map(escaped).join('|')})`).join(''))
  const longest = written.reduce((sum, cases) => sum + Math.max(...cases.map((each) => each.length)), 0)
  return (line) => {
    const bytes = Buffer.from(line.buffer, line.byteOffset, line.length)
    for (let at = 0; at < bytes.length; at += chunk)
      if (pattern.test(bytes.toString('latin1', at, at + chunk + longest))) return true
    return false
  }
}
