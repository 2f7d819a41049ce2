/** Whether a hook is about a subject, such as the name of a tool. */
import { namesOf } from './familiar.js'
import { patternOf, type Pattern } from './pattern.js'

const plain = /^[\w.:/-]+(?:\|[\w.:/-]+)*$/u
/** Characters of a subject that a pattern is tried on. */
const mostSubject = 200

const isPlain = (matcher: string): boolean => matcher === '' || matcher === '*' || plain.test(matcher)

/** Patterns that were asked for; all are dropped where there would be more than these. */
const known = new Map<string, Pattern | string>()
const mostKnown = 1_000

const find = (matcher: string): Pattern | string => {
  const before = known.get(matcher)
  if (before !== undefined) return before
  if (known.size >= mostKnown) known.clear()
  const pattern = patternOf(matcher)
  known.set(matcher, pattern)
  return pattern
}

/** Why a matcher cannot be, as the end of a sentence. */
export const matcherFault = (matcher: string): string | undefined => {
  const pattern = isPlain(matcher) ? undefined : find(matcher)
  return typeof pattern === 'string' ? pattern : undefined
}

/** Without a matcher every subject does, and none too. */
export const matches = (matcher: string | undefined, subject: string | undefined): boolean => {
  if (matcher === undefined || matcher === '' || matcher === '*') return true
  if (subject === undefined) return false
  const names = namesOf(subject)
  if (plain.test(matcher) && matcher.split('|').some((name) => names.includes(name))) return true
  const pattern = find(matcher)
  return typeof pattern !== 'string' && names.some((name) => pattern(name.slice(0, mostSubject)))
}
