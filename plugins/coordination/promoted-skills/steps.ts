/** Which status of a rollout follows which, and what must be shown for it. Pure. */
import { noEvidence, type Evidence, type RolloutStatus, type SkillStatus } from './record.js'

/** What follows what. What is new or revoked begins as a draft. */
const reachable: Readonly<Record<SkillStatus | 'new', readonly RolloutStatus[]>> = {
  new: ['draft'],
  revoked: ['draft'],
  draft: ['draft', 'verified'],
  verified: ['draft', 'verified', 'canary', 'active'],
  canary: ['draft', 'canary', 'active'],
  active: ['active'],
}

export type StepRefusal = 'no_draft' | 'no_step' | 'active_definition' | 'unverified' | 'no_canary'
export type Step =
  | { readonly ok: true; readonly evidence: Evidence; readonly resets: boolean }
  | { readonly ok: false; readonly why: StepRefusal }

export interface StepWish {
  readonly from: SkillStatus | 'new'
  readonly to: RolloutStatus
  /** The definition is another one than before. */
  readonly isChanged: boolean
  readonly evidence: Evidence
}

export const isVerified = (evidence: Evidence): boolean =>
  evidence.verification_status === 'verified' &&
  evidence.real_daemon_verified &&
  evidence.successful_run_count > 0 &&
  (evidence.verifier_run_ids ?? []).length > 0

const isProvenAsCanary = ({ canary_success_count, canary_failure_count }: Evidence): boolean =>
  canary_success_count > 0 && canary_failure_count === 0

export const promotionStep = ({ from, to, isChanged, evidence: before }: StepWish): Step => {
  const isNew = from === 'new' || from === 'revoked'
  if (from === 'active' && isChanged) return { ok: false, why: 'active_definition' }
  if (!reachable[from].includes(to)) return { ok: false, why: isNew ? 'no_draft' : 'no_step' }
  const resets = !isNew && (isChanged || (to === 'draft' && from !== 'draft'))
  const evidence = isNew || resets ? noEvidence : before
  if (to !== 'draft' && !isVerified(evidence)) return { ok: false, why: 'unverified' }
  if (to === 'active' && !isProvenAsCanary(evidence)) return { ok: false, why: 'no_canary' }
  return { ok: true, evidence, resets }
}
