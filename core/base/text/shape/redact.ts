/**
 * Finds secrets and personal data by their shape, for text that a person or a
 * model wrote. `Secrets.redact` knows exact values; this knows what values look
 * like. `_` counts as a boundary, which `\b` does not do.
 */

import { anyOf } from './pattern.js'
import { replacingAll, type Shape } from './replace.js'
import { showsSecret } from '../../words/bare-secrets.js'
import { likeLatin } from '../../words/like-latin.js'
import { isMeant } from '../../words/meant-values.js'
import { noValues, saysSecret } from '../../words/said-secrets.js'
import { compounds } from '../../words/secret-names.js'
import { atOnce, type Portions } from '../../turns.js'

const secretMark = '<redacted>'
/** A word of its own: not a part of a longer one, but `aws_secret_key` has three. */
const from = '(?<![A-Za-z0-9])'

/** Of a shape that is always a secret. */
const marked = (): string => secretMark

const keyStart = /sk-(?<![A-Za-z0-9]sk-)/gu
/** A key has twenty signs behind its mark, and a digit among the first hundred, which words with dashes lack; */
const [leastKey, digitWithin] = [20, 100]
/** or more letters without a dash than a word has. */
const solidKey = 22
const solid = /^[A-Za-z0-9]*$/u

const isSolid = (text: string): boolean => text.length === solidKey && solid.test(text)

/** The run up to the first key in it. */
const withoutKey = (run: string): string => {
  let digit = 0
  for (const { index } of run.matchAll(keyStart)) {
    const begin = index + 'sk-'.length
    if (run.length - begin < leastKey) return run
    if (digit < begin) {
      const next = run.slice(begin).search(/[0-9]/u)
      digit = next < 0 ? Infinity : begin + next
    }
    if (digit - begin <= digitWithin || isSolid(run.slice(begin, begin + solidKey)))
      return run.slice(0, index) + secretMark
  }
  return run
}

/** The rest of the line that begins or ends a private key. */
const privateKey = '[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----'
const beginning = (text: string): RegExp => new RegExp(`${from}(?:${text})`, 'gu')

/**
 * Tokens that carry their maker's mark. What begins like one is taken to its end, also if it is none and stays: else
 * its middle would be read again for each beginning in it, which takes quadratic time.
 */
const tokens: readonly Shape[] = [
  {
    pattern: new RegExp(`-----BEGIN ${privateKey}[\\s\\S]*?(?:-----END ${privateKey}|$)`, 'gu'),
    instead: marked,
  },
  { pattern: /sk-(?<![A-Za-z0-9]sk-)[A-Za-z0-9_-]{20,}/gu, instead: withoutKey },
  {
    pattern: beginning(
      'gh[opusr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|npm_[A-Za-z0-9]{30,}|' +
        'hf_[A-Za-z0-9]{30,}|hft_[A-Za-z0-9_-]{16,}|(?:xai-|gsk_)[A-Za-z0-9]{30,}',
    ),
    instead: marked,
  },
  { pattern: beginning('(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[A-Za-z0-9_-]{30,}|ya29\\.[A-Za-z0-9_-]{20,}'), instead: marked },
  {
    pattern: beginning(
      'xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|SG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}',
    ),
    instead: marked,
  },
  { pattern: beginning('[prs]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9]{16,}'), instead: marked },
  {
    pattern: beginning(
      'pypi-[A-Za-z0-9_-]{16,}|do[opr]_v1_[a-f0-9]{32,}|hv[brs]\\.[A-Za-z0-9_-]{20,}|AGE-SECRET-KEY-1[A-Z0-9]{20,}|' +
        'shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{16,}|lin_(?:api|oauth)_[A-Za-z0-9]{20,}|(?:secret|ntn)_[A-Za-z0-9]{40,}|' +
        'figd_[A-Za-z0-9_-]{20,}|dckr_[op]at_[A-Za-z0-9_-]{16,}|(?:FlyV1[ \\t]{1,4})?fm[0-9]_[A-Za-z0-9+/=_-]{16,}|' +
        'SK[a-f0-9]{32}(?![A-Za-z0-9])|ATATT[A-Za-z0-9_=-]{20,}|sntry[su]_[A-Za-z0-9+/=_-]{20,}|' +
        '(?:GOCSPX|sq0(?:atp|csp))-[A-Za-z0-9_-]{20,}|' +
        'rubygems_[a-f0-9]{32,}|tskey-[a-z]{2,10}-[A-Za-z0-9-]{10,}|PMAK-[a-f0-9-]{30,}',
    ),
    instead: marked,
  },
  { pattern: beginning('[MNO][A-Za-z0-9_-]{23,27}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,40}'), instead: marked },
  {
    pattern: beginning(
      'hooks\\.slack\\.com/[a-z]{1,20}/[A-Za-z0-9_/-]{10,}|' +
        'discord(?:app)?\\.com/api/webhooks/[0-9]{5,30}/[A-Za-z0-9_-]{20,}',
    ),
    instead: marked,
  },
  { pattern: beginning('\\d{6,12}:[A-Za-z0-9_-]{30,}'), instead: marked },
  {
    pattern: beginning('eyJ[A-Za-z0-9_-]{8,}(\\.[A-Za-z0-9_-]{8,}(?:\\.[A-Za-z0-9_-]*)?)?'),
    instead: (run, rest) => (rest === undefined ? run : secretMark),
  },
]

const long = compounds.map((words) => words.replaceAll(' ', '[ _-]?')).join('|')
/** Names whose value is a secret; the short ones must be words of their own. */
const names = `(?:${long}|passw(?:or)?d|passphrase|${from}(?:secret|token|bearer|pat))`
/** A quote as it stands in text, and in JSON that stands in JSON. */
const quote = '\\\\{0,3}["\'`]'
/** A value that is not redacted already, up to its quote, blank or comma. */
const plain = '(?!<redacted>|\\[redacted\\])[^\\s"\'`,;<>(){}\\\\\\[\\]]{3,}'

/** The name stays, with the quote that opens the value. */
const afterName = (_: string, name: unknown, mark: unknown): string =>
  `${String(name)}${typeof mark === 'string' ? mark : ''}${secretMark}`

const said = `(?:${noValues.join('|')})(?![A-Za-z0-9_-])`

/** `password: x`, `"api_key": "x"`, `X_TOKEN=x`. */
const assigned = (sign: string): RegExp =>
  new RegExp(
    `(${names}(?:${quote})?[ \\t]{0,4}${sign}[ ` +
      `\\t]{0,4})(?!true\\b|false\\b|null\\b)(?:(${quote})(?!<redacted>)(?:(?!\\2).){1,4096}?(?=\\2)|` +
      `(?!${said}[ \\t.,;]|${said}$)${plain}(?=([([]?)))`,
    'giu',
  )
/** Values that are secrets whatever they look like, because of how they are written. */
const written: readonly RegExp[] = [
  /(?<![A-Za-z0-9])((?:pwd|pass)[ \t]{0,4}=[ \t]{0,4})(?![/~$.<]|[A-Z]:\\|true\b|false\b|\d{1,4}\b)[^\s"'`;,]{3,}/giu,
  new RegExp(`(${from}(?:bearer|basic)[ \\t]+)(?=[A-Za-z0-9._~+/=-]{0,200}[0-9+/=])[A-Za-z0-9._~+/=-]{8,}`, 'giu'),
  /([Aa]uthorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?[A-Z][a-z]{2,9}[ \t]{1,4})(?=\S{0,200}[a-z][A-Z])[^\s"']{8,}/gu,
  /((?:set-)?cookie["']?[ \t]{0,4}:[ \t]{0,4}["']?)(?=[\w.-]{1,64}=[^\s;"']{6})[^\r\n"']{1,4096}/giu,
  /([?&;](?:sig|X-(?:Amz|Goog)-Signature)=)[A-Za-z0-9%+/=_-]{16,4096}/giu,
  /(curl[ \t][^\r\n]{0,200}?(?<=[ \t])(?:-u|--user)[ \t=]{0,4}["']?[^\s:"']{1,100}:)[^\s"']{3,200}/giu,
  /(:\/\/(?<=[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s:/@"'<>]{0,100}:)(?!<redacted>)[^\s/@"'<>]{1,200}(?=@)/giu,
]
const spoken: readonly RegExp[] = [
  new RegExp(
    `((?:${long}|passw(?:or)?d|passphrase|${from}(?:secret|token))[ \\t]+is[ ` +
      `\\t]+)(?=[^\\s]{0,200}[0-9!@#$%^&*_+/=])${plain}`,
    'giu',
  ),
  new RegExp(
    `((?<![0-9])(?:passw(?:or)?d|passphrase)[ \\t]+is[ \\t]+)(?!<redacted>|\\[redacted\\]|${said})[^\\s"'\`,;<>]{3,}`,
    'giu',
  ),
]
const naming = (patterns: readonly RegExp[]): readonly Shape[] =>
  patterns.map((pattern) => ({ pattern, instead: afterName }))

/** Values with a name in front; the name stays. */
const named = naming([assigned('[:=]'), ...written, ...spoken])
/** What is a secret without looking at the sentence around it. */
const sure: readonly Shape[] = [...tokens, ...naming([assigned('='), ...written])]

const secretShapes: readonly Shape[] = [...tokens, ...named]

/** What goes on as a call or a member is code. */
const unlessCode: Shape['instead'] = (found, ...[name, mark, next]) => {
  const begin = String(name).length + (typeof mark === 'string' ? mark.length : 0)
  const isCode = next === '(' || next === '[' || !isMeant(String(name), found.slice(begin))
  return isCode ? found : afterName(found, name, mark)
}
const shapesInCode: readonly Shape[] = [...tokens, ...named.map(({ pattern }) => ({ pattern, instead: unlessCode }))]

/**
 * The text with what has the shape of a secret replaced by `<redacted>`: keys, tokens, private keys, and values that
 * are called a password or token.
 */
export const redactSecrets = (text: string): string => atOnce(redactingSecrets(text))
/** The same in portions, for texts of any length. */
export const redactingSecrets = (text: string): Portions<string> => replacingAll(text, secretShapes)

/**
 * The same for text that may be code and is to be used as it stands: behind the name of a secret that alone is replaced
 * which is neither code nor a word or a type.
 */
export const redactSecretsInCode = (text: string): string => atOnce(replacingAll(text, shapesInCode))

const squashed = anyOf(
  [
    /(?:access|bearer|refresh|secret|auth|personal_?-?access)[_-]?token=/u,
    /secret[_-]?key=/u,
    /(?:api[_-]?key|client[_-]?secret|personal[_-]?access[_-]?token|private[_-]?key)=/u,
    /(?:password|passphrase)=/u,
    /(?<![a-z0-9])(?:token|bearer)=/u,
    /(?<![a-z0-9])pat=(?!\/\/)/u,
    /authorization:?bearer/u,
  ],
  'iu',
)
const tells = (text: string): boolean =>
  /<redacted|\[redacted\]/u.test(text) ||
  atOnce(replacingAll(text, sure)) !== text ||
  squashed.test(text.replaceAll(/\s{1,8}(?=[:=])|(?<=[:=])\s{1,8}|(?<=authorization)\s{1,8}/giu, '')) ||
  saysSecret(text) ||
  showsSecret(text)

/**
 * True if text holds what looks like a secret, or did before it was redacted (debug-3); personal data does not count,
 * nor does a sentence about secrets that says none.
 * Signs without a shape, of another width or script hide nothing: whoever reads the text overlooks them, too.
 */
export const looksSecret = (text: string): boolean => {
  const plain = likeLatin(text.normalize('NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, ''))
  return tells(text) || (plain !== text && tells(plain))
}

/** Luhn's check digit: tells a card number from any other. */
const isCard = (found: string): boolean => {
  const digits = [...found.replaceAll(/\D/gu, '')].map(Number).toReversed()
  const sum = digits.reduce((all, digit, at) => all + (at % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2), 0)
  return sum % 10 === 0
}
/** ISO 13616: the country and check digits at the end, letters as numbers, modulo 97. */
const isIban = (found: string): boolean => {
  const packed = found.replaceAll(' ', '')
  const digits = [...packed.slice(4), ...packed.slice(0, 4)].map((sign) => parseInt(sign, 36)).join('')
  return [...digits].reduce((rest, digit) => (rest * 10 + Number(digit)) % 97, 0) === 1
}

const personal: readonly Shape[] = [
  {
    pattern: /(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}/gu,
    instead: () => '<email>',
  },
  {
    pattern: /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])/gu,
    instead: (found) => (isIban(found) ? '<iban>' : found),
  },
  {
    pattern: /(?<![\w.-])[2-6]\d{3}(?:[ -]?\d){10,15}(?![\w-])/gu,
    instead: (found) => (isCard(found) ? '<card>' : found),
  },
  { pattern: /(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])/gu, instead: () => '<social_security_number>' },
  { pattern: /(?<![\w+])\+[1-9](?:[ ().-]{0,2}\d){6,14}(?!\d)/gu, instead: () => '<phone>' },
  { pattern: /(?<![\w.-])(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?![\w-])/gu, instead: () => '<phone>' },
]

/**
 * The text with personal data replaced by what it was: e-mail addresses, telephone, card and social security numbers,
 * IBANs.
 */
export const redactPii = (text: string): string => atOnce(redactingPii(text))
/** The same in portions, for texts of any length. */
export const redactingPii = (text: string): Portions<string> => replacingAll(text, personal)
