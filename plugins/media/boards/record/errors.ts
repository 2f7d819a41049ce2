import { defineErrors } from '../../../../core/plugin.js'

/** Problems of boards. */
export const boardErrors = defineErrors({
  board_not_found: {
    status: 404,
    domain: 'boards',
    detail: 'There is no board {board_id}.',
    action: 'List them with GET /v1/boards.',
  },
  board_revision_not_found: {
    status: 404,
    domain: 'boards',
    detail: 'There is no revision {revision_id} of a board.',
    action: 'List those of a board with GET /v1/boards/{board_id}/revisions.',
  },
  board_blank: {
    status: 404,
    domain: 'boards',
    detail: 'Board {board_id} has no picture yet.',
    action: 'Draw on it, or make a revision with POST /v1/boards/{board_id}/revisions.',
  },
  board_already_exists: {
    status: 409,
    domain: 'boards',
    detail: 'Board {board_id} exists.',
    action: 'Change it with PUT /v1/boards/{board_id}, or choose another id.',
  },
  board_revision_invalid: {
    status: 400,
    domain: 'boards',
    detail: 'The revision cannot be made as it is: {what}.',
    action: 'Correct the field and send it again; nothing was changed.',
  },
  board_revision_conflict: {
    status: 409,
    domain: 'boards',
    detail: 'The newest revision of board {board_id} is {latest_revision_id}, not the one that was expected.',
    action: 'Read GET /v1/boards/{board_id}, look at what is new, and send a revision that follows it.',
  },
  board_revision_idempotency_conflict: {
    status: 409,
    domain: 'boards',
    detail: 'Revision {revision_id} was made under this client_revision_id with another body.',
    action: 'Send what was sent then, previous_revision_id too, or another client_revision_id.',
  },
  board_state_invalid: {
    status: 400,
    domain: 'boards',
    detail: 'The state asset {asset_id} is no state of this board: {reason}.',
    action: 'Nothing was changed. See docs/rules/boards.md for what a state is.',
  },
  board_drawing_failed: {
    status: 400,
    domain: 'boards',
    detail: 'The drawing cannot be made: {reason}.',
    action: 'Draw less at a time; nothing was changed.',
  },
  board_full: {
    status: 400,
    domain: 'boards',
    detail: 'With these elements the state of board {board_id} would have more than 1 MiB.',
    action: 'Draw on another board; nothing was changed.',
  },
  board_owned: {
    status: 403,
    domain: 'boards',
    detail: 'Board {board_id} belongs to another session.',
    action: 'Ask for a board that is yours or that belongs to nobody.',
  },
  board_empty: {
    status: 400,
    domain: 'boards',
    detail: 'Board {board_id} has no revision yet.',
    action: 'Make one with POST /v1/boards/{board_id}/revisions, then name the board again.',
  },
  board_asset_missing: {
    status: 400,
    domain: 'boards',
    detail: 'The stored bytes of the picture, asset {asset_id}, cannot be read.',
    action: 'Upload the same file again, then send the revision again.',
  },
})
