/** Boards and their revisions as they are shown. */
import {
  doc,
  integer,
  jsonObject,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
} from '../../../../core/plugin.js'

/** A board: what it is called, whose it is, and its newest revision (boards-1). */
export const Board = named(
  'Board',
  object({
    board_id: doc(string(), 'Id of the board.'),
    display_name: doc(string(), 'What people call it.'),
    owner_session_id: optional(doc(string(), 'The one session that may draw on it; any may where it is absent.')),
    latest_revision_id: optional(doc(string(), 'The newest revision; absent before the first.')),
    revision_count: integer({ min: 0 }),
    created_at_ms: timestamp(),
    updated_at_ms: timestamp(),
    metadata: optional(doc(jsonObject(), 'As it was given.')),
  }),
)
/** The value form of `Board`. */
export type Board = Infer<typeof Board>

/** A board as it was at one time. It never changes (boards-4). */
export const BoardRevision = named(
  'BoardRevision',
  object({
    revision_id: string(),
    board_id: string(),
    previous_revision_id: optional(doc(string(), 'What it follows; absent in the first.')),
    client_revision_id: optional(doc(string(), 'What its maker calls it; once in a board.')),
    render_asset_id: doc(string(), 'Asset with its picture.'),
    state_asset_id: optional(doc(string(), 'Asset with its state, JSON.')),
    note: optional(string()),
    source_session_id: optional(doc(string(), 'The session that made it.')),
    source_run_id: optional(doc(string(), 'The run that made it.')),
    created_at_ms: timestamp(),
    metadata: optional(jsonObject()),
    quarantined: optional(
      doc(
        object({ reason: string(), at_ms: timestamp() }),
        'Why a start has set it aside: it is in no list, and no board shows it as its newest.',
      ),
    ),
  }),
)
/** The value form of `BoardRevision`. */
export type BoardRevision = Infer<typeof BoardRevision>
