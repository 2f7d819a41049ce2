/** What `holdfast doctor` found. */
import { visibleBlock, visibleLine } from '../../../core/plugin.js'

/** One thing that was looked at. */
export interface DoctorCheck {
  /** What it was, such as `route fast`. */
  readonly about: string
  readonly ok: boolean
  /** A stable code of what is wrong. */
  readonly code?: string
  readonly message: string
  /** What mends it. */
  readonly action?: string
}

/** All of them. */
export interface DoctorReport {
  readonly ok: boolean
  readonly checks: readonly DoctorCheck[]
}

/** All is well if each of them is. */
export const reportOf = (checks: readonly DoctorCheck[]): DoctorReport => ({ ok: checks.every(({ ok }) => ok), checks })

const width = 6
const showCheck = ({ about, ok, code, message, action }: DoctorCheck): string =>
  [
    `${(ok ? 'well' : 'WRONG').padEnd(width)}${visibleLine(about)}: ${visibleBlock(message, width)}` +
      (code === undefined ? '' : ` (${visibleLine(code)})`),
    ...(action === undefined ? [] : [`${' '.repeat(width)}${visibleBlock(action, width)}`]),
  ].join('\n')

/** The report for a person: each check, and the sum. */
export const showReport = ({ ok, checks }: DoctorReport): string => {
  const wrong = checks.filter((check) => !check.ok).length
  const sum = ok ? 'All is well.' : `${wrong} of ${checks.length} ${wrong === 1 ? 'is' : 'are'} not well.`
  return [...checks.map(showCheck), '', sum].join('\n')
}
