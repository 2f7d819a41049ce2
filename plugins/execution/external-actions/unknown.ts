/** The warning of effects of which nobody can tell whether they happened. */
import type { HealthCheck } from '../../../core/plugin.js'
import type { ExternalActions } from './contract.js'

export const unknownCheck = (ledger: Pick<ExternalActions, 'unknown'>): HealthCheck => ({
  id: 'unknown-external-actions',
  check: () => {
    const runs = ledger.unknown()
    const [first] = runs
    if (first === undefined) return []
    const many = runs.length === 1 ? `Run ${first} has` : `${runs.length} runs, the first of them ${first}, have`
    return [
      {
        severity: 'warning',
        code: 'external_actions_unknown',
        related_id: first,
        message: `${many} an effect outside of which nobody can tell whether it happened.`,
        action:
          'List them: holdfast runs list --unknown. See what was done: holdfast runs actions RUN_ID. When you have ' +
          'looked whether it happened: holdfast runs acknowledge RUN_ID',
      },
    ]
  },
})
