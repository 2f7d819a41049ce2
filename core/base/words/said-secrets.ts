/** Secrets that are said in a sentence: the name of one, and behind `is` or a colon what looks like a value. */
import { compounds } from './secret-names.js'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Words of grammar, and units: with one of these it is a sentence and no phrase that somebody remembers. */
const grammar =
  'a an the and or not no to of in on at by for from with without via per as is are be was were been it its this ' +
  'that they we you i he she who whoever which when where if than then so only always never every each all any ask ' +
  'see say tell use get keep must should may can will has have had do does our your my their his her char chars ' +
  'character characters letter letters digit digits word words bit bits byte bytes day days hour hours minute ' +
  'minutes second seconds week weeks month months year years time times long least most version le la les un une de ' +
  'du des dans pour par sur pas et der die das ein eine im bei von zu und nicht since version ' +
  'el los las en con para por y'
/** What is said of secrets in one word. */
const states =
  'now too here there below above wrong right correct incorrect required mandatory missing invalid valid expired ' +
  'empty blank null none unknown set unset changed reset stored kept needed optional weak strong short safe secure ' +
  'secret private public external internal local shared personal temporary permanent unique random opaque numeric ' +
  'alphanumeric case-sensitive yes no true false ok okay fine done tbd todo unchanged out up jwt oauth oauth2 hex ' +
  'base64 uuid ssh sha256 totp mfa 2fa requis obligatoire incorrect faux erforderlich notwendig falsch richtig ' +
  'sicher requerida obligatoria incorrecta correcta ' +
  'on off enabled disabled default'
/** Words that a sentence of some length hardly lacks, and that no wallet is recovered with. */
const joints = words('the and not for from are was were been its who than may has have had our your his her')
const [grammatical, plain] = [words(grammar), words(`${grammar} ${states}`)]

/** Words that are no values, for those who look for values by a pattern. */
export const noValues: readonly string[] = [...plain]

/** What a value is of, in code and in schemas. */
export const types: readonly string[] = [
  ...words('string number integer boolean bool object array undefined any str int float'),
]

export const passwords =
  '(?<![0-9])p[a@4][s$5]{2}w(?:[o0]r)?d|pass(?:phrase|code)|mot de passe|(?:pass|kenn)wort|contrase[ñn]a|' +
  '(?<!\\p{L})(?:pwd?|senha)(?!\\p{L})'
export const tokens = compounds.map((name) => name.replaceAll(' ', '[ _-]?')).join('|')
const quote = '\\\\{0,3}["\'`“”„«‘’]'
const belonging = 'of|for|to|on|in|at|from|de|du|des|del|pour|von|für|zum?|der|para|en'
const quoted = new RegExp(`^${quote}`, 'u')
const named =
  `(?:((?:${passwords})s?)|${tokens}|(?<![A-Za-z0-9])(?:secret|token|bearer|pat)|(?<!\\p{L})clave)` + `(?:${quote})?`
const ofWhat =
  '(?:[ \\t]{0,4}\\([^()\\r\\n]{1,40}\\)|' + `[ \\t]{1,4}(?:${belonging})(?:[ \\t]{1,4}[^\\s:]{1,40}){1,6}?)?`
const says = '(?::|→|[-=]>|(?<=[\\s"\'`])(?:is|was|are|equals|est|sont|ist|lautet|es|è|é)(?=[\\s:]):?)'
/** The name and what it belongs to, up to the value. All of it is bounded, so that a long text takes linear time. */
const saying = new RegExp(`${named}${ofWhat}[ \\t]{0,4}${says}[ \\t]{0,4}`, 'giu')

/** Characters of a sentence that are looked at. */
const mostRead = 200
const [leastPassword, leastToken] = [3, 6]
export const outer = /^[("'`“”„«‘’[{\\]+|[.,;:!?)"'`“”»‘’\]}\\]+$/gu
const measure = /^\d{1,4}-?(?:bits?|bytes?|chars?|characters?|digits?|days?|hours?|h|minutes?|min|s|months?|words?)$/iu
const address = /^[a-z][a-z0-9+.-]*:\/\/|^[^\s@]+@[^\s@]+\.[a-z]{2,}$/iu

const sentenceOf = (rest: string): readonly string[] => {
  const [line = ''] = rest.slice(0, mostRead).split(/[\r\n]/u)
  const found = line.split(/[ \t]+/u).filter((word) => word !== '')
  const end = found.findIndex((word) => /[.;,!?]["'”’»)]*$/u.test(word))
  return end < 0 ? found : found.slice(0, end + 1)
}

export const isMixed = (word: string): boolean =>
  /\p{L}/u.test(word) && /[0-9!@#$%^&*+=~]/u.test(word) && !measure.test(word) && !address.test(word)
export const isOrdinary = (word: string): boolean =>
  plain.has(word) || /(?:ed|able|ible|less|['’]s)$/u.test(word) || /^\p{L}+-\p{L}+$/u.test(word)

const isValue = (rest: string, isPassword: boolean): boolean => {
  const [head = '', ...more] = sentenceOf(rest).map((word) => word.replaceAll(outer, ''))
  const first = head.split(/[,;"'`<>(){}[\]\\]/u)[0] ?? ''
  const lower = first.toLowerCase()
  const isPlain = plain.has(lower)
  if (first === '') return false
  if (quoted.test(rest)) return more.length > 0 || !isPlain
  if (!isPlain && first.length >= (isPassword ? leastPassword : leastToken) && isMixed(first)) return true
  if (more.length === 0) return isPassword ? !isOrdinary(lower) && !address.test(first) : /^\d{6,}$/u.test(first)
  return isPassword && isPhrase([lower, ...more.map((word) => word.toLowerCase())])
}

const short = /^[a-z]{3,8}$/u
const [leastPhrase, mostPhrase] = [4, 8]
/** Words that are remembered, and no sentence. */
const isPhrase = (all: readonly string[]): boolean =>
  all.length <= mostPhrase &&
  !all.some((word) => grammatical.has(word)) &&
  (all.some((word) => /^\d+$/u.test(word)) || (all.length >= leastPhrase && all.every((word) => short.test(word))))

/** So many short words in a row that no grammar joins are no sentence: they recover a wallet. */
const wordsOfWallet = 12
const isWallet = (text: string): boolean => {
  let row = 0
  for (const [word] of text.matchAll(/\S+/gu)) {
    const bare = word.replaceAll(outer, '')
    row = short.test(bare) && !joints.has(bare) ? row + 1 : 0
    if (row === wordsOfWallet) return true
    if (bare !== word) row = 0
  }
  return false
}

export const logins = '(?<!\\p{L})(?:log[ -]?in|cred(?:ential)?s?|sign[ -]?in|logon)'
const login = new RegExp(`${logins}[ \\t]{0,4}(?::|(?<=\\s)(?:is|are)\\s)`, 'giu')
export const isHard = (word: string): boolean =>
  word.length >= leastToken &&
  isMixed(word) &&
  /[0-9]/u.test(word) &&
  /[!@#$%^&*+=~]|\p{Ll}\p{N}|\p{N}\p{Ll}/u.test(word)
/** A user with a password: `admin / P4ss!`, `admin:P4ss!`. */
export const isPair = (rest: string): boolean => {
  const pair = /^[^\s/:]{1,64}[ \t]{0,2}[/:][ \t]{0,2}(\S{1,64})/u.exec(rest)
  return pair?.[1] !== undefined && isHard(pair[1].replaceAll(outer, ''))
}

const follows = (text: string, pattern: RegExp, holds: (rest: string, found: RegExpExecArray) => boolean): boolean => {
  for (const found of text.matchAll(pattern)) {
    const from = found.index + found[0].length
    if (holds(text.slice(from, from + mostRead).trimStart(), found)) return true
  }
  return false
}

/** True for a sentence that says a secret; false for one about secrets. */
export const saysSecret = (text: string): boolean =>
  follows(text, saying, (rest, found) => isValue(rest, found[1] !== undefined)) ||
  follows(text, login, isPair) ||
  isWallet(text)
