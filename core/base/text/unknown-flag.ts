import { errors } from '../config.js'
import type { Problem } from '../errors.js'
import { meantName } from '../words/nearest.js'

interface Asked {
  /** With its `--help`: `serve`, or empty for the program. */
  readonly command: string
  readonly known: Iterable<string>
  /** What the flag is for others; found among the known ones when absent. */
  readonly meant?: string | undefined
}

/** Nearly the same, or the beginning of one alone. */
const meantBy = (flag: string, known: readonly string[]): string | undefined => {
  const isLetter = flag.length === 1
  const longer = known.filter((name) => name.startsWith(isLetter ? flag : `${flag}-`))
  // Every short name is near a letter.
  const near = isLetter ? undefined : meantName(flag, known)
  return near ?? (longer.length === 1 ? longer[0] : undefined)
}

/** True of what other programs take for a flag: `-n`. */
export const isDashed = (word: string): boolean => /^-[A-Za-z]/u.test(word)

/**
 * The refusal of a flag that is not known, with its dash if it was given with one alone; it says which one was most
 * likely meant, or where all of them stand.
 */
export const unknownFlag = (given: string, { command, known, meant }: Asked): Problem => {
  const [flag, name] = isDashed(given) ? [given, given.slice(1)] : [`--${given}`, given]
  const likely = meant ?? meantBy(name, [...known])
  const help = ['holdfast', ...(command === '' ? [] : [command]), '--help'].join(' ')
  const hint = likely === undefined ? `; see ${help}` : `; did you mean --${likely}?`
  return errors.flag_unknown({ details: { flag, hint } })
}
