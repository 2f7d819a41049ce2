/** Plugins that have sources in place of operators. */
import { definePoint, hasMembers, type Point } from '../../../../core/plugin.js'
import type { RejectionReason } from '../record/structs.js'

/** What a token is good for. */
export type TokenVerdict =
  | { readonly admitted: true; readonly upload_token_version: number }
  | { readonly admitted: false; readonly reason: RejectionReason }

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
export const SourceKeepers: Point<SourceKeeper> = definePoint<SourceKeeper>(
  'observation-source-keepers@1',
  ({ plugin }) => plugin,
  hasMembers('a keeper of sources', { plugin: 'text', judge: 'function' }),
)
