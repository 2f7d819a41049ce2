/** Learnings and skills as they are taken from a source that no compiler has checked. */
import { enums, open, optional, string, timestamp } from '../../../../core/plugin.js'
import {
  learningKinds,
  LearningScope,
  learningStatuses,
  publishTiers,
  sensitivities,
  skillFields,
  verificationStatuses,
} from './learning.js'

export const TakenLearning = open({
  learning_id: string(),
  scope: LearningScope,
  kind: enums(learningKinds),
  sensitivity: enums(sensitivities),
  content: string(),
  published_at_ms: timestamp(),
  expires_at_ms: optional(timestamp()),
  status: enums(learningStatuses),
  publish_tier: enums(publishTiers),
  policy_decision: optional(enums(['manual', 'automatic', 'escalated'])),
  verification_status: enums(verificationStatuses),
  supersedes: optional(string()),
})

export const TakenPromotion = open({
  status: enums(['draft', 'verified', 'canary', 'active', 'revoked']),
  source_scope: LearningScope,
})

export const TakenSkill = open({
  summary: open(skillFields),
  updated_at_ms: timestamp(),
  promoted: optional(TakenPromotion),
})
