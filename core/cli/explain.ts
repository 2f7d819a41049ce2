/** What went wrong, as the command line says it. */
import { Problem } from '../base/errors.js'
import { accessProblem } from '../state/errors.js'
import { usageCodes } from './errors.js'

export interface Explanation {
  readonly text: string
  readonly code: number
}

/** The fields that the sentence does not name already. */
const fieldsOf = ({ message, occurrence: { errors = [] } }: Problem): string[] =>
  errors.map(({ path, rule }) => `${path} ${rule}`).filter((field) => !message.includes(field))

/** One sentence with its code, every field that was refused, and what can be done. */
export const explain = (cause: unknown): Explanation => {
  const error = accessProblem(cause) ?? cause
  if (!(error instanceof Problem))
    return { text: `holdfast: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`, code: 1 }
  const { action } = error.spec
  const lines = [
    `holdfast: ${error.message} (${error.code})`,
    ...fieldsOf(error).map((field) => `  ${field}`),
    ...(action === undefined ? [] : [action]),
  ]
  return { text: lines.join('\n'), code: usageCodes.has(error.code) ? 2 : 1 }
}
