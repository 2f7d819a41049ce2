import { boolean, defaulted, doc, enums, integer, named, object, type Infer } from '../../../../core/plugin.js'

const day = 86_400_000

/** What is remembered of runs, for how long, and who finds it (memory-14 to memory-18). */
export const RunMemoryPolicy = named(
  'RunMemoryPolicy',
  object({
    enabled: doc(defaulted(boolean(), true), 'Whether ended runs are remembered and shown.'),
    retention_ms: doc(
      defaulted(integer({ min: 60_000, max: 3650 * day }), 30 * day),
      'How long a run is remembered. Milliseconds.',
    ),
    max_tracked_per_session: doc(
      defaulted(integer({ min: 1, max: 256 }), 32),
      'Runs that a session remembers, at most; the oldest go first.',
    ),
    max_prompt_entries: doc(
      defaulted(integer({ min: 0, max: 256 }), 3),
      'Recovered runs in the memory context, at most; never more than are tracked.',
    ),
    redact_pii: doc(defaulted(boolean(), true), 'Whether personal data is redacted; secrets always are.'),
    search_visibility: doc(
      defaulted(enums(['session_only', 'learning_scopes']), 'session_only'),
      'Whether a search finds runs of the session alone, or also those of sessions with the same persona or project.',
    ),
  }),
)
export type RunMemoryPolicy = Infer<typeof RunMemoryPolicy>

/** The policy in force: the prompt never gets more runs than are tracked. */
export const inForce = (policy: RunMemoryPolicy): RunMemoryPolicy => ({
  ...policy,
  max_prompt_entries: Math.min(policy.max_prompt_entries, policy.max_tracked_per_session),
})
