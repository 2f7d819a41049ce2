/** What went wrong, as the command line says it. */
import { Problem } from '../../base/errors.js'
import { visibleBlock, visibleLine } from '../../base/text/visible.js'
import { messageOf, stackOf } from '../../base/text/thrown.js'
import { accessProblem, codeOf, errors as stateErrors, programProblem } from '../../state/errors.js'
import { DaemonProblem } from './daemon-problem.js'
import { errors, usageCodes } from './errors.js'
import { isOfTheLine } from './own-words.js'
import type { CommandInput } from '../../plugin/command.js'

export interface Explanation {
  readonly text: string
  readonly code: number
}

type Output = CommandInput['output']

/** The fields that the sentence does not name already. */
const fieldsOf = ({ message, occurrence: { errors = [] } }: Problem): string[] =>
  errors.map(({ path, rule }) => `${path} ${rule}`).filter((field) => !message.includes(field))

/** The limit may be too low to load what is needed. */
const filesProblem = (cause: unknown): Problem | undefined =>
  ['EMFILE', 'ENFILE'].includes(codeOf(cause) ?? '') ? errors.too_many_files({ cause }) : undefined

/** Whatever others say in it begins no line. */
const indent = 2
/** One sentence with its code, every field that was refused, and what can be done. */
const sentences = (problem: Problem): string => {
  const { action } = problem
  return [
    `holdfast: ${visibleBlock(problem.message, indent)} (${visibleLine(problem.code)})`,
    ...fieldsOf(problem).map((field) => `  ${visibleBlock(field, 2 * indent)}`),
    ...(action === undefined ? [] : [visibleBlock(action, indent)]),
  ].join('\n')
}

/** For programs: the document of the daemon as it came; of what went wrong here, the same facts. */
const facts = (problem: Problem): unknown => {
  for (const given of [problem, problem.cause]) if (given instanceof DaemonProblem) return given.document
  const { code, message, action, occurrence } = problem
  return { code, message, action, errors: occurrence.errors }
}

/** A fault of ours, with its stack. */
const fault = (error: unknown, output: Output): string => {
  const [message, stack] = [messageOf(error), stackOf(error)]
  if (output === 'json') return JSON.stringify({ code: 'internal_error', message, stack })
  return `holdfast: ${stack ?? message}`
}

const exitCode = ({ code, occurrence }: Problem): number => {
  if (code === stateErrors.interrupted.code) return 130
  return usageCodes.has(code) || isOfTheLine(occurrence.errors) ? 2 : 1
}

export const explain = (cause: unknown, output: Output = 'pretty'): Explanation => {
  const error = accessProblem(cause) ?? filesProblem(cause) ?? programProblem(cause) ?? cause
  if (!(error instanceof Problem)) return { text: fault(error, output), code: 1 }
  return {
    text: output === 'json' ? JSON.stringify(facts(error)) : sentences(error),
    code: exitCode(error),
  }
}
