/** Whether a hook is about a subject, such as the name of a tool. */

const plain = /^[\w.:/-]+(?:\|[\w.:/-]+)*$/u
/** Characters of a subject that a pattern is tried on. */
const mostSubject = 200

/**
 * Why a matcher cannot be, as the end of a sentence. Repeated groups, references and looks aside could take exponential
 * time; without them four repetitions take at most the fourth power of a short subject.
 */
export const matcherFault = (matcher: string): string | undefined => {
  if (matcher === '' || matcher === '*' || plain.test(matcher)) return undefined
  const bare = matcher.replaceAll(/\\[^1-9k]|\[[^\]]*\]/gu, 'x')
  if (/\)[*+?{]|\\[1-9k]|\(\?(?!:)/u.test(bare))
    return 'may hold no repeated groups, no references and no looks ahead or behind.'
  if ((bare.match(/[*+{]/gu) ?? []).length > 4) return 'may hold four repetitions at most.'
  try {
    return new RegExp(matcher, 'u') instanceof RegExp ? undefined : undefined
  } catch {
    return 'is no regular expression.'
  }
}

const wholeOf = (matcher: string): RegExp | undefined => {
  try {
    return new RegExp(`^(?:${matcher})$`, 'u')
  } catch {
    return undefined
  }
}

/** Without a matcher every subject does, and none too. */
export const matches = (matcher: string | undefined, subject: string | undefined): boolean => {
  if (matcher === undefined || matcher === '' || matcher === '*') return true
  if (subject === undefined) return false
  if (plain.test(matcher) && matcher.split('|').includes(subject)) return true
  return wholeOf(matcher)?.test(subject.slice(0, mostSubject)) === true
}
