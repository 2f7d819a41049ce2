/**
 * What a person is asked before a tool runs, and what they answer. Rules: docs/rules/approvals.md.
 */
import {
  defineToken,
  doc,
  enums,
  json,
  named,
  object,
  optional,
  rule,
  string,
  type Infer,
  type Token,
} from '../../../core/plugin.js'
import { GrantWish } from '../grants/contract.js'

const given = rule(json(), 'must not be null', (value) => value !== null)

/** What a person decided about one request (approvals-6). */
export const ApprovalResolution = named(
  'ApprovalResolution',
  object({
    request_id: doc(string({ min: 1, max: 200 }), 'Id of the request.'),
    behavior: doc(enums(['allow', 'deny']), 'Whether the call is allowed or denied.'),
    updated_input: optional(doc(given, 'Replaces the input of the call; only with `allow`.')),
    justification: optional(
      doc(string({ max: 4000 }), 'Why; told to the model when the call is denied and there is no reason.'),
    ),
    grant: optional(
      doc(
        GrantWish,
        'Remembers the answer: calls that `grant_rule` of the request covers pass from now on in this session.',
      ),
    ),
    reason: optional(doc(string({ max: 4000 }), 'Why, told to the model when the call is denied.')),
  }),
)
/** The parsed form of `ApprovalResolution`. */
export type ApprovalResolution = Infer<typeof ApprovalResolution>

/** Decisions of a person who is known by a connector. */
export interface ActorDecisions {
  readonly resolutions: readonly ApprovalResolution[]
  /** Stands with the decision in the journal. */
  readonly actor_id: string
}
/** Approvals, for plugins by which people decide. */
export interface Approvals {
  /**
   * Decides on open requests of a run, all or none; on disk when it resolves. Rejects with the problems of `POST
   * /v1/runs/{run_id}/approvals`. Looks and commits in the turn of the event loop in which it is called.
   */
  resolve(run_id: string, decisions: ActorDecisions): Promise<void>
}
/** Approvals, for plugins by which people decide. */
export const Approvals: Token<Approvals> = defineToken<Approvals>('approvals@1')
