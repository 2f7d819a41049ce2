/** Surfaces that people and agents draw on, kept revision by revision. Rules: docs/rules/boards.md. */
import { defineToken, type Token } from '../../../core/plugin.js'
import type { AttachmentRef } from '../assets/contract.js'

/** Problems of boards, for plugins that name them. */
export { boardErrors } from './record/errors.js'
/** Boards and their revisions as they are shown. */
export { Board, BoardRevision } from './record/views.js'

/** A revision as a run is told of it (boards-15). */
export interface ReferredBoard {
  /** Its picture, and a file with its words. */
  readonly files: readonly AttachmentRef[]
  /** Further assets that the run names, and is not shown. */
  readonly named: readonly string[]
}
/** Boards, for plugins that name them. */
export interface Boards {
  /** Throws `board_not_found`, `board_revision_not_found`. A board without a revision may have one later. */
  check(wanted: { readonly board_id: string; readonly revision_id?: string | undefined }): void
  /**
   * What a run is told of a revision, of the newest where none is named. Rejects with `board_not_found`,
   * `board_revision_not_found`, `board_revision_invalid`, `board_empty`, `board_state_invalid`, `asset_not_found`.
   */
  refer(wanted: { readonly board_id: string; readonly revision_id?: string | undefined }): Promise<ReferredBoard>
}
/** Boards, for plugins that name them. */
export const Boards: Token<Boards> = defineToken<Boards>('boards@1')
