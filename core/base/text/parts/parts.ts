/** What of a value is secret by itself: programs write line by line, files anew, and of a header the token alone. */
import { isRandom } from '../../words/bare-secrets.js'
import { secretsInCommand } from '../../words/in-arguments.js'
import { secretsInCode, unescaped } from '../../words/in-code.js'
import type { Parts } from '../known/forms.js'
import { shortestValue } from '../known/kin.js'
import { entriesBelow } from './entries.js'
import { entriesOf, isStructured, membersOf } from './members.js'
import { pairsIn, pairsOfLines } from './pairs.js'
import { inAddress, inHeader, insideOf, textInBase64 } from './shapes.js'
import { isEverybodys, isSecretValue, isTelling, isWords, valuesOfSeveral, type Named } from './told.js'

/** Lines that are read, and parts that are known, of one value: keys and certificates of a server have fewer. */
const [mostRead, mostLines, mostValues] = [2_000, 500, 200]
/** Texts in texts: JSON in JSON, and keys in it. */
const mostNested = 4
/** Characters of a value that may be a header, or pairs, in one line. */
const mostHeader = 1_000

const begin = /-----BEGIN [A-Z0-9 ]+-----$/u
/** Also a short one, as the last of a key is. */
const keyLine = /^[A-Za-z0-9+/_-]{6,}={0,2}$/u
const word = /^[A-Z]?[a-z]+$/u
/** A program with flags, as `curl -u me:x h`. What stands behind one may be a word of any meaning. */
const hasFlags = /^[ \t]*[\w./$-][^\r\n]{0,1000}[ \t]--?[A-Za-z]/u
const inFlags = (line: string): string[] =>
  hasFlags.test(line) ? secretsInCommand(line).filter((value) => !isWords(value)) : []

interface Found {
  readonly lines: Set<string>
  readonly values: Set<string>
}
interface Place {
  /** What the text is called that is read. */
  readonly called: string
  /** How many texts in it are read. */
  readonly levels: number
}

const add = (values: readonly string[], into: Found): void => values.forEach((value) => into.values.add(value))

const take = ({ called, value }: Named, into: Found): void => {
  const isSecret = isSecretValue(called, value)
  if (isSecret) add([value], into)
  if (isSecret || isTelling(called)) add(insideOf(value), into)
  add(valuesOfSeveral(called, value), into)
  add(inAddress(value), into)
}

/** What a line calls by a name was all read there, unless it is a text of another kind. */
const isText = (value: string): boolean =>
  isStructured(value) ||
  /[\r\n]|\\[rn]/u.test(value) ||
  (value.length <= mostHeader && /[A-Za-z][:=]/u.test(value)) ||
  textInBase64(value) !== undefined
const takePair = (pair: Named, { levels }: Place, into: Found): void => {
  take(pair, into)
  if (pair.value.startsWith('-')) add(secretsInCommand(pair.value), into)
  if (isText(pair.value)) readText(pair.value, { called: pair.called, levels: levels - 1 }, into)
}
const readLine = (line: string, place: Place, into: Found): readonly Named[] => {
  const pairs = pairsIn(line)
  for (const pair of pairs) takePair(pair, place, into)
  add([...inAddress(line), ...inHeader(line), ...inFlags(line)], into)
  if (pairs.length === 0) add(secretsInCode(line), into)
  return pairs
}
const readLines = (text: string, place: Place, into: Found): void => {
  let isInKey = false
  for (const raw of text.split(/[\r\n]+/u, mostRead)) {
    const line = raw.trim().replaceAll(/^["'`]+|["'`,;]+$/gu, '')
    const isPiece: boolean = keyLine.test(line) && (isRandom(line) || (isInKey && !word.test(line)))
    isInKey = isPiece || begin.test(line)
    if (isPiece) into.lines.add(line)
    else if (readLine(raw.trim(), place, into).length === 0 && isSecretValue(place.called, line)) add([line], into)
  }
  for (const pair of [...pairsOfLines(text), ...entriesBelow(text)]) takePair(pair, place, into)
}

/** True if it is JSON. */
const readMembers = (text: string, { levels }: Place, into: Found): boolean => {
  const members = membersOf(text)
  for (const member of members ?? []) {
    take(member, into)
    readText(member.value, { called: member.called, levels: levels - 1 }, into)
  }
  return members !== undefined
}
const readText = (text: string, place: Place, into: Found): void => {
  if (place.levels === 0 || readMembers(text, place, into)) return
  if (/[\r\n]/u.test(text)) readLines(text, place, into)
  else readLine(text, place, into)
  // Lines as JSON writes their ends.
  const lines = text.replaceAll(/\\[rn]/gu, '\n')
  if (lines !== text) readLines(lines, place, into)
  const decoded = textInBase64(text)
  if (decoded !== undefined) readText(decoded, { ...place, levels: place.levels - 1 }, into)
}

const first = (texts: Iterable<string>, most: number): ReadonlySet<string> =>
  new Set([...texts].filter(({ length }) => length >= shortestValue).slice(0, most))

/** A value without blanks around it, and without the quotes that it was copied with. */
const bareOf = (value: string): string => {
  const bare = value.trim()
  return /^(?:"[^"\\]*(?:\\.[^"\\]*)*"|'[^']*')$/su.test(bare) ? unescaped(bare).trim() : bare
}

export const partsOf = (value: string): Parts => {
  const bare = bareOf(value)
  const found: Found = { lines: new Set(), values: new Set(insideOf(bare)) }
  add(
    entriesOf(bare).filter((entry) => isSecretValue('secrets[]', entry)),
    found,
  )
  readText(bare, { called: '', levels: mostNested }, found)
  const values = [...found.values].filter((part) => part !== value && !isEverybodys(part))
  const wholes = bare === value || isEverybodys(bare) ? [value] : [value, bare]
  return { wholes, lines: first(found.lines, mostLines), values: first(values, mostValues) }
}
