/** How it went the last time, for those who look at the daemon. */
import {
  boolean,
  commandLine,
  count,
  doc,
  integer,
  object,
  optional,
  string,
  type Count,
  type HealthCheck,
  type Infer,
  type Warning,
} from '../../../core/plugin.js'
import type { Transcript, TranscriptionPlan } from '../derivations/contract.js'

/** What the status says of it. */
export const TranscriptionStatus = object({
  available: doc(boolean(), 'True if somebody would be asked now.'),
  reason: optional(doc(string(), 'Why nobody would be.')),
  route_id: optional(string()),
  model: optional(string()),
  consecutive_failures: doc(integer({ min: 0 }), 'Sounds since the last one that was written down.'),
})

export interface Heard {
  told(said: Transcript): void
  status(plan: TranscriptionPlan | string): Infer<typeof TranscriptionStatus>
  readonly health: HealthCheck
}

export const createHeard = (calls: Pick<Count, 'add'>): Heard => {
  let failures = 0
  let last = ''
  return {
    told(said) {
      calls.add(1, said.type === 'failed' ? 'failed' : 'completed')
      failures = said.type === 'failed' ? failures + 1 : 0
      if (said.type === 'failed') last = said.message
    },
    status: (plan) => ({
      ...(typeof plan === 'string'
        ? { available: false, reason: plan }
        : { available: true, route_id: plan.route_id, model: plan.model }),
      consecutive_failures: failures,
    }),
    health: { id: 'transcription', check: () => (failures === 0 ? [] : [failing(failures, last)]) },
  }
}

const failing = (failures: number, last: string): Warning => ({
  severity: 'warning',
  code: 'transcription_failing',
  message: `Speech was not written down, ${count(failures, 'sound')} since it last was. ${last}`,
  action: `See what failed: ${commandLine('derivations list')}`,
})
