/** What went wrong, as the command line says it. */
import { Problem } from '../base/errors.js'
import { accessProblem, codeOf } from '../state/errors.js'
import { errors, usageCodes } from './errors.js'

export interface Explanation {
  readonly text: string
  readonly code: number
}

/** The fields that the sentence does not name already. */
const fieldsOf = ({ message, occurrence: { errors = [] } }: Problem): string[] =>
  errors.map(({ path, rule }) => `${path} ${rule}`).filter((field) => !message.includes(field))

/** The daemon refused what the command line itself gave: every field is a flag or an argument. */
const isOfTheLine = ({ occurrence: { errors = [] } }: Problem): boolean =>
  errors.length > 0 && errors.every(({ path }) => /^(?:--|<)/u.test(path))

/** The limit may be too low to load what is needed. */
const filesProblem = (cause: unknown): Problem | undefined =>
  ['EMFILE', 'ENFILE'].includes(codeOf(cause) ?? '') ? errors.too_many_files({ cause }) : undefined

/** One sentence with its code, every field that was refused, and what can be done. */
export const explain = (cause: unknown): Explanation => {
  const error = accessProblem(cause) ?? filesProblem(cause) ?? cause
  if (!(error instanceof Problem))
    return { text: `holdfast: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`, code: 1 }
  const { action } = error.spec
  const lines = [
    `holdfast: ${error.message} (${error.code})`,
    ...fieldsOf(error).map((field) => `  ${field}`),
    ...(action === undefined ? [] : [action]),
  ]
  return { text: lines.join('\n'), code: usageCodes.has(error.code) || isOfTheLine(error) ? 2 : 1 }
}
