/** Secrets beside their name without a word between, in front of it, and numbers that open something. */
import { isHard, isMixed, isOrdinary, isPair, logins, outer, passwords, tokens } from './said-secrets.js'

const names = `(?:(${passwords})|${tokens}|(?<![A-Za-z0-9])(?:secret|token|bearer))`
/** What belongs to the name, behind which it is the name of something else: `the password manager`. */
const end = '(?=[ \\t]{0,4}(?:[.,;!)\\r\\n]|$))'
const ends = '(?=[ \\t]{0,4}(?:[.,;:!)\\r\\n]|$|(?:for|of|to|on|in|at|here|now|there)(?![A-Za-z])))'
const owner = '(?:the|my|our|your|his|her|their|its)'

const beside = new RegExp(`${names}["'\`]?(?:[ \\t]{1,4}|[ \\t]{0,4}\\r?\\n[ \\t]{0,4})["'\`“]?(\\S{6,200})`, 'giu')
const inFront = new RegExp(
  `(?<!\\S)(\\S{3,100})[ \\t]{1,4}(?:is|was)[ \\t]{1,4}${owner}[ \\t](?:[^\\s.,;]{1,40}[ \\t]){0,3}?${names}${ends}`,
  'giu',
)
const as = new RegExp(
  `["'\`“„«]([^\\s"'\`]{6,200})["'\`”“»][ \\t]{1,4}as[ \\t]{1,4}` +
    `${owner}[ \\t](?:[^\\s.,;]{1,40}[ \\t]){0,3}?${names}${ends}`,
  'giu',
)
const asPassword = new RegExp(
  `(?<!\\S)(\\S{6,100})[ \\t]{1,4}as[ \\t]{1,4}${owner}[ \\t](?:[^\\s.,;]{1,40}[ \\t]){0,3}?(?:${passwords})${ends}`,
  'giu',
)
const asRandom = new RegExp(
  `(?<!\\S)(\\S{16,200})[ \\t]{1,4}as[ \\t]{1,4}(?:[^\\s.,;]{1,40}[ \\t]){0,4}?${names}${ends}`,
  'giu',
)
const login = new RegExp(`${logins}[ \\t]{1,4}([^\\s/:]{1,64}[ \\t]{0,2}[/:][ \\t]{0,2}\\S{1,64})`, 'giu')
/** `creds: admin hunter2x9`, and nothing behind it. */
const user = new RegExp(`${logins}[ \\t]{0,4}:[ \\t]{0,4}([^\\s/:]{1,64})[ \\t]{1,2}(\\S{6,64}?)${end}`, 'giu')
const option = '(?:[^\\r\\n]{0,200}?[ \\t])?'
/** An address that writes to somebody begins like one with a password. */
const writing = '(?:[Ee]-?mail|mailto|mail|sips?|acct|xmpp|[Cc]ontact|[Tt]o|[Ff]rom|[Cc]c|[Aa]uthor)'
const host = '(?:localhost|\\d{1,3}(?:\\.\\d{1,3}){3}|(?:[A-Za-z0-9-]{1,63}\\.){1,8}[A-Za-z]{2,24})(?![A-Za-z0-9])'
/** Passwords as tools take them: `mysql -phunter2x9`, `-u admin:hunter2x9`, `admin:hunter2x9@db.example.com`. */
const given: readonly RegExp[] = [
  `(?<![\\p{L}\\p{N}])(?:mysql|mariadb)[a-z_-]{0,20}[ \\t]${option}-p["']?([^\\s"'$<{[-][^\\s"']{2,100})`,
  `(?<![\\p{L}\\p{N}])(?:sshpass[ \\t]{1,4}-p|redis-cli[ \\t]${option}-a)[ \\t]{0,4}["']?([^\\s"'$<{[-]\\S{2,100})`,
  `(?<!\\S)(?:-u|--user)[ \\t=]{0,4}["']?[^\\s:/"']{1,64}:([^\\s"':/]{6,100})`,
  `(?<![^\\s"'\`(=])(?!${writing}:)[^\\s:/@"'\`<>()]{1,64}:([^\\s:/@"'<>]{6,64})@${host}`,
].map((pattern) => new RegExp(pattern, 'gu'))
const ofDoor = '(?:[ \\t]{1,4}(?:of|for|to|de|du|der|para|pour|für)(?:[ \\t]{1,4}[^\\s:=]{1,40}){1,4}?)?'
const pin = new RegExp(
  '(?<![\\p{L}\\p{N}])(?:PIN[ \\t]{1,4}|(?:PIN|pin|Pin)(?:[ -](?:code|number)[ \\t]{1,4}|(?:[ -](?:code|number))?' +
    `${ofDoor}` +
    '(?:[ \\t]{0,4}[:=]|[ \\t]{1,4}(?:is|was|est|ist|lautet|es))[ \\t]{0,4}))' +
    `\\d{4,8}${end}`,
  'u',
)

/** Names of what has digits, and is no secret. */
const technical = new RegExp(
  '^(?:v?\\d[\\d.]*\\w?|[a-z]+\\d?[-_.]v?\\d+|' +
    'argon2\\w{0,2}|pbkdf2|bcrypt2?|(?:sha|aes|rsa|hmac|ed|base|utf|md|http|' +
    'ipv|oauth|saml|x|tls|level|line|step|page|rule|part|table|field|column|section|chapter|' +
    'version|release)-?\\d{1,5})$',
  'iu',
)
const [leastHex, leastRandom] = [16, 20]

/** Signs in no order that a word has: in hexadecimal, or with another kind of sign at each fifth place. */
export const isRandom = (word: string): boolean => {
  if (!/\d/u.test(word) || !/^[A-Za-z0-9+/=_-]+$/u.test(word)) return false
  if (word.length >= leastHex && /^[0-9a-f-]+$/iu.test(word) && /[a-f]/iu.test(word)) return true
  const changes = word.match(/[a-z]+|[A-Z]+|\d+/gu) ?? []
  return word.length >= leastRandom && changes.length * 5 >= word.length && /[a-z]/u.test(word) && /[A-Z]/u.test(word)
}

const bare = (word: string): string => word.replaceAll(outer, '')
/** Letters and digits as in a password that somebody made up, and no name of what has digits. */
export const isChosen = (word: string): boolean =>
  isMixed(word) && /\d/u.test(word) && !isOrdinary(word.toLowerCase()) && !technical.test(word)

const some = (text: string, pattern: RegExp, holds: (found: RegExpExecArray) => boolean): boolean => {
  for (const found of text.matchAll(pattern)) if (holds(found)) return true
  return false
}

/** True for a text with a secret beside its name, and for a number that is called a PIN. */
export const showsSecret = (text: string): boolean =>
  pin.test(text) ||
  some(text, beside, ([, password, word = '']) => {
    const value = bare(word)
    return password === undefined ? isRandom(value) : value.length >= 6 && (isRandom(value) || isChosen(value))
  }) ||
  some(text, inFront, ([, word = '', password]) => {
    const value = bare(word)
    return password === undefined ? isRandom(value) : isRandom(value) || isChosen(value)
  }) ||
  some(text, as, ([, word = '']) => isRandom(word) || isChosen(word)) ||
  some(text, asPassword, ([, word = '']) => isChosen(bare(word))) ||
  some(text, asRandom, ([, word = '']) => isRandom(bare(word))) ||
  given.some((pattern) => some(text, pattern, ([, word = '']) => isChosen(bare(word)))) ||
  some(text, user, ([, name = '', word = '']) => !isOrdinary(name.toLowerCase()) && isHard(word) && isChosen(word)) ||
  some(text, login, ([, pair = '']) => {
    const value = bare(pair.split(/[/:]/u).at(-1)?.trim() ?? '')
    return isPair(pair) && isHard(value) && isChosen(value)
  })
