/**
 * What a person is asked before a tool runs, and what they answer. Contract 1, "Questions and approvals"; reference 1,
 * 6.4.
 */
import { doc, enums, json, named, nullable, object, optional, string, type Infer } from '../../../core/plugin.js'

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
