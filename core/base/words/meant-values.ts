/**
 * Tells a secret behind its name from code, words and types, which stand there in diffs, in what a linter says and in
 * documents: `token = await getToken(id)`, `password: string`, `Unexpected token: punc`.
 */
import { isChosen, isRandom } from './bare-secrets.js'
import { isMixed, outer } from './said-secrets.js'

/** Variables, templates, pointers, calls and members. */
const code = /^[$<{%*&!]|[()[\]{}]|^[\p{L}_$][\w$]*(?:(?:\?\.|\.|::|->)[\p{L}_$][\w$]*)+$/u
export const isCode = (value: string): boolean => code.test(value)

/** What a person calls something: words, a number within or behind them, also of a file. */
const called =
  /^[A-Za-z]+(?:[-_./:+][A-Za-z]+)*(?:[-_.]v?\d{1,5}(?:\.\d{1,4}){0,2}|\d{1,5}[A-Za-z]*)?(?:\.[a-z]{1,4})?$/u
export const isName = (value: string): boolean => called.test(value)
const ofPassword = /pass(?:wo?r?d|phrase)?[^A-Za-z0-9]*(?:is\s*)?$|pwd[^A-Za-z0-9]*$/iu
/** A place that only a secret has: in front of the host of an address, behind `curl -u`, a signature. */
const place = /:\/\/|^curl|sig(?:nature)?=$/iu
const example = /^(?:pass(?:word|wd)?|pwd?|secret|token|xxx+|\*+)$/iu

/** A password of letters with signs amid them, or of digits alone. */
const isChosenPassword = (value: string): boolean =>
  /^\d{4,}$/u.test(value) ||
  (isMixed(value) && !/[\s.:]/u.test(value) && /[^#%^+~@$!][#%^+~@$!]+[^#%^+~@$!]/u.test(value))

const isMade = (word: string, name: string): boolean =>
  isRandom(word) || (isChosen(word) && (ofPassword.test(name) || (word.length >= 8 && !isName(word))))

/** `name` is all that stands in front of the value, such as `api_key: `. Takes linear time. */
export const isMeant = (name: string, value: string): boolean => {
  if (place.test(name)) return !isCode(value) && !example.test(value)
  if (ofPassword.test(name) && isChosenPassword(value)) return !isCode(value)
  return value.split(/[\s;=&,]+/u).some((word) => !isCode(word) && isMade(word.replaceAll(outer, ''), name))
}
