/** Texts in which a phrase is written in one way: with one blank between its words, and its letters put together. */
import { atOnce, type Portions } from '../../turns.js'
import { readingBy, type Reading } from '../../words/reading.js'

/** Code units that are read in one go; a piece goes on by so many at most where it may not be cut. */
const [portion, mostMore] = [64 * 1024, 256]

/** Also line ends as JSON and JSON in JSON write them. */
const [blank, other] = ['(?:\\s|\\\\{1,8}[nrt])', '(?:[^\\S ]|\\\\{1,8}[nrt])']
const blanks = ` ${blank}+|${other}${blank}*`
/** Signs with marks behind, and the parts of a syllable of Hangul. */
const letters = '\\P{M}\\p{M}{1,30}|[\\u1100-\\u11ff]{2,3}'
const inOne = /[\p{M}\u1100-\u11ff]$/u
const signOf = (written: string): string => (inOne.test(written) ? written.normalize('NFC') : ' ')
const foldAscii = readingBy(new RegExp(blanks, 'gu'), signOf)
const foldAny = readingBy(new RegExp(`${blanks}|${letters}`, 'gu'), signOf)
/** Most have no marks, and to look for them at each place takes longer than all else. */
const fold = (text: string): Reading => (/[^\0-\x7f]/u.test(text) ? foldAny : foldAscii)(text)

const goesOn = /[\s\\nrt\p{M}\u1100-\u11ff]/u
const endOfPiece = (text: string, at: number): number => {
  let end = at
  while (end < Math.min(text.length, at + mostMore) && goesOn.test(text.charAt(end))) end += 1
  return end
}

export function* folded(text: string): Portions<Reading> {
  const edits: number[] = []
  let made = ''
  for (let [at, end] = [0, 0]; at < text.length; at = end) {
    if (at > 0) yield
    end = endOfPiece(text, at + portion)
    const piece = fold(text.slice(at, end))
    for (const [nth, number] of piece.edits.entries()) edits.push(nth % 3 === 2 ? number : at + number)
    made += piece.text
  }
  return { text: made, edits }
}

/** Of longer values nobody wraps the line anew. */
const longestPhrase = 4096
const isPhrase = (text: string): boolean =>
  text.length <= longestPhrase && /\s|[^\0-\x7f]/u.test(text) && !/[\r\n]/u.test(text)
/** Those of the values that are phrases of one line, or have letters that are written in several ways; folded. */
export const phrasesOf = (values: readonly string[]): readonly string[] =>
  values
    .map((value) => value.normalize('NFC').trim())
    .filter(isPhrase)
    .map((text) => atOnce(folded(text)).text)
