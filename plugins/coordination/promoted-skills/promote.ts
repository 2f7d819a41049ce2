/** Promotes a learning: makes a skill of it, or takes that skill a step further. */
import type { State, Tx } from '../../../core/plugin.js'
import { promotedFolder, type SkillCatalogue } from '../../operator/skills/contract.js'
import { learningErrors, type Learning, type Learnings } from '../learnings/contract.js'
import { lackOf, type RefuseSecret } from './checked.js'
import {
  definitionOf,
  differenceOf,
  fingerprintOf,
  textsOf,
  type Definition,
  type PromotionWish,
} from './definition.js'
import { promotedErrors } from './errors.js'
import { filesOf, pathOf } from './files.js'
import type { Mounts } from './mounts.js'
import { beganAt, isLive, noEvidence, withEvent, type RolloutStatus, type SkillRecord } from './record.js'
import { promotionStep, type Step } from './steps.js'
import { mostLive, type SkillStore } from './store.js'

export interface PromoteParts {
  readonly store: SkillStore
  readonly learnings: Pick<Learnings, 'learnings'>
  readonly catalogue: () => SkillCatalogue | undefined
  readonly mounts: Pick<Mounts, 'follow' | 'check' | 'root'>
  readonly refuseSecret: RefuseSecret
  readonly state: State
  readonly now: () => number
}

export type Promote = (learning_id: string, wish: PromotionWish) => Promise<SkillRecord>

export const createPromote = (parts: PromoteParts): Promote => {
  const { store, mounts, state, refuseSecret, now } = parts
  return async (learning_id, wish) => {
    promotable(parts, learning_id, now())
    for (;;) {
      const definition = definitionOf(wish, liveOne(store, wish.skill_name))
      for (const [path, text] of textsOf(definition)) refuseSecret(text, `body.${path}`)
      await checkReadable(parts, definition, learning_id)
      const kept = await state.commit((tx) => {
        const learning = promotable(parts, learning_id, tx.now)
        // Somebody else may have changed what is left out in the request.
        const isChecked =
          fingerprintOf(definition) === fingerprintOf(definitionOf(wish, liveOne(store, wish.skill_name)))
        return isChecked ? advance(parts, tx, { learning, definition, to: wish.status ?? 'draft' }) : undefined
      })
      if (kept === undefined) continue
      await mounts.follow(learning_id)
      if (kept.status === 'active') mounts.check(kept)
      return kept
    }
  }
}

const promotable = ({ learnings }: PromoteParts, learning_id: string, now: number): Learning => {
  const learning = learnings.learnings.find(learning_id)
  if (learning === undefined) throw learningErrors.learning_not_found({ details: { learning_id } })
  const rule = lackOf(learning, now)
  if (rule === undefined) return learning
  throw promotedErrors.learning_not_promotable({ details: { learning_id, rule } })
}

/** What a skill is now that is not revoked: of a revoked one nothing goes on. */
const liveOne = (store: SkillStore, skill_name: string): SkillRecord | undefined => {
  const record = store.find(skill_name)
  return record !== undefined && isLive(record) ? record : undefined
}

/** A file that cannot be read back as what it says would be a skill that can never be used. */
const checkReadable = async (
  { catalogue, mounts }: PromoteParts,
  definition: Definition,
  learning_id: string,
): Promise<void> => {
  const files = filesOf(definition)
  const read = await catalogue()?.read({
    path: pathOf(learning_id),
    root: mounts.root(),
    scope: 'explicit',
    text: files['SKILL.md'],
    side: files['agents/service.yaml'],
  })
  if (read === undefined) return
  const difference = read.ok ? differenceOf(definition, { ...read.skill.summary, ...read.skill }) : undefined
  const rule = read.ok ? difference && `must have a ${difference} that its file can hold` : read.rule
  if (rule !== undefined) throw promotedErrors.invalid_promotion({ errors: [{ path: 'body', rule }] })
}

interface Advance {
  readonly learning: Learning
  readonly definition: Definition
  readonly to: RolloutStatus
}

const advance = (parts: PromoteParts, tx: Tx, { learning, definition, to }: Advance): SkillRecord => {
  const { store } = parts
  const { skill_name } = definition
  const before = store.find(skill_name)
  const base = before !== undefined && isLive(before) ? before : undefined
  checkLearning(parts, skill_name, learning.learning_id)
  if (base !== undefined && base.source_learning_id !== learning.learning_id)
    throw promotedErrors.promoted_skill_exists({ details: { skill_name, learning_id: base.source_learning_id } })
  checkName(parts, skill_name)
  const fingerprint = fingerprintOf(definition)
  const isChanged = base !== undefined && base.definition_fingerprint !== fingerprint
  const step = promotionStep({ from: before?.status ?? 'new', to, isChanged, evidence: base ?? noEvidence })
  if (!step.ok) return refuseStep(step, before, { skill_name, to })
  if (base !== undefined && !isChanged && base.status === to) return base
  if (base === undefined && store.isFull()) throw promotedErrors.promoted_skills_full({ details: { most: mostLive } })
  if (before !== undefined) store.remember(tx, before)
  const record: SkillRecord = {
    source_learning_id: learning.learning_id,
    source_scope: learning.scope,
    status: to,
    ...definition,
    definition_fingerprint: fingerprint,
    ...evidenceOf(step, base),
    promoted_at_ms: base?.promoted_at_ms ?? tx.now,
    rollout_began_at_ms: base === undefined || step.resets ? tx.now : beganAt(base),
    ...(before?.lifecycle_events !== undefined && { lifecycle_events: before.lifecycle_events }),
  }
  const reason = isChanged ? 'the definition changed' : step.resets ? 'the rollout begins anew' : undefined
  const event = {
    event: 'promote' as const,
    recorded_at_ms: tx.now,
    ...(before !== undefined && { from_status: before.status }),
    definition_fingerprint: fingerprint,
    ...(reason !== undefined && { reason }),
  }
  return store.put(tx, withEvent(record, event))
}

const evidenceOf = ({ evidence }: Extract<Step, { ok: true }>, base: SkillRecord | undefined) => ({
  verification_status: evidence.verification_status,
  successful_run_count: evidence.successful_run_count,
  distinct_session_count: evidence.distinct_session_count,
  verifier_run_ids: evidence.verifier_run_ids,
  real_daemon_verified: evidence.real_daemon_verified,
  canary_success_count: evidence.canary_success_count,
  canary_failure_count: evidence.canary_failure_count,
  ...(base?.evidence_refs !== undefined && { evidence_refs: base.evidence_refs }),
})

/** Throws where the learning is a skill of another name. */
export const checkLearning = (
  { store }: Pick<PromoteParts, 'store'>,
  skill_name: string,
  learning_id: string,
): void => {
  const other = store.ofLearning(learning_id)
  if (other !== undefined && other.skill_name !== skill_name)
    throw promotedErrors.learning_promoted({ details: { learning_id, skill_name: other.skill_name } })
}

/** Throws where a skill of people has the name: what is below the folder of promoted skills is none of theirs. */
export const checkName = (
  { catalogue, mounts }: Pick<PromoteParts, 'catalogue' | 'mounts'>,
  skill_name: string,
): void => {
  const skill_path = catalogue()?.find(skill_name)?.summary.skill_path
  if (skill_path !== undefined && !skill_path.startsWith(`${mounts.root()}/${promotedFolder}/`))
    throw promotedErrors.skill_name_taken({ details: { skill_name, skill_path } })
}

const refuseStep = (
  { why }: Extract<Step, { ok: false }>,
  before: SkillRecord | undefined,
  { skill_name, to }: { readonly skill_name: string; readonly to: RolloutStatus },
): never => {
  const { canary_success_count: successes, canary_failure_count: failures } = before ?? noEvidence
  switch (why) {
    case 'no_draft':
      throw promotedErrors.promotion_not_draft({ details: { skill_name, status: to } })
    case 'no_step':
      throw promotedErrors.promotion_step_refused({ details: { skill_name, from: before?.status ?? 'new', to } })
    case 'active_definition':
      throw promotedErrors.active_definition_change({ details: { skill_name } })
    case 'unverified':
      throw promotedErrors.promotion_unverified({ details: { skill_name } })
    case 'no_canary':
      throw promotedErrors.promotion_without_canary({ details: { skill_name, successes, failures } })
  }
}
