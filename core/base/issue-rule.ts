/** What a value had to be, said without the value. */
import type { Failure } from 'superstruct'

/** The rule that a member breaks which there is none of. */
export const unknownField = 'is not a known field'

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
