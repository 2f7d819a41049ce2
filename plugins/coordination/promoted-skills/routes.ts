import {
  arraySource,
  collectionSource,
  defineRoute,
  doc,
  enums,
  jsonReply,
  listPage,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  string,
  type PageSource,
  type Route,
  type Skip,
} from '../../../core/plugin.js'
import { runErrors } from '../../execution/runs/contract.js'
import { learningErrors } from '../learnings/contract.js'
import { PromotionBody } from './definition.js'
import type { Endings } from './ending.js'
import { promotedErrors } from './errors.js'
import type { Promote } from './promote.js'
import { PromotedSkill, skillStatuses, type SkillRecord, type SkillStatus } from './record.js'
import { RolloutBody, type RecordRollout } from './rollout.js'
import type { SkillStore } from './store.js'

export interface SkillRouteParts {
  readonly store: SkillStore
  readonly promote: Promote
  readonly rollout: RecordRollout
  readonly endings: Endings
  readonly view: (record: SkillRecord) => PromotedSkill
  readonly skip: Skip
}

/** Bytes: the instructions are most of it, and a character may be six of them. */
const bodyLimit = 512 * 1024
const path = '/v1/learning-skills/:skill_name'
const params = object({ skill_name: string({ min: 1, max: 200 }) })
const ReasonBody = object({
  reason: optional(doc(string({ max: 400 }), 'Kept with what is done; a blank one is none.')),
})

export const promotedRoutes = (parts: SkillRouteParts): readonly Route[] => [
  promote(parts),
  list(parts),
  read(parts),
  rolloutResult(parts),
  revoke(parts),
  rollback(parts),
]

const promote = ({ promote: act, view }: SkillRouteParts): Route =>
  defineRoute({
    id: 'learnings.promote_skill',
    method: 'POST',
    path: '/v1/learnings/:learning_id/promote-skill',
    summary: 'Makes a skill of a procedure, or takes that skill a step further in its rollout.',
    access: 'admin',
    bodyLimit,
    params: object({ learning_id: string({ min: 1, max: 200 }) }),
    body: PromotionBody,
    reply: jsonReply(PromotedSkill),
    problems: [
      learningErrors.learning_not_found,
      promotedErrors.invalid_promotion,
      promotedErrors.promotion_secret,
      promotedErrors.learning_not_promotable,
      promotedErrors.promotion_not_draft,
      promotedErrors.promotion_step_refused,
      promotedErrors.promotion_unverified,
      promotedErrors.promotion_without_canary,
      promotedErrors.learning_promoted,
      promotedErrors.promoted_skill_exists,
      promotedErrors.skill_name_taken,
      promotedErrors.active_definition_change,
      promotedErrors.promoted_skills_full,
      promotedErrors.promoted_skill_files,
    ],
    durability: 'A',
    example: { body: { skill_name: 'release:notes', instructions: 'Read the log and write the notes.' } },
    handler: async (input) => view(await act(input.params.learning_id, input.body)),
  })

const list = ({ store, view, skip }: SkillRouteParts): Route =>
  defineRoute({
    id: 'learning_skills.list',
    method: 'GET',
    path: '/v1/learning-skills',
    summary: 'Lists promoted skills by name, also those that are revoked.',
    access: 'read',
    query: object({
      source_learning_id: optional(doc(string({ max: 200 }), 'Only those of this learning.')),
      status: optional(doc(enums(skillStatuses), 'Only those in this status.')),
      ...pageFields,
    }),
    reply: jsonReply(pageOf(PromotedSkill)),
    problems: pageProblems,
    handler: ({ query: { page, cursor, limit, ...wish } }) =>
      listPage({
        query: { page, cursor, limit },
        source: fitting(store, wish, skip),
        label: 'skill_name_asc',
        view: (record) => view(record),
        skip,
      }),
  })

interface ListWish {
  readonly source_learning_id?: string | undefined
  readonly status?: SkillStatus | undefined
}
const nameOf = ({ skill_name }: SkillRecord): string => skill_name

/** Of one learning there are few. */
const mostOfLearning = 1_000
const fitting = (
  { skills }: SkillStore,
  { source_learning_id, status }: ListWish,
  skip: Skip,
): PageSource<SkillRecord> => {
  if (source_learning_id === undefined)
    return collectionSource(skills, status === undefined ? 'all' : 'status', status ?? 'all')
  const found = skills.list({ index: 'source', group: source_learning_id, limit: mostOfLearning, skip })
  return arraySource(
    found.filter((record) => status === undefined || record.status === status),
    nameOf,
  )
}

const read = ({ store, view }: SkillRouteParts): Route =>
  defineRoute({
    id: 'learning_skills.get',
    method: 'GET',
    path,
    summary: 'Reads a promoted skill, with what has become of it.',
    access: 'read',
    params,
    reply: jsonReply(PromotedSkill),
    problems: [promotedErrors.promoted_skill_not_found],
    handler: (input) => view(store.get(input.params.skill_name)),
  })

const rolloutResult = ({ rollout, view }: SkillRouteParts): Route =>
  defineRoute({
    id: 'learning_skills.rollout_result',
    method: 'POST',
    path: `${path}/rollout-result`,
    summary: 'Records what a run has shown of a promoted skill; once for each run.',
    access: 'admin',
    params,
    body: RolloutBody,
    reply: jsonReply(PromotedSkill),
    problems: [
      runErrors.run_not_found,
      promotedErrors.promoted_skill_not_found,
      promotedErrors.invalid_rollout,
      promotedErrors.promoted_skill_revoked,
      promotedErrors.rollout_not_canary,
      promotedErrors.rollout_fingerprint_mismatch,
      promotedErrors.rollout_run_counted,
      promotedErrors.rollout_run_early,
      promotedErrors.rollout_run_untold,
      promotedErrors.rollout_failed,
      promotedErrors.rollout_unverified,
      promotedErrors.rollout_results_full,
    ],
    durability: 'A',
    example: { body: { kind: 'verification', run_id: 'run_1', expected_output_contains: 'Notes written' } },
    handler: async (input) => view(await rollout(input.params.skill_name, input.body)),
  })

const revoke = ({ endings, view }: SkillRouteParts): Route =>
  defineRoute({
    id: 'learning_skills.revoke',
    method: 'POST',
    path: `${path}/revoke`,
    summary: 'Ends a promoted skill: its files are gone and no model uses it when this answers.',
    access: 'admin',
    params,
    body: ReasonBody,
    bodyOptional: true,
    reply: jsonReply(PromotedSkill),
    problems: [
      promotedErrors.promoted_skill_not_found,
      promotedErrors.promotion_secret,
      promotedErrors.promoted_skill_files,
    ],
    durability: 'A',
    example: { body: { reason: 'It writes to the wrong folder.' } },
    handler: async (input) => view(await endings.revoke(input.params.skill_name, input.body.reason)),
  })

const rollback = ({ endings, view }: SkillRouteParts): Route =>
  defineRoute({
    id: 'learning_skills.rollback',
    method: 'POST',
    path: `${path}/rollback`,
    summary: 'Makes a promoted skill what it was when it was active the last time.',
    access: 'admin',
    params,
    body: ReasonBody,
    bodyOptional: true,
    reply: jsonReply(PromotedSkill),
    problems: [
      promotedErrors.promoted_skill_not_found,
      promotedErrors.promotion_secret,
      promotedErrors.rollback_source_ended,
      promotedErrors.rollback_impossible,
      promotedErrors.learning_promoted,
      promotedErrors.skill_name_taken,
      promotedErrors.promoted_skills_full,
      promotedErrors.promoted_skill_files,
    ],
    durability: 'A',
    example: { body: { reason: 'The new one is worse.' } },
    handler: async (input) => view(await endings.rollback(input.params.skill_name, input.body.reason)),
  })
