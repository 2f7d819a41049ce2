/**
 * What a person is asked before a tool runs, and what they answer. Contract 1, "Questions and approvals"; reference 1,
 * 6.4.
 */
import {
  doc,
  enums,
  json,
  named,
  nullable,
  object,
  optional,
  string,
  timestamp,
  type Infer,
  type Json,
} from '../../../core/plugin.js'

/**
 * One tool call that waits for permission. Contract 1, "Pending questions and approvals"; fields of reference 1, 6.4.
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
  /** When it counts as denied by time, Unix ms; never when absent. */
  expires_at_ms?: number
}
/** The wire form of `ApprovalRequest`. */
export const ApprovalRequestView = named(
  'ApprovalRequest',
  object({
    id: string(),
    tool_call_id: string(),
    tool_name: string(),
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
    expires_at_ms: optional(doc(timestamp(), 'When the request is denied because nobody decided; never when absent.')),
  }),
)

/** What a person decided about one request. Contract 1, "ApprovalResolution". */
export const ApprovalResolution = named(
  'ApprovalResolution',
  object({
    request_id: string({ min: 1, max: 200 }),
    behavior: enums(['allow', 'deny']),
    updated_input: optional(doc(json(), 'Replaces the input of the call; only with `allow`.')),
    justification: optional(nullable(string({ max: 4000 }))),
    reason: optional(nullable(string({ max: 4000 }))),
  }),
)
/** The parsed form of `ApprovalResolution`. */
export type ApprovalResolution = Infer<typeof ApprovalResolution>

/** Who or what decided; never merged into one another. */
export const deciders = ['operator', 'policy', 'timeout', 'cancel', 'recovery'] as const
/** One of `deciders`. */
export type Decider = (typeof deciders)[number]

/**
 * The wire form of a resolution in a run event: what was decided, by whom, and the digest that the call is bound to.
 */
export const ResolvedApproval = named(
  'ResolvedApproval',
  object({
    request_id: string(),
    behavior: enums(['allow', 'deny']),
    updated_input: optional(json()),
    justification: optional(string()),
    reason: optional(string()),
    decided_by: enums(deciders),
    input_digest: doc(string(), 'SHA-256 of the canonical JSON of the input that was decided on.'),
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
  input_digest: string
}
