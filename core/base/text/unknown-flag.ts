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
  const longer = known.filter((name) => name.startsWith(`${flag}-`))
  return meantName(flag, known) ?? (longer.length === 1 ? longer[0] : undefined)
}

/** The refusal of a flag that is not known; it says which one was most likely meant, or where all of them stand. */
export const unknownFlag = (flag: string, { command, known, meant = meantBy(flag, [...known]) }: Asked): Problem => {
  const help = ['holdfast', ...(command === '' ? [] : [command]), '--help'].join(' ')
  const hint = meant === undefined ? `; see ${help}` : `; did you mean --${meant}?`
  return errors.flag_unknown({ details: { flag, hint } })
}
