/**
 * What a session waits for a person with, as its snapshot shows it, and what came of it (approvals-2 and questions-2).
 * How requests are resolved is said by the plugins that own them.
 */
import {
  array,
  boolean,
  doc,
  enums,
  json,
  named,
  nullable,
  object,
  optional,
  string,
  timestamp,
  type Json,
} from '../../../../core/plugin.js'
import { GrantRule } from '../../tools/contract.js'

/**
 * One tool call that waits for permission (approvals-2).
 */
export type ApprovalRequest = {
  id: string
  tool_call_id: string
  tool_name: string
  input: Json
  /** SHA-256 in hex of the canonical JSON of `input`; what is executed must match it. */
  input_digest?: string
  scope: 'user' | 'project' | 'session'
  reason: string | null
  created_at_ms?: number
  /** What is covered when the approval is remembered; absent where it cannot be. */
  grant_rule?: GrantRule
  /** The folder of the workspace that paths of the input are of; absent where it is the workspace. */
  cwd?: string
  /** When it counts as denied by time, Unix ms; never when absent. */
  expires_at_ms?: number
}
/** The wire form of `ApprovalRequest`. */
export const ApprovalRequestView = named(
  'ApprovalRequest',
  object({
    id: string(),
    tool_call_id: doc(string(), 'Id of the tool call.'),
    tool_name: doc(string(), 'Name of the tool.'),
    input: doc(json(), 'What the tool would be called with.'),
    input_digest: optional(
      doc(
        string(),
        'SHA-256 of the canonical JSON of `input`: only this input is executed, unless the answer replaces it.',
      ),
    ),
    scope: enums(['user', 'project', 'session']),
    reason: doc(nullable(string()), 'Why permission is needed.'),
    created_at_ms: optional(timestamp()),
    grant_rule: optional(
      doc(GrantRule, 'What is covered when the answer is to be remembered; absent where it cannot be.'),
    ),
    cwd: optional(
      doc(string(), 'The folder of the workspace that paths of `input` are of; absent where it is the workspace.'),
    ),
    expires_at_ms: optional(doc(timestamp(), 'When the request is denied because nobody decided; never when absent.')),
  }),
)

/** Who or what decided; never merged into one another. */
export const deciders = ['operator', 'policy', 'timeout', 'cancel', 'recovery'] as const
/** One of `deciders`. */
export type Decider = (typeof deciders)[number]

const decidingActor = () =>
  optional(doc(string(), 'The person that did it by a connector: kind, connector and id at the platform.'))

/**
 * The wire form of a resolution in a run event: what was decided, by whom, and the digest that the call is bound to.
 */
export const ResolvedApproval = named(
  'ResolvedApproval',
  object({
    request_id: doc(string(), 'Id of the request.'),
    behavior: doc(enums(['allow', 'deny']), 'Whether the call is allowed or denied.'),
    updated_input: optional(json()),
    justification: optional(doc(string(), 'Why, in the words of who decided.')),
    reason: optional(string()),
    decided_by: doc(enums(deciders), 'Who or what decided.'),
    actor_id: decidingActor(),
    input_digest: doc(string(), 'SHA-256 of the canonical JSON of the input that was decided on.'),
    grant_id: optional(doc(string(), 'Id of the grant that the answer became.')),
  }),
)
/** A decided request as the journal keeps it. */
export type ResolvedApproval = {
  request_id: string
  behavior: 'allow' | 'deny'
  updated_input?: Json
  justification?: string
  reason?: string
  decided_by: Decider
  /** The person that decided by a connector: kind, connector and id at the platform. */
  actor_id?: string
  input_digest: string
  /** The grant that the answer became. */
  grant_id?: string
}

/** One choice of a question. */
export type QuestionOption = { id: string; label: string; description?: string; preview?: string }
/** One question of a request. */
export type Question = {
  id: string
  header: string
  question: string
  options: QuestionOption[]
  multi_select: boolean
}
/** What a run waits for. Times in Unix ms (questions-2). */
export type UserQuestionRequest = {
  id: string
  tool_call_id: string
  questions: Question[]
  created_at_ms: number
  expires_at_ms?: number
}

/** The wire form of `UserQuestionRequest`. */
export const UserQuestionRequestView = named(
  'UserQuestionRequest',
  object({
    id: string(),
    tool_call_id: doc(string(), 'Id of the tool call.'),
    questions: array(
      object({
        id: string(),
        header: doc(string(), 'A short heading.'),
        question: doc(string(), 'The question in full.'),
        options: array(
          object({ id: string(), label: string(), description: optional(string()), preview: optional(string()) }),
        ),
        multi_select: doc(boolean(), 'True if more than one option may be chosen.'),
      }),
    ),
    created_at_ms: timestamp(),
    expires_at_ms: optional(timestamp()),
  }),
)

/** The wire form of an answer in a run event. */
export const ResolvedQuestionView = named(
  'ResolvedQuestion',
  object({
    request_id: doc(string(), 'Id of the request.'),
    answers: array(
      object({ question_id: string(), selected_option_ids: array(string()), freeform_answer: optional(string()) }),
    ),
    declined: doc(boolean(), 'True if the questions were declined.'),
    justification: optional(doc(string(), 'Why, in the words of who decided.')),
    decided_by: doc(enums(deciders), 'Who or what answered.'),
    actor_id: decidingActor(),
  }),
)
/** An answered request as the journal keeps it. */
export type ResolvedQuestion = {
  request_id: string
  answers: { question_id: string; selected_option_ids: string[]; freeform_answer?: string }[]
  declined: boolean
  justification?: string
  decided_by: Decider
  /** The person that answered by a connector: kind, connector and id at the platform. */
  actor_id?: string
}

/** What is asked, before its parts have ids. */
export interface Asked {
  readonly questions: readonly {
    readonly header: string
    readonly question: string
    readonly options: readonly { readonly label: string; readonly description?: string; readonly preview?: string }[]
    readonly multi_select: boolean
  }[]
  readonly expires_at_ms?: number
}

/** A request whose questions and options have ids. `now` is Unix ms. */
export const requestOf = (
  { questions, expires_at_ms }: Asked,
  { id, tool_call_id, now }: { readonly id: string; readonly tool_call_id: string; readonly now: number },
): UserQuestionRequest => ({
  id,
  tool_call_id,
  questions: questions.map((question, at) => ({
    id: `q${at + 1}`,
    header: question.header,
    question: question.question,
    options: question.options.map((option, place) => ({ id: `o${place + 1}`, ...option })),
    multi_select: question.multi_select,
  })),
  created_at_ms: now,
  ...(expires_at_ms !== undefined && { expires_at_ms }),
})
