/** Checks of flows and of their reports as text for terminals. */
import { array, boolean, open, string, visibleLine, type Infer } from '../../../../core/plugin.js'

export const ShownCheck = open({ name: string(), passed: boolean(), details: string() })

/** What does not pass is told as the word says. */
export const checkLine =
  (unmet: 'open' | 'failed') =>
  ({ name, passed, details }: Infer<typeof ShownCheck>): string =>
    `  ${passed ? 'passed' : unmet}  ${visibleLine(name)}  ${visibleLine(details)}`

export const ShownVerdict = open({ flow_id: string(), passed: boolean(), checks: array(ShownCheck) })

export const showVerdict = ({ passed, checks }: Infer<typeof ShownVerdict>): string =>
  [passed ? 'It is as it must be.' : 'It is not as it must be.', ...checks.map(checkLine('failed'))].join('\n')
