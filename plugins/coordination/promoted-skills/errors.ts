import { defineErrors } from '../../../core/plugin.js'

const domain = 'learnings'

/** Problems of promoted skills. */
export const promotedErrors = defineErrors({
  invalid_promotion: {
    status: 400,
    domain,
    detail: 'No skill can be made of this.',
    action: 'Correct the fields that are named and ask again.',
  },
  promotion_secret: {
    status: 400,
    domain,
    detail: 'There is what looks like a secret in it, and nothing of it was kept.',
    action: 'Say it without the secret: name where it is kept, for example.',
  },
  learning_not_promotable: {
    status: 400,
    domain,
    detail: 'No skill can be made of the learning {learning_id}: {rule}.',
    action: 'Promote a procedure of the workspace that is active and of the tier active.',
  },
  promotion_not_draft: {
    status: 400,
    domain,
    detail: 'The skill {skill_name} cannot begin as {status}.',
    action: 'Promote it as draft, then record the result of a run that verifies it.',
  },
  promotion_step_refused: {
    status: 400,
    domain,
    detail: 'The skill {skill_name} cannot go from {from} to {to}.',
    action: 'Go from draft to verified, canary and active; an active one is revoked before it begins anew.',
  },
  promotion_unverified: {
    status: 400,
    domain,
    detail: 'The skill {skill_name} as it is defined now has no run that verifies it.',
    action:
      'Promote it as draft and record the result of a run that verifies it with ' +
      'POST /v1/learning-skills/{skill_name}/rollout-result.',
  },
  promotion_without_canary: {
    status: 400,
    domain,
    detail: 'Good runs of the skill {skill_name} as a canary: {successes}, bad ones: {failures}.',
    action: 'It takes a good one and no bad one: record one as canary, or begin again as draft.',
  },
  promoted_skill_not_found: {
    status: 404,
    domain,
    detail: 'There is no promoted skill {skill_name}.',
    action: 'See GET /v1/learning-skills for those that there are.',
  },
  learning_promoted: {
    status: 409,
    domain,
    detail: 'The learning {learning_id} is promoted as {skill_name} already.',
    action: 'Revoke that skill first, or promote the learning under its name.',
  },
  promoted_skill_exists: {
    status: 409,
    domain,
    detail: 'The promoted skill {skill_name} is of the learning {learning_id}.',
    action: 'Choose another name, or revoke that skill first.',
  },
  skill_name_taken: {
    status: 409,
    domain,
    detail: 'There is a skill {skill_name} among those of people: {skill_path}.',
    action: 'Choose another name, or rename that skill.',
  },
  active_definition_change: {
    status: 409,
    domain,
    detail: 'The skill {skill_name} is active, and what it says cannot change.',
    action: 'Revoke it and promote the learning anew, which begins as a draft.',
  },
  promoted_skills_full: {
    status: 409,
    domain,
    detail: 'There are {most} promoted skills that are not revoked, which is the most.',
    action: 'Revoke some of them.',
  },
  rollback_impossible: {
    status: 409,
    domain,
    detail: 'The skill {skill_name} was never active, as far as is known.',
    action: 'Promote its learning instead.',
  },
  rollback_source_ended: {
    status: 409,
    domain,
    detail: 'The skill {skill_name} cannot return, because of its learning {learning_id}: {rule}.',
    action: 'Publish the procedure anew and promote that learning.',
  },
  invalid_rollout: {
    status: 400,
    domain,
    detail: 'This is no result of a rollout.',
    action: 'Correct the fields that are named and ask again.',
  },
  promoted_skill_revoked: {
    status: 400,
    domain,
    detail: 'The skill {skill_name} is revoked.',
    action: 'Promote its learning anew, or roll it back.',
  },
  rollout_not_canary: {
    status: 400,
    domain,
    detail: 'The skill {skill_name} is {status} and no canary.',
    action: 'Promote it as canary first.',
  },
  rollout_fingerprint_mismatch: {
    status: 400,
    domain,
    detail: 'The skill {skill_name} has the fingerprint {fingerprint} now.',
    action: 'Look at the skill again: the run was of another definition.',
  },
  rollout_run_early: {
    status: 400,
    domain,
    detail: 'The run {run_id} is from before the skill {skill_name} was a draft that says what it says now.',
    action:
      'Have a run work by its instructions now, such as that of an agent with the profile verification, and give that.',
  },
  rollout_run_untold: {
    status: 400,
    domain,
    detail: 'The request of the run {run_id} did not have the instructions of the skill {skill_name}.',
    action: 'Give a run that was asked to work by them; of an active skill the launch_run_id of use_skill is one.',
  },
  rollout_run_counted: {
    status: 409,
    domain,
    detail: 'The run {run_id} counts as {kind} of the skill {skill_name} already, and a run counts once.',
    action: 'Give another run: each result takes one of its own.',
  },
  rollout_failed: {
    status: 400,
    domain,
    detail: 'The run {run_id} does not verify the skill: {rule}.',
    action: 'See its output with GET /v1/runs/{run_id}, and give a run that completed with the expected words.',
  },
  rollout_unverified: {
    status: 400,
    domain,
    detail: 'The skill {skill_name} has no run that verifies it.',
    action: 'Record one with kind verification first.',
  },
  promoted_skill_files: {
    status: 503,
    domain,
    detail: 'The skill {skill_name} is {status}, and its files are not as that says: {why}.',
    action: 'See that the folder can be written, then ask again; it is tried again every 30 seconds too.',
  },
  rollout_results_full: {
    status: 409,
    domain,
    detail: 'The skill {skill_name} has the results of {most} runs, which is the most.',
    action: 'They are enough. A new draft begins without results.',
  },
})
