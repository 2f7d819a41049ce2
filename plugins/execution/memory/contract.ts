/**
 * What a session remembers: recovered runs, and the learnings and skills that other plugins bring. Rules:
 * docs/rules/memory.md.
 */
import {
  array,
  boolean,
  definePoint,
  doc,
  enums,
  named,
  number,
  object,
  open,
  optional,
  string,
  timestamp,
  type Infer,
  type Point,
} from '../../../core/plugin.js'
import { CapabilityScope } from '../sessions/contract.js'

/** The policy of run memory (memory-14 to memory-19). */
export { RunMemoryPolicy } from './policy.js'

/** Where learnings belong, widest last: this is also their order (memory-9). */
export const scopeKinds = ['session', 'persona', 'project', 'workspace'] as const
/** What a learning holds for; the id of the workspace is `default`. */
export const LearningScope = named('LearningScope', object({ kind: enums(scopeKinds), id: string({ min: 1 }) }))
/** The value form of `LearningScope`. */
export type LearningScope = Infer<typeof LearningScope>

/** A terminal run as its session remembers it. Texts are redacted and short (memory-15 and memory-18). */
export const RunMemory = named(
  'RunMemory',
  object({
    run_id: doc(string(), 'Id of the run.'),
    recorded_at_ms: doc(timestamp(), 'When the run ended.'),
    status: enums(['completed', 'failed', 'interrupted', 'cancelled']),
    request_preview: optional(string()),
    outcome_preview: optional(string()),
    artifact_ids: array(string()),
    failure_markers: array(string()),
    summary: doc(string(), 'Request, result and status, at most 480 characters.'),
  }),
)
/** The value form of `RunMemory`. */
export type RunMemory = Infer<typeof RunMemory>

const learningKinds = ['run_summary', 'fact', 'preference', 'decision', 'procedure'] as const
const publishTiers = ['provisional', 'active'] as const
const verificationStatuses = ['unverified', 'pending', 'verified', 'failed'] as const
const learningStatuses = ['provisional', 'active', 'superseded', 'revoked'] as const

/**
 * A learning as its plugin keeps it. Times in Unix ms. The projection rules of docs/rules/memory.md are applied by
 * memory, not by the source.
 */
export interface LearningItem {
  readonly learning_id: string
  readonly scope: LearningScope
  readonly kind: (typeof learningKinds)[number]
  readonly sensitivity: 'scoped' | 'sensitive'
  readonly content: string
  readonly published_at_ms: number
  readonly expires_at_ms?: number
  readonly status: (typeof learningStatuses)[number]
  readonly publish_tier: (typeof publishTiers)[number]
  readonly policy_decision?: 'manual' | 'automatic' | 'escalated'
  readonly verification_status: (typeof verificationStatuses)[number]
  /** The learning that this one stands for while it is live. */
  readonly supersedes?: string
}

/** What a list tells of a skill (memory-11). */
export const SkillSummary = named(
  'SkillSummary',
  object({
    name: string(),
    description: string(),
    when_to_use: optional(string()),
    version: optional(string()),
    skill_path: string(),
    skill_root: string(),
    scope: enums(['explicit', 'repo', 'user']),
    digest: string(),
    runtime: open({
      allowed_tools: optional(array(string())),
      blocked_tools: optional(array(string())),
      context: enums(['inline', 'fork']),
      agent_profile: optional(string()),
      provider: optional(doc(string(), 'The provider of the model.')),
      model: optional(string()),
      fallback_model: optional(doc(string(), 'The model that is asked when the first one fails.')),
    }),
  }),
)
/** The value form of `SkillSummary`. */
export type SkillSummary = Infer<typeof SkillSummary>

/** A skill as its plugin keeps it. */
export interface SkillItem {
  readonly summary: SkillSummary
  /** Unix ms. */
  readonly updated_at_ms: number
  /** Of a promoted skill: how far its rollout is, and the scope of the learning that it comes from. */
  readonly promoted?: {
    readonly status: 'draft' | 'verified' | 'canary' | 'active' | 'revoked'
    readonly source_scope: LearningScope
  }
}

/**
 * Where memory comes from, beside recovered runs. Its methods are called for each question: they must be fast, must not
 * throw and must do no I/O.
 */
export interface MemorySource {
  readonly id: string
  /** Further scopes of a session, such as those of its projects. */
  scopes?(session_id: string): readonly LearningScope[]
  /** Every learning of these scopes, whatever its state. */
  learnings?(scopes: readonly LearningScope[]): readonly LearningItem[]
  /** Every skill, whatever its state. */
  skills?(): readonly SkillItem[]
}
/** Sources of memory by id. */
export const MemorySources: Point<MemorySource> = definePoint<MemorySource>('memory-sources@1', (source) => source.id)

/** A learning as a model is shown it (memory-8). */
export const LearnedEntry = named(
  'LearnedEntry',
  object({
    learning_id: doc(string(), 'Id of the learning.'),
    kind: enums(['fact', 'preference', 'decision']),
    published_at_ms: timestamp(),
    content: string(),
  }),
)
/** The value form of `LearnedEntry`. */
export type LearnedEntry = Infer<typeof LearnedEntry>

/** What a session remembers at once (memory-9). */
export const SessionMemoryContextView = named(
  'SessionMemoryContextView',
  object({
    session_id: doc(string(), 'Id of the session.'),
    effective_capability_scope: optional(doc(CapabilityScope, 'What applies after all scopes are combined.')),
    learning_scopes: doc(array(LearningScope), 'Scopes whose learnings are seen.'),
    learned_context: object({ entries: array(LearnedEntry), truncated: boolean() }),
    recovered_memory: object({ entries: array(RunMemory), truncated: boolean() }),
    visible_skills: array(SkillSummary),
  }),
)
/** The value form of `SessionMemoryContextView`. */
export type SessionMemoryContextView = Infer<typeof SessionMemoryContextView>

const row = {
  source_id: string(),
  title: string(),
  excerpt: doc(string(), 'The part of the text that was found.'),
  score: doc(number({ min: 0 }), '0 without a query.'),
  timestamp_ms: timestamp(),
  scope: LearningScope,
  prompt_eligible: doc(boolean(), 'True if a model may be shown it.'),
  matched_fields: array(enums(['content', 'kind', 'scope'])),
  learning_status: optional(enums(learningStatuses)),
  publish_tier: optional(enums(publishTiers)),
  verification_status: optional(enums(verificationStatuses)),
}
/** One result of a memory search (memory-10). */
export const MemorySearchResult = named(
  'MemorySearchResult',
  object({ kind: enums(['learning', 'recovered_run', 'skill']), ...row }),
)
/** The value form of `MemorySearchResult`. */
export type MemorySearchResult = Infer<typeof MemorySearchResult>

/** What a search in a session found (memory-10). */
export const SessionMemorySearchView = named(
  'SessionMemorySearchView',
  object({
    session_id: doc(string(), 'Id of the session.'),
    effective_capability_scope: optional(doc(CapabilityScope, 'What applies after all scopes are combined.')),
    learning_scopes: doc(array(LearningScope), 'Scopes whose learnings are seen.'),
    query: optional(string()),
    truncated: doc(boolean(), 'True if there is more than the limit lets through.'),
    results: array(MemorySearchResult),
  }),
)
/** The value form of `SessionMemorySearchView`. */
export type SessionMemorySearchView = Infer<typeof SessionMemorySearchView>
