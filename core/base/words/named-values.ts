/** What of a value is secret, as the name in front of it tells. */
import { isChosen, isRandom } from './bare-secrets.js'
import { isName } from './meant-values.js'
import { noValues, outer, types } from './said-secrets.js'
import { isSecretKey, tellsOfSecret } from './secret-names.js'

/** Behind the name of a scheme, such as `Bearer`, stands the secret itself. */
const schemed = /^[A-Za-z][\w-]* +(?<rest>\S.*)$/su

/** A value, and what stands in it behind the name of a scheme. */
export const schemedValues = (value: string): string[] => [value, schemed.exec(value)?.groups?.['rest'] ?? value]

const ofUser = /^[^\s:/]+:(?<password>[^\s/]\S*)$/su
/** The password of `name:password`. */
export const passwordIn = (value: string): string | undefined => ofUser.exec(value)?.groups?.['password']

/** Places, variables, what a shell puts in their place, and gaps in which somebody is to write. */
const variable = /^\$(?:\{\w+\}|[A-Z_][A-Z0-9_]*|[a-z_]+)$/u
const reference = /^(?:(?:~|\.{0,2})\/|["']?(?:\$\(|`)|<[^<>]*>$|\{\{)/u
const isReference = (value: string): boolean => variable.test(value) || (reference.test(value) && !isRandom(value))

/** Keys of ciphers and signatures may be phrases that somebody made up. */
const cipher = /(?:crypt(?:ion)?|sign(?:ing)?|master|hmac|jwt|webhook|shared|session|cookie)[^A-Za-z]?key$/iu
const [leastKey, leastPhrase] = [8, 12]
/** A key may be one of a map, a table or a keyboard: that it is secret its value must tell, too. */
const isOfLock = (name: string, value: string): boolean =>
  !/key$/iu.test(name) ||
  isSecretKey(name) ||
  isRandom(value) ||
  (value.length >= leastKey && isChosen(value) && !isName(value)) ||
  (value.length >= leastPhrase && cipher.test(name))

/** What is written behind a variable, as in `$BEGIN-x`. */
const behindVariable = (value: string): string[] => {
  const rest = /\$(?:\w+|\{\w+\})(?<rest>[^$]*)$/u.exec(value)?.groups?.['rest'] ?? ''
  return rest === '' || isReference(rest) ? [] : [rest.replace(/^[-_.:]+/u, '')]
}

const secretsOf = (name: string, value: string): string[] => {
  const values = schemedValues(value)
  if (!tellsOfSecret(name) || values.some(isReference) || !isOfLock(name, value)) return []
  const all = [...values, ...behindVariable(value)]
  if (/cookies?$/iu.test(name))
    return [...all, ...value.split(';').map((pair) => pair.slice(pair.indexOf('=') + 1).trim())]
  const isLogin = /(?:auth|authorization|cred(?:ential)?s?)$/iu.test(name)
  return isLogin ? [...all, ...values.flatMap((each) => passwordIn(each) ?? [])] : all
}

/** Words of grammar and of what is said of secrets: `grep "password: required"` looks for one. */
const ordinary = new Set([...noValues, ...types])
export const isOrdinary = (value: string): boolean =>
  variable.test(value) || value.split(/\s+/u).every((word) => ordinary.has(word.replaceAll(outer, '').toLowerCase()))

/** What its name tells to be secret of a value, as a whole and by itself: a name of several tells of each. */
export const valuesNamed = (name: string, value: string): string[] => {
  const single = name.replace(/(?<=key|token|password|secret)s$/iu, '')
  if (single === name) return secretsOf(name, value).filter((each) => !isOrdinary(each))
  return value.split(/[\s,;]+/u).flatMap((each) => (/^\d+$/u.test(each) ? [] : valuesNamed(single, each)))
}

const scheme = /^(?:bearer|(?<isBasic>basic)) +(?!auth|tokens?$|scheme|header|realm)(?<rest>\S{6,})$/iu
/** `Bearer x`, whatever its name is; what is basic may also be a word. */
export const valuesOfScheme = (value: string): string[] => {
  const { isBasic, rest } = scheme.exec(value)?.groups ?? {}
  const isWord = isBasic !== undefined && rest !== undefined && !/\d|=|[a-z][A-Z]/u.test(rest)
  return rest === undefined || isWord || isReference(rest) ? [] : [rest]
}
