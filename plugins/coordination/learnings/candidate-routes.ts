import {
  defaulted,
  defineRoute,
  doc,
  enums,
  integer,
  jsonReply,
  listPage,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  string,
  timestamp,
  type Route,
  type Skip,
} from '../../../core/plugin.js'
import { learningKinds, publishTiers, sensitivities } from '../../execution/memory/contract.js'
import { mostContent, ScopeWish } from './checked.js'
import { learningErrors } from './errors.js'
import { candidateFilter, candidateFilters, type Found } from './filters.js'
import type { Operations } from './operate.js'
import { EvidenceRefs, Learning, LearningCandidate, LearningSource } from './record.js'
import type { LearningStore } from './store.js'

export interface LearningRouteParts {
  readonly store: LearningStore
  readonly operations: Operations
  readonly found: Found
  readonly skip: Skip
}

const Content = doc(string(), `What is learned: 1 to ${mostContent} characters, without the blanks around them.`)
const Confidence = integer({ min: 0, max: 100 })
const Kind = enums(learningKinds)
const Sensitivity = doc(enums(sensitivities), 'A sensitive one is told to no model and found by no search.')
/** What may be said in place of what is there. */
export const overrides = {
  scope: optional(ScopeWish),
  kind: optional(Kind),
  sensitivity: optional(Sensitivity),
  confidence: optional(Confidence),
  expires_at_ms: optional(timestamp()),
  evidence_refs: optional(doc(EvidenceRefs, 'Empty for those that are there.')),
}

/** Bytes: content and evidence are most of it. */
export const bodyLimit = 128 * 1024
const path = '/v1/learning-candidates/:candidate_id'
const params = object({ candidate_id: string({ min: 1, max: 200 }) })

export const candidateRoutes = (parts: LearningRouteParts): readonly Route[] => [
  list(parts),
  create(parts),
  read(parts),
  publish(parts),
  reject(parts),
]

const list = ({ store, found, skip }: LearningRouteParts): Route =>
  defineRoute({
    id: 'learning_candidates.list',
    method: 'GET',
    path: '/v1/learning-candidates',
    summary: 'Lists what may be learned, by id.',
    access: 'read',
    query: object({ ...candidateFilters, ...pageFields }),
    reply: jsonReply(pageOf(LearningCandidate)),
    problems: [...pageProblems, learningErrors.invalid_learning_filter],
    handler: async ({ query: { page, cursor, limit, ...wish } }) =>
      listPage({
        query: { page, cursor, limit },
        source: await found.candidates(candidateFilter(wish)),
        label: 'candidate_id_asc',
        view: (id) => store.candidate(id),
        skip,
      }),
  })

const create = ({ operations }: LearningRouteParts): Route =>
  defineRoute({
    id: 'learning_candidates.create',
    method: 'POST',
    path: '/v1/learning-candidates',
    summary: 'Brings something that may be learned; nobody is told of it before it is published.',
    access: 'admin',
    bodyLimit,
    body: object({
      scope: ScopeWish,
      kind: doc(Kind, 'Any but run_summary, which the daemon makes.'),
      sensitivity: defaulted(Sensitivity, 'scoped'),
      content: Content,
      confidence: defaulted(Confidence, 80),
      source: defaulted(LearningSource, {}),
      evidence_refs: optional(EvidenceRefs),
      expires_at_ms: optional(timestamp()),
    }),
    reply: jsonReply(LearningCandidate, 201),
    problems: [learningErrors.invalid_learning, learningErrors.learning_secret],
    durability: 'A',
    example: {
      body: { scope: { kind: 'workspace' }, kind: 'preference', content: 'Releases are made on Tuesdays.' },
    },
    handler: ({ body }) => operations.create(body),
  })

const read = ({ store }: LearningRouteParts): Route =>
  defineRoute({
    id: 'learning_candidates.get',
    method: 'GET',
    path,
    summary: 'Reads a candidate, with what was decided about it without a person.',
    access: 'read',
    params,
    reply: jsonReply(LearningCandidate),
    problems: [learningErrors.learning_candidate_not_found],
    handler: (input) => store.candidate(input.params.candidate_id),
  })

const publish = ({ operations }: LearningRouteParts): Route =>
  defineRoute({
    id: 'learning_candidates.publish',
    method: 'POST',
    path: `${path}/publish`,
    summary: 'Makes a learning of a candidate, or answers the one that says the same; once it is published, that one.',
    access: 'admin',
    bodyLimit,
    params,
    body: object({
      ...overrides,
      content: optional(Content),
      publish_tier: defaulted(enums(publishTiers), 'active'),
      supersedes: optional(doc(string({ min: 1, max: 200 }), 'The learning that this one is to stand for.')),
    }),
    bodyOptional: true,
    reply: jsonReply(Learning),
    problems: [
      learningErrors.learning_candidate_not_found,
      learningErrors.learning_not_found,
      learningErrors.invalid_learning,
      learningErrors.learning_secret,
      learningErrors.learning_candidate_rejected,
      learningErrors.learning_candidate_published,
      learningErrors.learning_conflict,
      learningErrors.learning_scope_mismatch,
      learningErrors.learning_superseded,
      learningErrors.learning_revoked,
      learningErrors.learnings_full,
      learningErrors.learnings_unsettled,
    ],
    durability: 'A',
    example: { body: { publish_tier: 'provisional' } },
    handler: (input) => operations.publish(input.params.candidate_id, input.body),
  })

const reject = ({ operations }: LearningRouteParts): Route =>
  defineRoute({
    id: 'learning_candidates.reject',
    method: 'POST',
    path: `${path}/reject`,
    summary: 'Decides that a candidate is not learned.',
    access: 'admin',
    params,
    body: object({}),
    bodyOptional: true,
    reply: jsonReply(LearningCandidate),
    problems: [learningErrors.learning_candidate_not_found, learningErrors.learning_candidate_published],
    durability: 'A',
    handler: (input) => operations.reject(input.params.candidate_id),
  })
