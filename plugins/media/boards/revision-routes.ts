import {
  defineRoute,
  doc,
  jsonObject,
  jsonReply,
  listPage,
  nullable,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  string,
  type PageSource,
  type Route,
} from '../../../core/plugin.js'
import { sessionErrors } from '../../execution/sessions/contract.js'
import { assetErrors } from '../assets/contract.js'
import { BoardRevision } from './record/views.js'
import { boardErrors } from './record/errors.js'
import type { Revisions } from './record/revisions.js'
import { boardParams, boardPath } from './routes.js'
import { viewOf, type BoardStore } from './record/store.js'

export interface RevisionRouteParts {
  readonly store: BoardStore
  readonly revisions: Revisions
}

const path = `${boardPath}/revisions`
const bodyLimit = 128 * 1024
const Id = string({ min: 1, max: 400 })
const body = object({
  previous_revision_id: optional(
    doc(nullable(Id), 'The newest revision, which this one follows; absent or null for the first.'),
  ),
  client_revision_id: optional(
    doc(nullable(string({ max: 256 })), 'Names the revision: sending it again with the same body gives the same one.'),
  ),
  render_asset_id: doc(Id, 'Asset with the picture.'),
  state_asset_id: optional(doc(nullable(Id), 'Asset with the state, application/json.')),
  note: optional(nullable(string({ max: 4000 }))),
  source_session_id: optional(doc(nullable(Id), 'The session that made it: the owner, where the board has one.')),
  source_run_id: optional(doc(nullable(Id), 'The run that made it, which names its assets.')),
  metadata: optional(doc(nullable(jsonObject()), 'Kept as it is.')),
})

export const revisionRoutes = (parts: RevisionRouteParts): readonly Route[] => [list(parts), create(parts), read(parts)]

/** The same items from the other end. */
const turned = <T>({ count, key, list: read }: PageSource<T>): PageSource<T> => ({
  count,
  key,
  list: ({ order, ...range }) => read({ ...range, order: order === 'asc' ? 'desc' : 'asc' }),
})

/** Revisions of a plain array: a long history is read in pages. */
const mostPlain = 200

const list = ({ store }: RevisionRouteParts): Route =>
  defineRoute({
    id: 'boards.revisions.list',
    method: 'GET',
    path,
    summary: `Lists the revisions of a board, the newest first; as a plain array the newest ${mostPlain}.`,
    access: 'read',
    params: boardParams,
    query: object(pageFields),
    reply: jsonReply(pageOf(BoardRevision)),
    problems: [boardErrors.board_not_found, ...pageProblems],
    handler: ({ params, query }) =>
      listPage({
        query,
        source: turned(store.history(store.get(params.board_id).board_id)),
        label: 'revision_desc',
        mostPlain,
        view: viewOf,
        skip: store.skip,
      }),
  })

const create = ({ revisions }: RevisionRouteParts): Route =>
  defineRoute({
    id: 'boards.revisions.create',
    method: 'POST',
    path,
    summary: 'Makes the revision that follows the newest one of a board.',
    access: 'admin',
    params: boardParams,
    body,
    bodyLimit,
    reply: jsonReply(BoardRevision, 201),
    problems: [
      boardErrors.board_not_found,
      boardErrors.board_revision_not_found,
      boardErrors.board_revision_invalid,
      boardErrors.board_revision_conflict,
      boardErrors.board_revision_idempotency_conflict,
      boardErrors.board_state_invalid,
      boardErrors.board_asset_missing,
      assetErrors.asset_not_found,
      sessionErrors.session_not_found,
    ],
    durability: 'A',
    example: { body: { client_revision_id: 'first', render_asset_id: 'asset_…', note: 'Two beds' } },
    handler: async (input) => viewOf(await revisions.create(input.params.board_id, input.body)),
  })

const read = ({ store }: RevisionRouteParts): Route =>
  defineRoute({
    id: 'boards.revisions.get',
    method: 'GET',
    path: `${path}/:revision_id`,
    summary: 'Reads a revision, also one that a start has set aside.',
    access: 'read',
    params: object({ board_id: string({ min: 1, max: 200 }), revision_id: Id }),
    reply: jsonReply(BoardRevision),
    problems: [boardErrors.board_not_found, boardErrors.board_revision_not_found, boardErrors.board_revision_invalid],
    handler: ({ params: { board_id, revision_id } }) =>
      viewOf(store.revision(store.get(board_id).board_id, revision_id)),
  })
