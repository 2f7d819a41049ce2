import { defineErrors } from '../../../core/plugin.js'

const domain = 'learnings'

/** Problems of learnings and of the policy for them. */
export const learningErrors = defineErrors({
  invalid_learning_policy: {
    status: 400,
    domain: 'runtime',
    detail: 'This learning policy cannot hold.',
    action: 'Give the whole policy with its mode, as GET /v1/runtime/learning-policy shows it.',
  },
  invalid_learning: {
    status: 400,
    domain,
    detail: 'This cannot be learned as it stands.',
    action: 'Correct the fields that are named and ask again.',
  },
  invalid_learning_filter: {
    status: 400,
    domain,
    detail: 'These filters cannot be applied.',
    action: 'Correct the fields that are named and ask again.',
  },
  learning_secret: {
    status: 400,
    domain,
    detail: 'There is what looks like a secret in it, and nothing of it was kept.',
    action: 'Say it without the secret: name where it is kept, for example.',
  },
  learning_candidate_not_found: {
    status: 404,
    domain,
    detail: 'There is no learning candidate {candidate_id}.',
    action: 'See GET /v1/learning-candidates for those that there are.',
  },
  learning_not_found: {
    status: 404,
    domain,
    detail: 'There is no learning {learning_id}.',
    action: 'See GET /v1/learnings for those that there are.',
  },
  learning_candidate_published: {
    status: 409,
    domain,
    detail: 'The learning candidate {candidate_id} is published as {learning_id}.',
    action: 'Revoke the learning with POST /v1/learnings/{learning_id}/revoke, or supersede it.',
  },
  learning_candidate_rejected: {
    status: 409,
    domain,
    detail: 'The learning candidate {candidate_id} was rejected.',
    action: 'Create it again with POST /v1/learning-candidates if it is wanted after all.',
  },
  learning_superseded: {
    status: 409,
    domain,
    detail: 'The learning {learning_id} is superseded by {superseded_by}.',
    action: 'Supersede the one that stands for it now: POST /v1/learnings/{superseded_by}/supersede.',
  },
  learning_revoked: {
    status: 409,
    domain,
    detail: 'The learning {learning_id} is revoked and does not return.',
    action: 'Create a candidate with POST /v1/learning-candidates and publish it.',
  },
  learning_scope_mismatch: {
    status: 409,
    domain,
    detail: 'The learning {learning_id} is of the scope {scope}, and what stands for it must be of the same.',
    action: 'Give the scope of that learning (--scope-kind and --scope-id), or none.',
  },
  learning_conflict: {
    status: 409,
    domain,
    detail: 'The active learning {learning_id} says something else of the same.',
    action:
      'Name it in supersedes (--supersedes {learning_id}) to have this one stand for it, or revoke it first: ' +
      'POST /v1/learnings/{learning_id}/revoke.',
  },
  learnings_unsettled: {
    status: 503,
    domain,
    detail: 'It is done and kept, but what rested on what has ended, such as a promoted skill, may still be used.',
    action: 'Ask again in a while: the same request answers when nothing rests on it any more.',
  },
  learnings_full: {
    status: 409,
    domain,
    detail: 'The scope {scope} has {most} learnings that hold, which is the most.',
    action: 'Revoke some of them, for example with POST /v1/learnings/revoke-matching.',
  },
})
