/** What other plugins bring to be remembered: learnings and skills, as they keep them and as they are shown. */
import {
  array,
  doc,
  enums,
  named,
  object,
  open,
  optional,
  string,
  timestamp,
  type Infer,
} from '../../../../core/plugin.js'

/** Where learnings belong, widest last: this is also their order (memory-9). */
export const scopeKinds = ['session', 'persona', 'project', 'workspace'] as const
/** What a learning holds for; the id of the workspace is `default`. */
export const LearningScope = named('LearningScope', object({ kind: enums(scopeKinds), id: string({ min: 1 }) }))
/** The value form of `LearningScope`. */
export type LearningScope = Infer<typeof LearningScope>

/** What a learning can be. */
export const learningKinds = ['run_summary', 'fact', 'preference', 'decision', 'procedure'] as const
/** A sensitive one is shown to nobody by itself. */
export const sensitivities = ['scoped', 'sensitive'] as const
export const publishTiers = ['provisional', 'active'] as const
export const verificationStatuses = ['unverified', 'pending', 'verified', 'failed'] as const
export const learningStatuses = ['provisional', 'active', 'superseded', 'revoked'] as const

/**
 * A learning as its plugin keeps it. Times in Unix ms. The projection rules of docs/rules/memory.md are applied by
 * memory, not by the source.
 */
export interface LearningItem {
  readonly learning_id: string
  readonly scope: LearningScope
  readonly kind: (typeof learningKinds)[number]
  readonly sensitivity: (typeof sensitivities)[number]
  readonly content: string
  readonly published_at_ms: number
  readonly expires_at_ms?: number | undefined
  readonly status: (typeof learningStatuses)[number]
  readonly publish_tier: (typeof publishTiers)[number]
  readonly policy_decision?: 'manual' | 'automatic' | 'escalated' | undefined
  readonly verification_status: (typeof verificationStatuses)[number]
  /** The learning that this one stands for while it is live. */
  readonly supersedes?: string | undefined
}

/** The members of a skill's summary. */
export const skillFields = {
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
}
/** What a list tells of a skill (memory-11). */
export const SkillSummary = named('SkillSummary', object(skillFields))
/** The value form of `SkillSummary`. */
export type SkillSummary = Infer<typeof SkillSummary>

/** A skill as its plugin keeps it. */
export interface SkillItem {
  readonly summary: SkillSummary
  /** Unix ms. */
  readonly updated_at_ms: number
  /** Of a promoted skill: how far its rollout is, and the scope of the learning that it comes from. */
  readonly promoted?:
    | {
        readonly status: 'draft' | 'verified' | 'canary' | 'active' | 'revoked'
        readonly source_scope: LearningScope
      }
    | undefined
}

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
