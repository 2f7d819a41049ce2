import {
  boolean,
  defaulted,
  doc,
  enums,
  integer,
  named,
  object,
  optional,
  type Infer,
} from '../../../../core/plugin.js'
import { policyErrors } from './errors.js'
import { defineSetting, type Settings } from '../../../operator/runtime/contract.js'

const day = 86_400_000

const fields = {
  enabled: doc(boolean(), 'Whether ended runs are remembered and shown.'),
  retention_ms: doc(integer({ min: 60_000, max: 3650 * day }), 'How long a run is remembered. Milliseconds.'),
  max_tracked_per_session: doc(
    integer({ min: 1, max: 256 }),
    'Runs that a session remembers, at most; the oldest go first.',
  ),
  max_prompt_entries: doc(
    integer({ min: 0, max: 256 }),
    'Recovered runs in the memory context, at most; never more than are tracked.',
  ),
  redact_pii: doc(boolean(), 'Whether personal data is redacted; secrets always are.'),
  search_visibility: doc(
    enums(['session_only', 'learning_scopes']),
    'Whether a search finds runs of the session alone, or also those of sessions with the same persona or project.',
  ),
}

/** What is remembered of runs, for how long, and who finds it (memory-14 to memory-18). */
export const RunMemoryPolicy = named(
  'RunMemoryPolicy',
  object({
    enabled: defaulted(fields.enabled, true),
    retention_ms: defaulted(fields.retention_ms, 30 * day),
    max_tracked_per_session: defaulted(fields.max_tracked_per_session, 32),
    max_prompt_entries: defaulted(fields.max_prompt_entries, 3),
    redact_pii: defaulted(fields.redact_pii, true),
    search_visibility: defaulted(fields.search_visibility, 'session_only'),
  }),
)
export type RunMemoryPolicy = Infer<typeof RunMemoryPolicy>

const some = {
  enabled: optional(fields.enabled),
  retention_ms: optional(fields.retention_ms),
  max_tracked_per_session: optional(fields.max_tracked_per_session),
  max_prompt_entries: optional(fields.max_prompt_entries),
  redact_pii: optional(fields.redact_pii),
  search_visibility: optional(fields.search_visibility),
}

const given = (members: object): [string, unknown][] =>
  Object.entries(members).filter(([, value]) => value !== undefined)

const refused = (path: string, rule: string) => policyErrors.invalid_run_memory_policy({ errors: [{ path, rule }] })

/** The policy of run memory; members that are left out of a change stay as they are. */
export const policySetting = (configured: RunMemoryPolicy) =>
  defineSetting({
    name: 'run_memory_policy',
    schema: RunMemoryPolicy,
    initial: () => configured,
    change: {
      path: 'run-memory-policy',
      summary: 'Sets what is remembered of runs; what is left out stays as it is.',
      fields: {
        policy: optional(doc(object(some), 'The policy; its members may also stand in the body itself.')),
        ...some,
      },
      value: ({ policy, ...flat }, now) => {
        const beside = given(flat)
        if (policy !== undefined && beside.length > 0)
          throw refused('body.policy', `must not be there beside ${beside.map(([name]) => name).join(', ')}`)
        const asked = given(policy ?? flat)
        if (asked.length === 0)
          throw refused(
            policy === undefined ? 'body' : 'body.policy',
            `must have one of ${Object.keys(some).join(', ')}`,
          )
        return { ...now, ...Object.fromEntries(asked) }
      },
      invalid: policyErrors.invalid_run_memory_policy,
      example: { policy: { max_prompt_entries: 5 } },
    },
  })

/** The policy in force, at each look: the prompt never gets more runs than are tracked. */
export const policyInForce = (settings: Settings, setting: ReturnType<typeof policySetting>): RunMemoryPolicy => {
  const now = (): RunMemoryPolicy => settings.get(setting)
  return {
    get enabled() {
      return now().enabled
    },
    get retention_ms() {
      return now().retention_ms
    },
    get max_tracked_per_session() {
      return now().max_tracked_per_session
    },
    get max_prompt_entries() {
      return Math.min(now().max_prompt_entries, now().max_tracked_per_session)
    },
    get redact_pii() {
      return now().redact_pii
    },
    get search_visibility() {
      return now().search_visibility
    },
  }
}
