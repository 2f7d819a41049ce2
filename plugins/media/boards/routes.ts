import {
  canonical,
  collectionSource,
  defineRoute,
  doc,
  filteredSource,
  holdsText,
  jsonObject,
  jsonReply,
  listPage,
  notBlank,
  nullable,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  searchText,
  string,
  type Ids,
  type JsonObject,
  type PageSource,
  type Route,
} from '../../../core/plugin.js'
import { SessionId, sessionErrors, type Sessions } from '../../execution/sessions/contract.js'
import { Board } from './record/views.js'
import { boardErrors } from './record/errors.js'
import type { BoardStore } from './record/store.js'

export interface BoardRouteParts {
  readonly store: BoardStore
  readonly sessions: Sessions
  readonly ids: Ids
}

/** Bytes of a request, which bounds what a board holds. */
const bodyLimit = 64 * 1024
const BoardId = string({
  min: 1,
  max: 200,
  pattern: '^[^/\\\\\\p{Cc}]*[^\\s./\\\\\\p{Cc}][^/\\\\\\p{Cc}]*$',
  told: 'must not be blank or dots alone, and must hold no slash, backslash or control character',
})
const DisplayName = doc(string({ max: 200, pattern: notBlank }), 'What people call it.')
const Metadata = optional(doc(nullable(jsonObject()), 'Kept as it is; null for none.'))
export const boardParams = object({ board_id: string({ min: 1, max: 200 }) })
export const boardPath = '/v1/boards/:board_id'

export const boardRoutes = (parts: BoardRouteParts): readonly Route[] => [
  list(parts),
  create(parts),
  read(parts),
  update(parts),
]

/** All boards, or those of one session. */
const sourceOf = ({ store, sessions }: BoardRouteParts, owner: string | undefined): PageSource<Board> =>
  owner === undefined
    ? collectionSource(store.boards, 'all', 'all')
    : collectionSource(store.boards, 'owner', sessions.get(owner).session_id)

const list = (parts: BoardRouteParts): Route =>
  defineRoute({
    id: 'boards.list',
    method: 'GET',
    path: '/v1/boards',
    summary: 'Lists boards by id.',
    access: 'read',
    query: object({
      query: optional(doc(string({ max: 200 }), 'Only boards whose id or display name holds this text.')),
      owner_session_id: optional(doc(SessionId, 'Only boards of this session.')),
      ...pageFields,
    }),
    reply: jsonReply(pageOf(Board)),
    problems: [...pageProblems, sessionErrors.session_not_found],
    handler: async ({ query: { query, owner_session_id, ...page } }) => {
      const source = sourceOf(parts, owner_session_id)
      const text = searchText(query)
      const holds = ({ board_id, display_name }: Board): boolean => holdsText(text, [board_id, display_name])
      return listPage({
        query: page,
        source: text === '' ? source : await filteredSource(source, holds, parts.store.skip),
        label: 'board_id_asc',
        view: (board) => board,
        skip: parts.store.skip,
      })
    },
  })

const told = (metadata: JsonObject | null | undefined): { metadata?: JsonObject } =>
  metadata === null || metadata === undefined ? {} : { metadata }

const create = ({ store, sessions, ids }: BoardRouteParts): Route =>
  defineRoute({
    id: 'boards.create',
    method: 'POST',
    path: '/v1/boards',
    summary: 'Creates a board.',
    access: 'admin',
    body: object({
      board_id: optional(doc(BoardId, 'Chosen by the caller, or made by the daemon.')),
      display_name: DisplayName,
      owner_session_id: optional(doc(nullable(SessionId), 'The one session that may draw on it.')),
      metadata: Metadata,
    }),
    bodyLimit,
    reply: jsonReply(Board, 201),
    problems: [boardErrors.board_already_exists, sessionErrors.session_not_found],
    durability: 'A',
    example: { body: { board_id: 'plan', display_name: 'The plan of the garden' } },
    handler: ({ body: { board_id = ids.make('board'), display_name, owner_session_id, metadata } }) =>
      store.state.commit((tx) => {
        if (store.boards.has(board_id)) throw boardErrors.board_already_exists({ details: { board_id } })
        const owner = typeof owner_session_id === 'string' ? sessions.get(owner_session_id).session_id : undefined
        const board: Board = {
          board_id,
          display_name,
          ...(owner !== undefined && { owner_session_id: owner }),
          revision_count: 0,
          created_at_ms: tx.now,
          updated_at_ms: tx.now,
          ...told(metadata),
        }
        tx.insert(store.boards, board)
        return board
      }),
  })

const read = ({ store }: BoardRouteParts): Route =>
  defineRoute({
    id: 'boards.get',
    method: 'GET',
    path: boardPath,
    summary: 'Reads a board.',
    access: 'read',
    params: boardParams,
    reply: jsonReply(Board),
    problems: [boardErrors.board_not_found],
    handler: (input) => store.get(input.params.board_id),
  })

const update = ({ store }: BoardRouteParts): Route =>
  defineRoute({
    id: 'boards.update',
    method: 'PUT',
    path: boardPath,
    summary: 'Replaces the members of a board that the body names.',
    access: 'admin',
    params: boardParams,
    body: object({ display_name: optional(DisplayName), metadata: Metadata }),
    bodyLimit,
    reply: jsonReply(Board),
    problems: [boardErrors.board_not_found],
    durability: 'A',
    example: { body: { display_name: 'The plan of both gardens' } },
    handler: ({ params: { board_id }, body }) =>
      store.state.commit((tx) => {
        const before = store.get(board_id)
        const { metadata: kept, ...rest } = before
        const { display_name = before.display_name, metadata = kept } = body
        const changed: Board = { ...rest, display_name, ...told(metadata) }
        if (canonical(changed) === canonical(before)) return before
        const board = { ...changed, updated_at_ms: Math.max(tx.now, before.updated_at_ms) }
        tx.put(store.boards, board)
        return board
      }),
  })
