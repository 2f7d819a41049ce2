/** What of a value of several lines, or of JSON, is secret by itself: programs write line by line, and files anew. */
import { isRandom } from '../words/bare-secrets.js'
import { unescaped } from '../words/in-arguments.js'
import { schemedValues } from '../words/in-flags.js'
import { secretsInAddress } from '../words/in-address.js'
import { noValues } from '../words/said-secrets.js'
import { isSecretName, tellsOfSecret } from '../words/secret-names.js'
import { looksSecret } from './redact.js'
import type { Parts } from './known/forms.js'
import { shortestValue } from './known/kin.js'

/** Lines that are read, and parts that are known, of one value: keys and certificates of a server have fewer. */
const [mostRead, mostLines, mostValues] = [2_000, 500, 200]
/** JSON in JSON, and keys in it. */
const mostNested = 4

const begin = /-----BEGIN [A-Z0-9 ]+-----$/u
/** Also a short one, as the last of a key is. */
const keyLine = /^[A-Za-z0-9+/_-]{6,}={0,2}$/u
const word = /^[A-Z]?[a-z]+$/u

const name = '(?<name>[A-Za-z_][\\w.-]{0,100})'
const sign = '[ \\t]{0,8}(?:=>|:=|[:=])[ \\t]{0,8}'
/** A group looked at ahead is not given back sign by sign: a long line takes linear time. */
const bare = '(?=(?<bare>[^\\s"\',;(){}[\\]]{1,4096}))\\k<bare>(?=[ \\t]{0,8}(?:[,;}#]|$))'
/** `"name": "value"`, `NAME='value'` and `name: value`, also several in a line. */
const assignment = new RegExp(
  `(?<![\\w.$-])["']?${name}["']?${sign}(?:"(?<double>(?:[^"\\\\]|\\\\.)+)"|'(?<single>[^']+)'|${bare})`,
  'gu',
)
/** `name = several words`, to the end of the line. */
const ofLine = new RegExp(
  `^[-\\s]*(?:(?:export|set|const|let|var)[ \\t]+)?${name}${sign}(?<rest>[^\\s"'].*?)[,;]?$`,
  'u',
)

const looksKnown = (value: string): boolean =>
  isRandom(value) || (/^(?=\D*\d)\S{12,4096}$/u.test(value) && looksSecret(value))

const everybodys = new Set([...noValues, 'string', 'number', 'boolean', 'object', 'undefined', 'example', 'changeme'])
const words = /^[A-Za-z]+(?:[ _.-][A-Za-z]+)*$/u
/** Addresses, paths, variables, calls and members in code, and the mark of a key. */
const reference = new RegExp(
  '^(?:[a-z][a-z0-9+.-]*:\\/\\/|(?:~|\\.{0,2})\\/|\\$\\{|\\$\\(|\\$[A-Za-z_]+$|\\{\\{|<|' +
    '[A-Za-z_]\\w*(?:\\.\\w+)*[([]|[A-Za-z_]+(?:\\.[A-Za-z_]+)+$|-----)',
  'u',
)
/** Called a password, it is one also where it is a word; `key: username` and `auth: required` are not. */
const tells = (called: string, value: string): boolean =>
  tellsOfSecret(called) && (!words.test(value) || isSecretName(called) || /(?:pass|passwd|pwd)$/iu.test(called))

const isSecretValue = (called: string, value: string): boolean =>
  value.length >= shortestValue &&
  (looksKnown(value) || (tells(called, value) && !everybodys.has(value.toLowerCase()) && !reference.test(value)))

const secretsOf = (called: string, value: string): string[] => [
  ...(isSecretValue(called, value) ? schemedValues(value) : []),
  ...inAddress(value),
]
/** The name of a user is a word, as in `ssh://deploy@host`; a token is none. */
const inAddress = (text: string): string[] =>
  secretsInAddress(text).filter((secret) => !words.test(secret) || !text.includes(`//${secret}@`))

/** What the line calls by a name, and whether it does so at all. */
const inLine = (line: string): { readonly isNamed: boolean; readonly secrets: readonly string[] } => {
  const found = [...line.matchAll(assignment)].map(({ groups }) => groups ?? {})
  const whole = ofLine.exec(line)?.groups
  const pairs = whole === undefined ? found : [...found, whole]
  return {
    isNamed: pairs.length > 0,
    secrets: pairs.flatMap(({ name: called = '', double, single, bare: plain, rest }) =>
      secretsOf(called, double === undefined ? (single ?? plain ?? rest ?? '') : unescaped(`"${double}"`)),
    ),
  }
}

const inLines = (text: string, into: Found): void => {
  let isInKey = false
  for (const raw of text.split(/[\r\n]+/u, mostRead)) {
    const line = raw.trim().replaceAll(/^["'`]+|["'`,;]+$/gu, '')
    const isPiece: boolean = keyLine.test(line) && (isRandom(line) || (isInKey && !word.test(line)))
    isInKey = isPiece || begin.test(line)
    if (isPiece) into.lines.add(line)
    else lookInto(raw.trim(), line, into)
  }
}
const lookInto = (raw: string, line: string, { values }: Found): void => {
  const { isNamed, secrets } = inLine(raw)
  for (const secret of [...secrets, ...inAddress(raw)]) values.add(secret)
  if (!isNamed && looksKnown(line)) values.add(line)
}

const isStructured = (text: string): boolean => /^\s*[[{]/u.test(text)
/** True if it is JSON, whose members were looked at. */
const inJson = (text: string, levels: number, into: Found): boolean => {
  if (!isStructured(text)) return false
  const members: (readonly [string, string])[] = []
  try {
    JSON.parse(text, (called: string, value: unknown) => {
      if (typeof value === 'string') members.push([called, value])
      return value
    })
  } catch {
    return false
  }
  for (const [called, value] of members) {
    for (const secret of secretsOf(called, value)) into.values.add(secret)
    // A key in it has lines of its own.
    inText(value, levels - 1, into)
  }
  return true
}

interface Found {
  readonly lines: Set<string>
  readonly values: Set<string>
}
const inText = (text: string, levels: number, into: Found): void => {
  if (levels === 0 || inJson(text, levels, into)) return
  if (/[\r\n]/u.test(text)) inLines(text, into)
  // Lines as JSON writes their ends.
  const unescaped = text.replaceAll(/\\[rn]/gu, '\n')
  if (unescaped !== text) inLines(unescaped, into)
}

const first = (texts: ReadonlySet<string>, most: number): ReadonlySet<string> =>
  new Set([...texts].filter(({ length }) => length >= shortestValue).slice(0, most))

export const partsOf = (value: string): Parts => {
  const found: Found = { lines: new Set(), values: new Set() }
  inText(value, mostNested, found)
  return { lines: first(found.lines, mostLines), values: first(found.values, mostValues) }
}
