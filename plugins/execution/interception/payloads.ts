/** What is told at each moment: the one place that says it, for the reference and for tests. */
import {
  array,
  boolean,
  doc,
  enums,
  integer,
  json,
  jsonObject,
  nullable,
  object,
  open,
  optional,
  string,
  timestamp,
  type AnyStruct,
} from '../../../core/plugin.js'
import type { Moment } from './moments.js'

/** A moment, as the reference tells of it. */
export interface MomentFacts {
  /** When it is, one sentence. */
  readonly when: string
  /** What matchers look at; absent where there is nothing. */
  readonly subject?: string
  /** What a ruling can do; absent where it is told and nobody waits. */
  readonly can?: string
  readonly payload: AnyStruct
}

const call = {
  tool_name: doc(string(), 'Name of the tool.'),
  tool_input: doc(json(), 'What it is called with, as interceptors before have left it.'),
  tool_call_id: doc(string(), 'Id of the call in the answer of the model.'),
}
const tool = 'the name of the tool'

const request = {
  request_id: doc(string(), 'What `POST /v1/sessions/{session_id}/approvals` or `/questions` answers.'),
  tool_call_id: doc(string(), 'Id of the call that waits.'),
  created_at_ms: optional(timestamp()),
  expires_at_ms: optional(doc(timestamp(), 'When the wait is over; never when absent.')),
}
const waits = (status: string) => ({
  status: doc(enums([status]), 'Of the run.'),
  request_ids: doc(array(string()), 'Ids of what the run waits for, in order.'),
})

const compaction = {
  trigger: doc(
    enums(['window', 'refused', 'manual']),
    'Why: it is near the window, was refused as too long, or somebody asked.',
  ),
  tokens_before: doc(integer(), 'Of the prompt, as they are reckoned.'),
}
const why = '`window`, `refused` or `manual`'

const taskFacts = {
  task_id: string(),
  title: string(),
  description: string(),
  status: doc(string(), 'Of the task, such as `pending` or `completed`.'),
}

const subagent = object({
  agent_type: doc(string(), 'Its profile, such as `default`.'),
  parent_agent_id: doc(string(), 'Id of the agent that started it.'),
})
const worktree = object({
  path: doc(string(), 'Where it is on the machine of the daemon.'),
  base_commit: doc(string(), 'The commit that it began with.'),
})

/** By moment. Members that are not named here are not there. */
export const momentFacts: Readonly<Record<Moment, MomentFacts>> = {
  pre_tool_use: {
    when: 'Before a call is judged by permission rules.',
    subject: tool,
    can: 'Block it, change its input, rule on permission, add to it.',
    payload: object(call),
  },
  permission_request: {
    when: 'Before a person is asked about a call.',
    subject: tool,
    can: 'Block it, change its input, rule on permission, add to it.',
    payload: object(call),
  },
  permission_denied: {
    when: 'When rules, modes or interceptors have denied a call.',
    subject: tool,
    can: 'Add to it.',
    payload: object(call),
  },
  post_tool_use: {
    when: 'When a call has succeeded, before its output is recorded.',
    subject: tool,
    can: 'Replace the output, withhold it, add to it.',
    payload: object({ ...call, tool_output: doc(json(), 'What the tool gave.') }),
  },
  post_tool_use_failure: {
    when: 'When a call has failed, before that is recorded.',
    subject: tool,
    can: 'Add to it.',
    payload: object({
      ...call,
      tool_output: optional(doc(json(), 'What the tool gave; absent where it gave nothing.')),
      error: optional(doc(enums(['threw', 'late', 'lost']), 'How the call ended where the tool gave nothing.')),
    }),
  },
  setup: {
    when: 'When the daemon has started.',
    payload: object({ generation: doc(integer({ min: 1 }), 'The number of this start of the state root.') }),
  },
  session_start: {
    when: 'When a session was created, or opened again.',
    subject: '`created` or `opened`',
    payload: object({ source: doc(enums(['created', 'opened']), 'How it began.') }),
  },
  session_end: {
    when: 'When a session was ended.',
    payload: object({ reason: optional(doc(string(), 'What the caller said.')) }),
  },
  stop: {
    when: 'Before a run ends with an answer.',
    can: 'Block it: the reason is told to the model, which goes on; three times at most.',
    payload: object({
      stop_hook_active: doc(boolean(), 'True if the end was held up before.'),
      last_assistant_message: doc(string(), 'The answer.'),
    }),
  },
  stop_failure: {
    when: 'When a run has failed.',
    payload: object({
      status: doc(enums(['failed']), 'Of the run.'),
      error: optional(doc(string(), 'A code, a colon and a sentence.')),
    }),
  },
  user_prompt_submit: {
    when: 'Before a run of a caller is accepted.',
    can: 'Block it, replace the text for the model, add to it.',
    payload: object({
      prompt: doc(string(), 'What the run is told, as text.'),
      source_plugin: doc(string(), 'Where it comes from, such as `http`.'),
    }),
  },
  elicitation: {
    when: 'When a run waits for the answer to a question.',
    payload: object({
      ...waits('waiting_for_user_question'),
      requests: array(
        object({
          ...request,
          questions: doc(array(jsonObject()), 'As `pending_questions` of the run has them.'),
        }),
      ),
    }),
  },
  elicitation_result: {
    when: 'When a question was answered, declined, cancelled, or its time was over.',
    payload: object({
      outcome: doc(enums(['answered', 'cancelled', 'expired']), 'What became of it.'),
      request_id: doc(string(), 'Id of the request.'),
      answers: doc(array(jsonObject()), 'One for each question; none unless it was answered.'),
      declined: doc(boolean(), 'True if the questions were declined.'),
      justification: optional(doc(string(), 'Why, in the words of who decided.')),
      decided_by: doc(string(), 'Who or what decided, such as `operator` or `timeout`.'),
    }),
  },
  pre_compact: {
    when: 'Before a conversation is summed up.',
    subject: why,
    can: 'Block it, add to what the model that sums up is told.',
    payload: object(compaction),
  },
  post_compact: {
    when: 'When a conversation was summed up.',
    subject: why,
    payload: object({
      ...compaction,
      tokens_after: doc(integer(), 'Of the prompt, as they are reckoned.'),
      summary: doc(string(), 'What stands in the conversation now.'),
    }),
  },
  task_created: { when: 'When a task was added.', subject: 'the title', payload: object(taskFacts) },
  task_completed: { when: 'When a task was completed.', subject: 'the title', payload: object(taskFacts) },
  config_change: {
    when: 'Before a setting changes.',
    subject: 'the name of the setting, or `rollback`',
    can: 'Block it.',
    payload: open({
      setting: doc(string(), 'The name; beside it stands its value as readers see it.'),
      target_revision: optional(doc(integer({ min: 0 }), 'Of a rollback; 0 for the configuration.')),
    }),
  },
  notification: {
    when: 'When a run waits for people to allow calls.',
    payload: object({
      ...waits('waiting_for_approval'),
      requests: array(
        object({
          ...request,
          tool_name: call.tool_name,
          tool_input: call.tool_input,
          reason: doc(nullable(string()), 'Why permission is needed.'),
        }),
      ),
    }),
  },
  subagent_start: { when: 'When an agent was started by another one.', subject: 'its profile', payload: subagent },
  subagent_stop: { when: 'When the work of such an agent is done.', subject: 'its profile', payload: subagent },
  worktree_create: { when: 'When a run was given a git worktree of its own.', subject: 'its path', payload: worktree },
  worktree_remove: { when: 'When the worktree of a run was removed.', subject: 'its path', payload: worktree },
}
