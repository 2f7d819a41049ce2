/** Escapes, as programs, shells, URLs, mail and HTML write signs. */
import { readingBy, type Read } from './reading.js'

const pairs =
  'amp & lt < gt > quot " apos \' excl ! num # dollar $ percnt % lpar ( rpar ) ast * midast * plus + comma , ' +
  'hyphen - dash - period . sol / colon : semi ; equals = quest ? commat @ lsqb [ lbrack [ bsol \\ rsqb ] rbrack ] ' +
  'hat ^ lowbar _ underbar _ grave ` diacriticalgrave ` lcub { lbrace { verbar | vert | verticalline | rcub } ' +
  'rbrace } tab \t newline \n nbsp \u00a0'
/** What HTML calls signs of ASCII. */
const named: ReadonlyMap<string, string> = new Map(
  Array.from(pairs.matchAll(/([a-z]+) (.)/gsu), ([, name = '', sign = '']) => [name, sign]),
)
const unseen =
  'shy|zwj|zwnj|lrm|rlm|zerowidthspace|nobreak|ic|invisiblecomma|it|invisibletimes|af|applyfunction|' +
  'negative(?:verythin|thin|medium|thick)space'
const isUnseen = new RegExp(`^(?:${unseen})$`, 'iu')

const hex = '[0-9A-Fa-f]'
/** Bytes of one sign beyond ASCII, in UTF-8. */
const bytes = `(?:(?:%|\\\\x|=)[C-Fc-f]${hex}|\\\\3[0-7]{2})(?:(?:%|\\\\x|=)[89ABab]${hex}|\\\\2[0-7]{2}){1,3}`
const byte = new RegExp(`(?:%|\\\\x|=)(?<sixteen>${hex}{2})|\\\\(?<eight>[0-7]{3})`, 'gu')
const units = `[%\\\\]u${hex}{4}|\\\\u\\{${hex}{1,8}\\}|\\\\U${hex}{8}|(?:%|\\\\x)[0-7]${hex}`
const octal = '\\\\0?[01][0-7]{2}'
const anyCase = (names: string): string => names.replaceAll(/[a-z]/gu, (letter) => `[${letter}${letter.toUpperCase()}]`)
const entities =
  `&(?:${anyCase(`${[...named.keys()].join('|')}|${unseen}`)});|` +
  `&#(?:0{0,64}\\d{1,7}(?!\\d)|[xX]0{0,64}${hex}{1,6}(?!${hex}));?`
/** Of signs: `\/`, `\"`, `\ `. Before a letter it means something else. */
const backslashes = '\\\\[ -/:-@[-`{-~]'

const signOfCode = (code: number, otherwise: string): string =>
  code <= 0x10ffff ? String.fromCodePoint(code) : otherwise
const signOfEntity = (written: string): string => {
  const name = written.slice(1).replace(/;$/u, '').toLowerCase()
  if (name.startsWith('#')) return signOfCode(Number(name.slice(1).replace(/^x/u, '0x')), written)
  return isUnseen.test(name) ? '' : (named.get(name) ?? written)
}
const signOfBytes = (written: string): string =>
  Buffer.from(
    Array.from(
      written.matchAll(byte),
      ({ groups }) => parseInt(groups?.['eight'] ?? '', 8) || Number(`0x${groups?.['sixteen']}`),
    ),
  ).toString()

const letters: Readonly<Record<string, string>> = { e: '\u001b', E: '\u001b', b: '\b' }
const signOf = (written: string): string => {
  const letter = written.charAt(1)
  if (letter === '') return written.normalize('NFKC')
  if (written.startsWith('&')) return signOfEntity(written)
  if (/^(?:%|\\x|=)[C-Fc-f]|^\\3/u.test(written)) return signOfBytes(written)
  if (letter === '\n' || letter === '\r') return ''
  if (written.startsWith('\\') && /[01]/u.test(letter)) return String.fromCharCode(parseInt(written.slice(1), 8))
  if (/^\\[^uUx]/u.test(written)) return letters[letter] ?? letter
  return signOfCode(parseInt(written.replaceAll(/[^0-9A-Fa-f]/gu, ''), 16), written)
}

const readingAny = (...patterns: readonly string[]): Read => readingBy(new RegExp(patterns.join('|'), 'gu'), signOf)

/** An ESC of a program stands in front of what steers a terminal. */
const escape = '\\\\[eE](?=[[\\](])'
const always = [bytes, units, entities, escape]
/** As most read them. */
export const escapes = readingAny(...always, octal, '\\\\\\r?\\n', backslashes)
/** As in strings of code, where a letter stands for a backspace. */
export const escapesOfCode = readingAny(...always, octal, '\\\\b', '\\\\\\r?\\n', backslashes)
/** Letters as wide as those of Chinese. */
const wide = '[\\uff01-\\uff5e]'
/** With letters of full width, which are those of ASCII in another shape (NFKC). */
export const escapesOfWide = readingAny(...always, wide, octal, '\\\\\\r?\\n', backslashes)
/** As mail has them, where `=` stands in place of `%`. */
export const escapesOfMail = readingAny(...always, '=[0-7][0-9A-F]', '=\\r?\\n', backslashes)
