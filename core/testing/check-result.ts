/** What a check found, as data. */
import { fault } from '../base/assert.js'
import { messageOf } from '../base/text/thrown.js'

/** What one check found. */
export interface CheckResult {
  /** Name of the check, such as `register` or `stop`. */
  readonly check: string
  /** `skipped`: it could not be checked. */
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** What holds, what is wrong, or why it could not be checked: one line. */
  readonly sentence: string
}

/** What a check says when it is over. */
export type Verdict = Omit<CheckResult, 'check'>

export const passed = (sentence: string): Verdict => ({ outcome: 'passed', sentence })
export const skipped = (reason: string): Verdict => ({ outcome: 'skipped', sentence: reason })
/** Passed if nothing is wrong. */
export const verdictOf = (wrong: readonly string[], sentence: string): Verdict =>
  wrong.length === 0 ? passed(sentence) : { outcome: 'failed', sentence: wrong.join('; ') }

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/gu, ' ')

/** A check that throws has failed with what it threw. */
export const runCheck = async (check: string, run: () => Verdict | Promise<Verdict>): Promise<CheckResult> => {
  try {
    const { outcome, sentence } = await run()
    return { check, outcome, sentence: oneLine(sentence) }
  } catch (error) {
    return { check, outcome: 'failed', sentence: oneLine(messageOf(error)) }
  }
}

/** Which checks need not have been made. */
export interface AssertOptions {
  /** Names of checks that may be skipped; none when absent. */
  readonly maySkip?: readonly string[]
}

/** Throws one error that names every check that failed, and every one that was skipped and may not be. */
export const assertPassed = (results: readonly CheckResult[], { maySkip = [] }: AssertOptions = {}): void => {
  const wrong = results.filter(
    ({ check, outcome }) => outcome === 'failed' || (outcome === 'skipped' && !maySkip.includes(check)),
  )
  if (wrong.length > 0)
    throw fault(wrong.map(({ check, outcome, sentence }) => `${check} ${outcome}: ${sentence}`).join('\n'))
}
