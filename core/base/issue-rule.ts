/** What a value had to be, said without the value. */
import type { Failure } from 'superstruct'

/** The rule that a member breaks which there is none of. */
export const unknownField = 'is not a known field'

/** The member that the sentence of a fault begins with, else nothing. */
export const memberIn = (fault: string): string => /^[\w.-]+/u.exec(fault)?.[0] ?? ''

interface Bounds {
  min?: number
  max?: number
}
/** The rule that a length breaks, of so many characters or items; undefined if it fits. */
export const lengthRule = (length: number, { min = 0, max = Infinity }: Bounds, one: string): string | undefined => {
  if (length < min) return `must have at least ${min} ${one}${min === 1 ? '' : 's'}`
  return length > max ? `must have at most ${max} ${one}${max === 1 ? '' : 's'}` : undefined
}

export interface StringRules extends Bounds {
  pattern?: string
  /** The rule of the pattern in words, as in `must be a word`. */
  told?: string
}
/** The pattern of text in which something is to be seen. */
export const notBlank = '\\S'

/** What the patterns say that many texts have. */
export const inWords: Readonly<Record<string, string>> = {
  [notBlank]: 'must not be blank',
  '^\\S+$': 'must be one word, without blanks',
  '^/': 'must be an absolute path',
  '^[A-Za-z0-9._-]+$': 'must be of letters, digits, dots, underscores and hyphens alone',
  '^[0-9a-f]{64}$': 'must be a SHA-256 in hex: 64 digits and small letters from a to f',
  '^[^\\p{Cc}]*$': 'must hold no control characters',
}

/** The rule that a text breaks, else true. */
export const textCheck = ({
  min = 0,
  max = Infinity,
  pattern,
  told,
}: StringRules): ((text: string) => string | true) => {
  const regex = pattern === undefined ? undefined : new RegExp(pattern, 'u')
  return (text) => {
    let length = 0
    if (min > 0 || max < Infinity) for (const _ of text) length += 1
    const broken = lengthRule(length, { min, max }, 'character')
    if (broken !== undefined || regex === undefined || regex.test(text)) return broken ?? true
    return told ?? inWords[pattern ?? ''] ?? `must match ${pattern ?? ''}`
  }
}

/** The rule that a value broke, to stand behind its path. */
export const ruleOf = (failure: Failure): string => {
  if (failure.type === 'never') return unknownField
  if (failure.value === undefined) return 'is required'
  if (failure.refinement !== undefined && !failure.message.startsWith('Expected')) return failure.message
  return `must be ${kindOf(failure)}`
}
/** What was wanted. The library's message names it before the received value, which never leaves. */
const kindOf = ({ type, message }: Failure): string => {
  const wanted = /^Expected (?:one of|the literal) `(.*?)`, but received/u.exec(message)?.[1]
  if (type === 'enums' && wanted !== undefined) return `one of ${wanted.replaceAll(',', ', ')}`
  if (type === 'literal' && wanted !== undefined) return wanted
  if (type === 'union') return 'of one of the allowed forms'
  return type === 'type' || type === 'record' ? 'an object' : `${/^[aeiou]/u.test(type) ? 'an' : 'a'} ${type}`
}

/** Further faults that are told beside the first one. */
const mostOthers = 4

/** `; wrong too: a, b and 2 more`: who mends one fault is not told the next one by the next start. */
export const wrongToo = (others: readonly string[]): string => {
  const more = others.length - mostOthers
  return others.length === 0
    ? ''
    : `; wrong too: ${others.slice(0, mostOthers).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
