/** What is kept of a promoted skill. Times in Unix ms. */
import {
  array,
  boolean,
  doc,
  enums,
  integer,
  literal,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
} from '../../../core/plugin.js'
import { LearningScope, verificationStatuses } from '../../execution/memory/contract.js'
import { EvidenceRef } from '../learnings/contract.js'

export const skillStatuses = ['draft', 'verified', 'canary', 'active', 'revoked'] as const
/** How far the rollout of a skill is. */
export type SkillStatus = (typeof skillStatuses)[number]
/** Those that can be asked for. */
export const rolloutStatuses = ['draft', 'verified', 'canary', 'active'] as const
export type RolloutStatus = (typeof rolloutStatuses)[number]
export const rolloutKinds = ['verification', 'canary'] as const
export type RolloutKind = (typeof rolloutKinds)[number]

/** Of one skill, the newest of each. */
export const [mostEvents, mostEvidence, mostVerifiers] = [200, 200, 500]

const Tools = optional(array(string()))
/** How the agent works that is started for the skill. */
export const SkillRuntime = object({
  allowed_tools: Tools,
  blocked_tools: Tools,
  context: literal('fork'),
  agent_profile: literal('verification'),
  provider: optional(string()),
  model: optional(string()),
  fallback_model: optional(string()),
})
export type SkillRuntime = Infer<typeof SkillRuntime>

const LifecycleEvent = named(
  'PromotedSkillEvent',
  object({
    event: enums(['promote', 'rollout_result', 'revoke', 'rollback']),
    recorded_at_ms: timestamp(),
    from_status: optional(enums(skillStatuses)),
    to_status: enums(skillStatuses),
    rollout_kind: optional(enums(rolloutKinds)),
    run_id: optional(string()),
    session_id: optional(string()),
    success: optional(boolean()),
    definition_fingerprint: optional(string()),
    reason: optional(string()),
  }),
)
/** The value form of `LifecycleEvent`. */
export type LifecycleEvent = Infer<typeof LifecycleEvent>

const count = () => integer({ min: 0 })

const definition = {
  description: string(),
  when_to_use: optional(string()),
  version: optional(string()),
  instructions: string(),
}
const evidence = {
  evidence_refs: optional(array(EvidenceRef, { max: mostEvidence })),
  verification_status: enums(verificationStatuses),
  successful_run_count: count(),
  distinct_session_count: count(),
  verifier_run_ids: optional(array(string(), { max: mostVerifiers })),
  real_daemon_verified: doc(boolean(), 'A run of this daemon has shown that it works.'),
  last_verified_workspace_digest: optional(string()),
  canary_success_count: count(),
  canary_failure_count: count(),
}
const head = { skill_name: string(), source_learning_id: string(), source_scope: LearningScope }

/** Without its events, as the history keeps it. */
const snapshotFields = {
  ...head,
  status: enums(skillStatuses),
  ...definition,
  definition_fingerprint: string(),
  runtime: SkillRuntime,
  ...evidence,
  promoted_at_ms: timestamp(),
  rollout_began_at_ms: optional(
    doc(timestamp(), 'When it became a draft that says what it says: no run from before shows anything of it.'),
  ),
  revoked_at_ms: optional(timestamp()),
  revoked_reason: optional(string()),
}
export const SkillSnapshot = object({ ...snapshotFields, number: integer({ min: 1 }) })
export type SkillSnapshot = Infer<typeof SkillSnapshot>

const Events = optional(doc(array(LifecycleEvent, { max: mostEvents }), `The newest ${mostEvents}, oldest first.`))
/** A promoted skill as it is kept. */
export const SkillRecord = object({ ...snapshotFields, lifecycle_events: Events })
export type SkillRecord = Infer<typeof SkillRecord>

/** A promoted skill as it is shown. */
export const PromotedSkill = named(
  'PromotedSkill',
  object({
    ...snapshotFields,
    skill_path: doc(string(), 'Where its file is while it is active.'),
    skill_root: string(),
    digest: doc(string(), 'As the catalogue of skills has it; empty while it is not there.'),
    lifecycle_events: Events,
  }),
)
/** The value form of `PromotedSkill`. */
export type PromotedSkill = Infer<typeof PromotedSkill>

/** What shows that a skill works. */
export type Evidence = Pick<
  SkillRecord,
  | 'verification_status'
  | 'successful_run_count'
  | 'distinct_session_count'
  | 'verifier_run_ids'
  | 'real_daemon_verified'
  | 'canary_success_count'
  | 'canary_failure_count'
>
export const noEvidence: Evidence = {
  verification_status: 'unverified',
  successful_run_count: 0,
  distinct_session_count: 0,
  verifier_run_ids: [],
  real_daemon_verified: false,
  canary_success_count: 0,
  canary_failure_count: 0,
}

/** Adds an event; the oldest falls. Stamps do not go back. */
export const withEvent = (
  record: SkillRecord,
  { recorded_at_ms, ...event }: Omit<LifecycleEvent, 'to_status'>,
): SkillRecord => {
  const { lifecycle_events: before = [], status } = record
  const at = Math.max(recorded_at_ms, before.at(-1)?.recorded_at_ms ?? 0)
  const added: LifecycleEvent = { ...event, recorded_at_ms: at, to_status: status }
  return { ...record, lifecycle_events: [...before, added].slice(-mostEvents) }
}

/** Adds what shows something; the oldest falls. */
export const withEvidence = (record: SkillRecord, ref: EvidenceRef): SkillRecord => ({
  ...record,
  evidence_refs: [...(record.evidence_refs ?? []), ref].slice(-mostEvidence),
})

/** Records of earlier versions say no more than when their name was promoted. */
export const beganAt = ({ rollout_began_at_ms, promoted_at_ms }: SkillRecord): number =>
  rollout_began_at_ms ?? promoted_at_ms

export const isLive = ({ status }: Pick<SkillRecord, 'status'>): boolean => status !== 'revoked'
