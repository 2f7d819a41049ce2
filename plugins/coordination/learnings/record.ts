/** What is kept of candidates and learnings. Times in Unix ms. */
import {
  array,
  defaulted,
  doc,
  enums,
  integer,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
} from '../../../core/plugin.js'
import {
  learningKinds,
  LearningScope,
  learningStatuses,
  publishTiers,
  sensitivities,
  verificationStatuses,
} from '../../execution/memory/contract.js'
import { policyActions } from './policy.js'

export const candidateStates = ['pending', 'escalated', 'published', 'rejected'] as const
export const policyDecisions = ['manual', 'automatic', 'escalated'] as const

const id = () => optional(string({ max: 200 }))
/** Where a learning comes from. */
export const LearningSource = named(
  'LearningSource',
  object({
    run_id: id(),
    session_id: id(),
    agent_id: id(),
    input_event_offset: optional(integer({ min: 0 })),
    observation_id: id(),
    derivation_id: id(),
  }),
)
/** What shows that it holds. */
export const EvidenceRef = named(
  'LearningEvidenceRef',
  object({ run_id: id(), artifact_id: id(), note: optional(string({ max: 400 })) }),
)
/** The value form of `EvidenceRef`. */
export type EvidenceRef = Infer<typeof EvidenceRef>
export const EvidenceRefs = array(EvidenceRef, { max: 16 })

/** What was decided about a candidate without a person. */
export const AutomationReview = named(
  'AutomationReview',
  object({
    mode: enums(['manual_only', 'shadow', 'enabled']),
    action: doc(enums(policyActions), 'What is done, or would be.'),
    reviewed_at_ms: timestamp(),
    matched_rule_name: optional(string()),
    judge: optional(object({ action: enums(policyActions), judged_at_ms: timestamp(), reason: string() })),
    reason: string(),
  }),
)

const content = {
  scope: LearningScope,
  kind: enums(learningKinds),
  sensitivity: enums(sensitivities),
  content: string(),
  confidence: integer({ min: 0, max: 100 }),
  source: defaulted(LearningSource, {}),
  evidence_refs: optional(EvidenceRefs),
  created_at_ms: timestamp(),
  expires_at_ms: optional(timestamp()),
}

/** A candidate, as it is kept and shown. */
export const LearningCandidate = named(
  'LearningCandidate',
  object({
    candidate_id: string(),
    ...content,
    origin: enums(['api', 'daemon']),
    state: enums(candidateStates),
    automation_review: optional(AutomationReview),
    published_learning_id: optional(string()),
  }),
)
/** The value form of `LearningCandidate`. */
export type LearningCandidate = Infer<typeof LearningCandidate>

/** A learning, as it is kept and shown. */
export const Learning = named(
  'Learning',
  object({
    learning_id: string(),
    ...content,
    source_candidate_id: optional(string()),
    published_at_ms: timestamp(),
    status: enums(learningStatuses),
    publish_tier: enums(publishTiers),
    policy_decision: optional(enums(policyDecisions)),
    policy_actor: optional(string()),
    verification_status: enums(verificationStatuses),
    supersedes: optional(string()),
    superseded_by: optional(string()),
    revoked_at_ms: optional(timestamp()),
    revoked_reason: optional(string()),
  }),
)
/** The value form of `Learning`. */
export type Learning = Infer<typeof Learning>
