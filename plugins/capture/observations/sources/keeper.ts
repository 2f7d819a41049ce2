/** Plugins that have sources in place of operators. */
import {
  answerOf,
  definePoint,
  enums,
  hasMembers,
  having,
  integer,
  literal,
  open,
  withAnswers,
  type Point,
} from '../../../../core/plugin.js'
import { rejectionReasons, type RejectionReason } from '../record/structs.js'

/** What a token is good for. */
export type TokenVerdict =
  | { readonly admitted: true; readonly upload_token_version: number }
  | { readonly admitted: false; readonly reason: RejectionReason }

const admitted = open({ admitted: literal(true), upload_token_version: integer({ min: 1 }) })
const refused = open({ admitted: literal(false), reason: enums(rejectionReasons) })

/** A plugin that has sources in place of operators. */
export interface SourceKeeper {
  /** The `plugin` of the owners of its sources. */
  readonly plugin: string
  /**
   * Judges the digest of a token for one of its sources, by its own records and nothing else: it is asked before the
   * body of an upload is read, and again in its commit. Must be fast, must not throw and must compare with
   * `sameDigest`. Where nobody answers to the `plugin` of an owner, no token opens its sources.
   */
  judge(source: { readonly source_id: string; readonly owner_id: string }, token_sha256: string): TokenVerdict
}
/** Who has sources in place of operators, by plugin. */
export const SourceKeepers: Point<SourceKeeper> = withAnswers(
  definePoint<SourceKeeper>(
    'observation-source-keepers@1',
    ({ plugin }) => plugin,
    hasMembers('a keeper of sources', { plugin: 'id', judge: 'function' }),
  ),
  { judge: answerOf(having('reason', refused, admitted), { admitted: false, reason: 'invalid_token' }) },
)
