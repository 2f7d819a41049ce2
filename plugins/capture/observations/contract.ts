/** What machines see and hear, kept under rules of their own. Rules: docs/rules/observations.md. */
import { defineToken, type Token, type Tx } from '../../../core/plugin.js'
import type { AuditDraft, ObservationSourceView, ObservationView, SourceOwner } from './record/structs.js'
import type { SourceDraft } from './sources/draft.js'

/** Problems of sources, observations and their ingress, for routes of other plugins. */
export { ingressDomain, observationErrors } from './record/errors.js'
/** What sources, observations and their audit are. */
export {
  auditEvents,
  ObservationAuditRecord,
  ObservationSourceView,
  ObservationView,
  rejectionReasons,
  retentionStates,
  sensitivities,
  SourceId,
  sourceIdPattern,
  sourceIdRule,
  sourceKinds,
  SourceOwner,
  sourceStatuses,
} from './record/structs.js'
/** One of their values; an event before it is recorded. */
export type { AuditDraft, AuditEvent, RejectionReason, SourceKind } from './record/structs.js'
/** What a source is made from: of an operator, and whole. */
export { SourceCreateRequest } from './sources/draft.js'
/** The value form, with its id and every default. */
export type { SourceDraft } from './sources/draft.js'
/** Tokens by their digests: of a request, of a token, and compared in constant time. */
export { bearerDigest, sameDigest, tokenDigest } from './sources/token.js'
/** Reasons and other words of operators and agents, before they are kept. */
export { sanitisedReason } from './sources/reason.js'

/** Who has sources in place of operators. */
export { SourceKeepers } from './sources/keeper.js'
/** One of them, and what it says of a token. */
export type { SourceKeeper, TokenVerdict } from './sources/keeper.js'

/** Sources, for the plugins that have some, and the audit. */
export interface ObservationSources {
  find(source_id: string): ObservationSourceView | undefined
  /** Whose a source is; undefined for one of operators, and for none. */
  ownerOf(source_id: string): SourceOwner | undefined
  /**
   * Creates or recreates a source of an owner, which is active from this commit on, and audits `source_batch_upserted`.
   * A token that is new raises `upload_token_version`. Throws `observation_source_kind_conflict` (409), and
   * `capture_source_managed_by_agent` (409) where it belongs to another owner.
   */
  keep(tx: Tx, draft: SourceDraft, owner: SourceOwner): ObservationSourceView
  /** Whether a source takes uploads from this commit on; no effect on one that is not there. */
  setStatus(tx: Tx, source_id: string, status: 'active' | 'disabled'): void
  /** Records an event in a commit. */
  note(tx: Tx, event: AuditDraft): void
  /**
   * Records a refusal in a commit of its own, at most sixty a minute of each place: `place` is where it was, such as
   * `heartbeat`. Never rejects.
   */
  noteRefusal(place: string, event: AuditDraft): Promise<void>
}
/** Sources, for the plugins that have some, and the audit. */
export const ObservationSources: Token<ObservationSources> = defineToken<ObservationSources>('observation-sources@1')

/** What sources have sent. */
export interface Observations {
  /** As it is now, purged or not; what was purged long ago is forgotten. */
  find(observation_id: string): ObservationView | undefined
  /** Throws `observation_not_found` (404), and `observation_purged` (400) for one that can no longer be used. */
  getActive(observation_id: string): ObservationView
}
/** What sources have sent. */
export const Observations: Token<Observations> = defineToken<Observations>('observations@1')
