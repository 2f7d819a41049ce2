/** A run as clients see it (runs-17). */
import {
  array,
  doc,
  enums,
  integer,
  jsonObject,
  literal,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
} from '../../../../core/plugin.js'
import { AttachmentRef } from '../../../media/assets/contract.js'
import { usageFields } from '../../../operator/usage/contract.js'
import { DeliveryView } from '../../deliveries/contract.js'
import { DaemonOutputRecord, ApprovalRequestView, Isolation, UserQuestionRequestView } from '../../sessions/contract.js'
import { answerEnds, answerEndsDoc } from '../record/answer-end.js'
import { RunWorktree } from '../record/run-workspaces.js'
import { runKinds, runStatuses } from '../record/run-record.js'

/** What was submitted, in short, with the route and model that were used (runs-17). */
export const RunRequestSummary = named(
  'RunRequestSummary',
  object({
    source_plugin: doc(string(), 'The plugin that sent it.'),
    source_kind: doc(string(), 'Kind of its source.'),
    actor_id: doc(string(), 'Id of who sent the input, as its sender gave it.'),
    text_preview: optional(string()),
    provider: optional(doc(string(), 'Id of the route that the run uses.')),
    model: optional(doc(string(), 'The model in use: `fallback_model` from the moment when that took over.')),
    fallback_model: optional(
      doc(string(), 'The model that takes over on the same route when the first one fails for good.'),
    ),
    runtime_revision: optional(
      doc(
        integer({ min: 1 }),
        'The revision of the settings that the run keeps; absent where nobody had changed any when it was accepted.',
      ),
    ),
    approval_count: optional(integer()),
    question_count: optional(integer()),
  }),
)

/** A run that waits for its model route. */
export const RouteWaitView = named(
  'RouteWaitView',
  object({
    attempts: doc(integer({ min: 1 }), 'Attempts at this answer that have failed.'),
    since_ms: doc(timestamp(), 'When the first of them failed.'),
    next_attempt_at_ms: timestamp(),
    code: doc(string(), 'Why the last one failed, such as `network` or `overloaded`.'),
    message: string(),
  }),
)

/** A model call that waits because the server of the model asked for time. */
export const HeldCallView = named(
  'HeldCallView',
  object({ until_ms: doc(timestamp(), 'When it is made at the earliest.') }),
)

/** What the model calls of a run used. */
const RunUsage = named('RunUsage', object(usageFields))

/** A run as it is shown; members that are empty are left out (runs-17). */
export const RunView = named(
  'RunView',
  object({
    run_id: doc(string(), 'Id of the run.'),
    session_id: doc(string(), 'Id of the session.'),
    agent_id: doc(string(), 'Id of the agent.'),
    kind: enums(runKinds),
    status: enums(runStatuses),
    submitted_at_ms: timestamp(),
    updated_at_ms: timestamp(),
    started_at_ms: optional(timestamp()),
    finished_at_ms: optional(timestamp()),
    queued_position: optional(doc(integer(), '1 is next.')),
    request: RunRequestSummary,
    input_attachments: optional(doc(array(AttachmentRef), 'The files that the run was given.')),
    input_metadata: optional(doc(jsonObject(), 'Metadata of the input.')),
    pending_approval_ids: optional(doc(array(string()), 'Ids of the approvals that the run waits for.')),
    pending_approvals: optional(doc(array(ApprovalRequestView), 'Approvals that wait for a decision.')),
    pending_question_ids: optional(doc(array(string()), 'Ids of the questions that the run waits for.')),
    pending_questions: optional(doc(array(UserQuestionRequestView), 'Questions that wait for an answer.')),
    outputs: optional(doc(array(DaemonOutputRecord), 'What was put out: the newest, as many as fit into 2 MiB.')),
    outputs_truncated: optional(
      doc(literal(true), 'Present if there are older outputs than those shown; the events of the run have them all.'),
    ),
    deliveries: optional(
      doc(array(DeliveryView), 'What became of its outputs at their targets, oldest first, at most a hundred.'),
    ),
    isolation: optional(doc(Isolation, 'Present where the run has a git worktree of its own.')),
    worktree: optional(
      doc(RunWorktree, 'Absent before the run begins, and after its end where it left nothing: then it is removed.'),
    ),
    error: optional(doc(string(), 'A stable code, a colon and a sentence.')),
    answer_ended: optional(
      doc(enums(answerEnds), `Present where the answer that completed the run is not whole: ${answerEndsDoc}`),
    ),
    retry_of: optional(doc(string(), 'The ended run that this one repeats.')),
    usage: optional(doc(RunUsage, 'What its model calls used so far.')),
    model_call_held: optional(
      doc(HeldCallView, 'Present while the call is held back because the server of the model asked for time.'),
    ),
    waiting_for_model_route: optional(
      doc(RouteWaitView, 'Present while the model route fails and the run waits to ask it again.'),
    ),
  }),
)
/** The value form of `RunView`. */
export type RunView = Infer<typeof RunView>
