/** Whether a value is secret, by what it is called and by its look. */
import { isRandom } from '../../words/bare-secrets.js'
import { valuesNamed } from '../../words/named-values.js'
import { noValues } from '../../words/said-secrets.js'
import { isSecretName, tellsOfSecret } from '../../words/secret-names.js'
import { shortestValue } from '../known/kin.js'
import { looksSecret } from '../shape/redact.js'

/** A value, and what the text that it stands in calls it. */
export interface Named {
  readonly called: string
  readonly value: string
}

/** What examples and first set-ups have for a secret, and where programs run: such words are in many texts. */
const usual =
  'string number boolean object undefined example sample placeholder default passwd apikey api-key changeme ' +
  'change-me changeit testing production staging development localhost administrator username postgres postgresql ' +
  'mariadb mongodb rabbitmq elastic grafana oracle docker github master server client service system database bearer ' +
  'session cookie disabled enabled'
const everybodys = new Set([...noValues, ...usual.split(' ')])
/** Such words as `password`, and the name of a secret in the place of one: `DB_PASSWORD`. */
export const isEverybodys = (value: string): boolean =>
  everybodys.has(value.toLowerCase()) || (/^[A-Za-z]+(?:_[A-Za-z]+)*$/u.test(value) && isSecretName(value))

const words = /^[A-Za-z]+(?:[ _.-][A-Za-z]+)*$/u
export const isWords = (value: string): boolean => words.test(value)

/** Addresses, paths, variables, calls and members in code, and the mark of a key. */
const reference = new RegExp(
  '^(?:[a-z][a-z0-9+.-]*:\\/\\/|(?:~|\\.{0,2})\\/|\\$\\{|\\$\\(|\\$[A-Za-z_]+$|\\{\\{|<|' +
    '[A-Za-z_]\\w*(?:\\.\\w+)*[([]|[A-Za-z_]+(?:\\.[A-Za-z_]+)+$|-----)',
  'u',
)

export const looksKnown = (value: string): boolean =>
  isRandom(value) || (/^(?=\D*\d)\S{12,4096}$/u.test(value) && looksSecret(value))

/** What is one of several is called so: `tokens[]` of `tokens: [x]`. */
const many = '[]'
const singular = (called: string): string => (called.endsWith(many) ? called.replace(/s?\[\]$/iu, '') : called)
/** `TOKEN2` and `password_2` are a token and a password. */
const bare = (called: string): string => singular(called).replace(/[_-]?\d{1,3}$/u, '')
export const isTelling = (called: string): boolean => tellsOfSecret(bare(called))

const isPassword = (called: string): boolean => /(?:pass|password|passwd|pwd|passphrase)$/iu.test(called)
/**
 * Called a password, it is one also where it is a word, and so is a token by itself; `key: username`, `auth: required`
 * and `tokens: [writer]` are not.
 */
const mayBeWord = (called: string): boolean =>
  isPassword(bare(called)) || (!called.endsWith(many) && isSecretName(bare(called)))
const tells = (called: string, value: string): boolean =>
  valuesNamed(bare(called), value).length > 0 && (!isWords(value) || mayBeWord(called))

/** `POSTGRES_PASSWORD=postgres` is no secret. */
const saysItsName = (called: string, value: string): boolean =>
  isWords(value) &&
  called.split(/[_.-]|(?<=[a-z])(?=[A-Z])/u).some((word) => word.toLowerCase() === value.toLowerCase())

export const isSecretValue = (called: string, value: string): boolean =>
  value.length >= shortestValue &&
  (looksKnown(value) || (tells(called, value) && !saysItsName(bare(called), value) && !reference.test(value)))

/** Each of several values under one name: `TOKENS=x,y`, `Cookie: a=x; b=y`. */
export const valuesOfSeveral = (called: string, value: string): readonly string[] =>
  /(?:(?:key|token|password|secret)s|cookies?)$/iu.test(called)
    ? valuesNamed(called, value).filter((each) => each !== value && isSecretValue(singleOf(called), each))
    : []
/** As an entry of a list is called: a word is none. */
const singleOf = (called: string): string => `${called.replace(/s$/iu, '')}${many}`

/** Numbers are counts where a name only ends in `token`; one that is called a password is one. */
export const isSecretNumber = (called: string): boolean =>
  /(?:pass(?:word|wd|phrase|code)?|pwd|pin|otp|secret)$/iu.test(singular(called))

/** What an entry of a list is called. */
export const entryName = (called: string): string => (isTelling(called) ? called : `${called}${many}`)

/** Where a name and its value are two members. */
export const isNameMember = (own: string): boolean => /^(?:name|key|variable)$/iu.test(own)
export const isValueMember = (own: string): boolean => /^value$/iu.test(own)

/** What says something of secrets, or of whom they are for. */
const field = new RegExp(
  '(?:^|[_-])(?:ids?|name|user|username|e?mail|type|kind|url|uri|host|path|file|issuer|scopes?|region|expires|at|' +
    'policy|mode|engine|provider|backend|driver|store|format|version|level|hashing|hash|algorithm|signing|encryption|' +
    'rotation|lifetime|ttl|length|prefix|role|group|status|state|enabled|description|comment)$',
  'iu',
)
/**
 * What a member is called: one of `passwords` is a password, whoever it is for, and `value` is what it is the value of.
 */
export const memberName = (own: string, above: string): string => {
  const one = entryName(above)
  const isOfMany = one !== above && isTelling(one)
  if (own === 'value') return one
  return isOfMany && !isTelling(own) && !field.test(own) ? one : own
}
