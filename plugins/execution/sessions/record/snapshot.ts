/** A session as it is shown: the state of its root agent, what it waits for, what was put out. */
import {
  array,
  doc,
  enums,
  integer,
  literal,
  named,
  nullable,
  object,
  optional,
  string,
  timestamp,
  type Infer,
} from '../../../../core/plugin.js'
import { DaemonOutputRecord } from './output.js'
import { ApprovalRequestView, UserQuestionRequestView } from './requests.js'
import { agentRetentions, ForkContext, spawnedFields, Subtask } from './agent.js'
import { SessionGoal } from './goal.js'
import { settingFields } from '../settings/settings.js'

/** States of a session's root agent (sessions-7). */
export const agentStatuses = [
  'idle',
  'running',
  'waiting_for_approval',
  'waiting_for_user_input',
  'failed',
  'completed',
] as const
/** One of `agentStatuses`. */
export type AgentStatus = (typeof agentStatuses)[number]

/** The live state of a session's root agent (sessions-6). */
export const ManagedAgentSnapshot = named(
  'ManagedAgentSnapshot',
  object({
    agent: object({
      id: string(),
      parent: nullable(string()),
      conversation: object({ session_id: string(), thread_id: nullable(string()) }),
      status: enums(agentStatuses),
      retention: enums(agentRetentions),
      spawned_at_ms: timestamp(),
      ...spawnedFields,
      closed_at_ms: optional(timestamp()),
      subtasks: doc(array(Subtask), 'What it was started for.'),
      sidechain_session_id: doc(nullable(string()), 'Its session; null for an agent that no other one started.'),
      fork_context: doc(nullable(ForkContext), 'What it took over of its parent.'),
    }),
    pending_approvals: doc(array(ApprovalRequestView), 'Approvals that wait for a decision.'),
    pending_questions: optional(doc(array(UserQuestionRequestView), 'Questions that wait for an answer.')),
    last_assistant_message: doc(nullable(string()), 'The newest answer; null before the first.'),
    journal_len: doc(integer(), 'Entries of the journal.'),
    checkpoint_len: doc(integer(), 'Checkpoints that are kept.'),
    last_error: doc(nullable(string()), 'The newest error; null if there was none.'),
  }),
)
/** The value form of `ManagedAgentSnapshot`. */
export type ManagedAgentSnapshot = Infer<typeof ManagedAgentSnapshot>

const shownFields = {
  ...settingFields,
  goal: optional(doc(SessionGoal, 'What the session works towards by itself.')),
}

/** A session as it is shown (sessions-6). Older outputs than those of the view are in the session's events. */
export const SessionView = named(
  'SessionView',
  object({
    session_id: doc(string(), 'Id of the session.'),
    agent_id: doc(string(), 'Id of the agent.'),
    snapshot: ManagedAgentSnapshot,
    ...shownFields,
    outputs: doc(array(DaemonOutputRecord), 'What was put out: the newest hundred, as many as fit into 2 MiB.'),
    outputs_truncated: optional(
      doc(literal(true), 'Present if there are older outputs than those shown; the events of the session have them.'),
    ),
  }),
)
/** The value form of `SessionView`. */
export type SessionView = Infer<typeof SessionView>

/** One row of the session list (sessions-4). */
export const SessionViewSummary = named(
  'SessionViewSummary',
  object({
    session_id: doc(string(), 'Id of the session.'),
    agent_id: doc(string(), 'Id of the agent.'),
    status: enums(agentStatuses),
    pending_approvals: doc(integer(), 'Approvals that wait for a decision.'),
    pending_questions: doc(integer(), 'Questions that wait for an answer.'),
    ...shownFields,
  }),
)
/** The value form of `SessionViewSummary`. */
export type SessionViewSummary = Infer<typeof SessionViewSummary>
