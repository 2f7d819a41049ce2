/** Approvals that are remembered: calls that fit one pass without asking. Rules: docs/rules/approvals.md. */
import {
  defineToken,
  doc,
  enums,
  integer,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
  type Json,
  type Token,
  type Tx,
} from '../../../core/plugin.js'
import { GrantRule } from '../tools/contract.js'

/** The wish that flags tell. */
export { wishOf } from './wish.js'
/** Problems of grants, for the routes that make them. */
export { grantErrors } from './errors.js'

/** An approval that is remembered (approvals-20). */
export const Grant = named(
  'Grant',
  object({
    grant_id: doc(string(), 'Id of the grant.'),
    scope: doc(enums(['session', 'user']), '`session`: calls of one session; `user`: calls of every session.'),
    session_id: optional(doc(string(), 'The session that it holds for; absent with the scope `user`.')),
    tool_name: doc(string(), 'Name of the tool.'),
    rule: GrantRule,
    created_at_ms: timestamp(),
    expires_at_ms: doc(timestamp(), 'From then on calls are asked about again.'),
    run_id: optional(doc(string(), 'The run whose approval became the grant; absent if an operator made it.')),
    request_id: optional(doc(string(), 'The request that was answered so.')),
  }),
)
/** The value form of `Grant`. */
export type Grant = Infer<typeof Grant>

/** Milliseconds a grant may live: a second to 30 days. */
export const GrantSpan = integer({ min: 1_000, max: 30 * 86_400_000 })

/** The fields of `GrantWish`. */
export const grantWishFields = {
  command_prefix: optional(
    doc(
      string({ min: 1, max: 1_000 }),
      'Covers every command that begins with these words and is one program with plain arguments; exactly this ' +
        'command is covered when absent.',
    ),
  ),
  expires_in_ms: optional(doc(GrantSpan, 'How long it holds; `grants.expires_after_ms` when absent.')),
}
/** What a person says of an approval that is to be remembered. */
export const GrantWish = object(grantWishFields)
/** The value form of `GrantWish`. */
export type GrantWish = Infer<typeof GrantWish>

/** What is to be remembered. */
export interface GrantDraft {
  /** Absent for every session. */
  readonly session_id?: string | undefined
  readonly tool_name: string
  /** What the call itself is. */
  readonly rule: GrantRule
  readonly wish: GrantWish
  /** The approval that it comes from. */
  readonly from?: { readonly run_id: string; readonly request_id: string }
}

/** Remembered approvals. */
export interface Grants {
  /** The id of a grant that `write` puts into a commit. Throws `grant_invalid` (400), naming fields below `path`. */
  draft(wanted: GrantDraft, path: string): { readonly grant_id: string; readonly write: (tx: Tx) => Grant }
  /** What a call of this tool is, for a draft; undefined where it cannot be remembered. */
  ruleOf(tool_name: string, input: Json): GrantRule | undefined
}
/** Remembered approvals. */
export const Grants: Token<Grants> = defineToken<Grants>('grants@1')
