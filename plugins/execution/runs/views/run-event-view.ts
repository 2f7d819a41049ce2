/** The events of a run as clients see them (runs-20). */
import {
  array,
  boolean,
  doc,
  enums,
  integer,
  literal,
  named,
  object,
  optional,
  string,
  tagged,
  timestamp,
  type Infer,
} from '../../../../core/plugin.js'
import {
  ApprovalRequestView,
  compactionCauses,
  DaemonOutputRecord,
  ResolvedApproval,
  ResolvedQuestionView,
  UserQuestionRequestView,
} from '../../sessions/contract.js'
import { AttachmentRef } from '../../../media/assets/contract.js'
import { answerEnds, answerEndsDoc } from '../record/answer-end.js'
import { RunView } from './run-view.js'

/** Steps of a run between its events, for those who ask for them. */
const runStepFields = {
  model_answered: object({
    type: literal('model_answered'),
    tool_names: doc(array(string()), 'The tools that the answer calls, in order.'),
    not_taken: optional(
      doc(string(), 'Why the answer did not end the run, such as that it does not fit the schema: 500 characters.'),
    ),
    ended: optional(doc(enums(answerEnds), `Present where the answer is not whole: ${answerEndsDoc}`)),
  }),
  model_searched: object({
    type: literal('model_searched'),
    queries: doc(array(string()), 'What the server of the model searched the web for while it answered.'),
    pages: doc(array(object({ url: string(), title: string() })), 'What it found, 50 pages at most.'),
    failed: optional(doc(string(), 'The code of the server, where a search failed.')),
  }),
  model_attempt_failed: object({
    type: literal('model_attempt_failed'),
    attempt: integer({ min: 1 }),
    code: doc(string(), 'A stable code.'),
    message: string(),
    next_attempt_at_ms: timestamp(),
  }),
  model_call_held: object({
    type: literal('model_call_held'),
    attempt: integer({ min: 1 }),
    until_ms: doc(timestamp(), 'When its server wants to be asked at the earliest.'),
  }),
  model_fallback: object({
    type: literal('model_fallback'),
    from: doc(string(), 'The model that failed for good.'),
    to: doc(string(), 'The model that took over.'),
    attempt: optional(integer({ min: 1 })),
    code: optional(doc(string(), 'A stable code: why it failed. Absent for what earlier versions wrote down.')),
    message: optional(string()),
  }),
  compacted: object({
    type: literal('compacted'),
    cause: doc(enums(compactionCauses), 'Why the conversation was summed up.'),
    messages: doc(integer(), 'How many messages the summary stands for.'),
    tokens_before: doc(integer(), 'Of the prompt, as they are reckoned.'),
    tokens_after: doc(integer(), 'Of the prompt, as they are reckoned.'),
  }),
  compaction_failed: object({
    type: literal('compaction_failed'),
    cause: doc(enums(compactionCauses), 'Why the conversation was to be summed up.'),
    code: doc(string(), 'A stable code.'),
    message: string(),
    given_up: optional(doc(boolean(), 'True if it is not tried again in this session.')),
  }),
  intercepted: object({
    type: literal('intercepted'),
    moment: doc(string(), 'The moment at which a hook or another interceptor was asked.'),
    by: doc(string(), 'The hook, or who else ruled.'),
    did: doc(
      array(enums(['block', 'allow', 'deny', 'ask', 'input', 'output', 'context', 'rules', 'failed'])),
      'What it did: it stopped it, ruled on permission, changed the input or the output, told the model something, ' +
        'or gave the session permission rules; `failed` if it did nothing of that since it failed, and nothing was ' +
        'stopped for it.',
    ),
    tool_call_id: optional(doc(string(), 'Id of the tool call.')),
    reason: optional(doc(string(), 'The reason that it gave, or why it failed, in its first 500 characters.')),
  }),
  tool_granted: object({
    type: literal('tool_granted'),
    tool_name: doc(string(), 'Name of the tool.'),
    tool_call_id: doc(string(), 'Id of the tool call.'),
    grant_id: doc(string(), 'The grant that let the call pass without asking.'),
    message: doc(string(), 'What the grant covers.'),
  }),
  tool_ended: object({
    type: literal('tool_ended'),
    tool_name: doc(string(), 'Name of the tool.'),
    tool_call_id: doc(string(), 'Id of the tool call.'),
    outcome: enums(['done', 'failed', 'refused', 'unknown']),
    code: optional(doc(string(), 'A stable code of why the call was not done.')),
    message: optional(doc(string(), 'Why the call was not done, in its first 500 characters.')),
    files: optional(doc(array(AttachmentRef), 'The files that it gave.')),
  }),
}

const projected = { run: optional(RunView) }
/** The persisted run event variants on the wire (runs-20). */
export const RunEventView = tagged('type', {
  accepted: object({ type: literal('accepted'), ...projected }),
  queued: object({ type: literal('queued'), position: integer(), ...projected }),
  started: object({ type: literal('started'), ...projected }),
  waiting_for_approval: object({
    type: literal('waiting_for_approval'),
    request_ids: doc(array(string()), 'Ids of the requests.'),
    requests: doc(array(ApprovalRequestView), 'The requests in full.'),
  }),
  approval_resolved: object({ type: literal('approval_resolved'), resolutions: array(ResolvedApproval) }),
  waiting_for_user_question: object({
    type: literal('waiting_for_user_question'),
    request_ids: doc(array(string()), 'Ids of the requests.'),
    requests: doc(array(UserQuestionRequestView), 'The requests in full.'),
  }),
  user_question_resolved: object({ type: literal('user_question_resolved'), resolution: ResolvedQuestionView }),
  parent_clarification_resolved: object({
    type: literal('parent_clarification_resolved'),
    requester_agent_id: doc(string(), 'The agent that asked.'),
    requester_session_id: doc(string(), 'Its session.'),
    request_id: doc(string(), 'Id of the request.'),
    declined: doc(boolean(), 'True where nobody answered.'),
    resolution: ResolvedQuestionView,
  }),
  output: object({ type: literal('output'), output: DaemonOutputRecord }),
  completed: object({ type: literal('completed'), ...projected }),
  failed: object({ type: literal('failed'), error: string() }),
  interrupted: object({ type: literal('interrupted'), ...projected }),
  cancelled: object({ type: literal('cancelled'), ...projected }),
  ...runStepFields,
})
/** One entry of `GET /v1/runs/{run_id}/events`. */
export const RunEventEntry = named(
  'RunEventEntry',
  object({
    timestamp_ms: timestamp(),
    run_id: doc(string(), 'Id of the run.'),
    session_id: doc(string(), 'Id of the session.'),
    agent_id: doc(string(), 'Id of the agent.'),
    event: RunEventView,
  }),
)
/** The value form of `RunEventEntry`. */
export type RunEventEntry = Infer<typeof RunEventEntry>
