/** Where boards are kept: a record each, one for each revision, and one for each asset that a revision names. */
import {
  array,
  collectionSource,
  digest,
  enums,
  integer,
  jsonObject,
  object,
  optional,
  string,
  timestamp,
  type Collection,
  type CollectionSpec,
  type Infer,
  type PageSource,
  type Skip,
  type State,
  type Tx,
} from '../../../../core/plugin.js'
import { namingIn, type AssetHolder } from '../../assets/contract.js'
import { Board, type BoardRevision } from './views.js'
import { boardErrors } from './errors.js'

const StoredRevision = object({
  revision_id: string(),
  board_id: string(),
  /** 1, 2, 3 … in its board. */
  number: integer({ min: 1 }),
  previous_revision_id: optional(string()),
  client_revision_id: optional(string()),
  render_asset_id: string(),
  state_asset_id: optional(string()),
  embedded: array(string()),
  note: optional(string()),
  source_session_id: optional(string()),
  source_run_id: optional(string()),
  created_at_ms: timestamp(),
  metadata: optional(jsonObject()),
  quarantined: optional(object({ reason: string(), at_ms: timestamp() })),
})
/** A revision as it is kept. */
export type StoredRevision = Infer<typeof StoredRevision>

const roles = ['render_asset', 'state_asset', 'state_embedded_asset'] as const
const NamedAsset = object({ revision_id: string(), board_id: string(), asset_id: string(), role: enums(roles) })
type NamedAsset = Infer<typeof NamedAsset>

const all = 'all'
const boardCollection: CollectionSpec<Board> = {
  name: 'boards',
  version: 1,
  id: ({ board_id }) => board_id,
  indexes: { all: { group: () => all }, owner: { group: ({ owner_session_id }) => owner_session_id } },
  settled: () => true,
  schema: Board,
  references: ({ owner_session_id, latest_revision_id }) => [
    ...(owner_session_id === undefined ? [] : [{ collection: 'sessions', id: owner_session_id }]),
    ...(latest_revision_id === undefined ? [] : [{ collection: 'board_revisions', id: latest_revision_id }]),
  ],
}

const orderKey = ({ number, revision_id }: StoredRevision): string =>
  `${String(number).padStart(12, '0')}:${revision_id}`
const clientKey = (board_id: string, client_revision_id: string): string => digest([board_id, client_revision_id])

const revisionCollection: CollectionSpec<StoredRevision> = {
  name: 'board_revisions',
  version: 1,
  id: ({ revision_id }) => revision_id,
  indexes: {
    board: { group: (one) => (one.quarantined === undefined ? one.board_id : undefined), sort: orderKey },
    history: { group: ({ board_id }) => board_id, sort: orderKey },
    client: {
      group: ({ board_id, client_revision_id: id }) => (id === undefined ? undefined : clientKey(board_id, id)),
    },
    quarantined: { group: ({ quarantined }) => (quarantined === undefined ? undefined : all) },
  },
  settled: () => true,
  schema: StoredRevision,
  references: ({ board_id, source_session_id }) => [
    { collection: 'boards', id: board_id },
    ...(source_session_id === undefined ? [] : [{ collection: 'sessions', id: source_session_id }]),
  ],
}

const assetCollection: CollectionSpec<NamedAsset> = {
  name: 'board_assets',
  version: 1,
  id: ({ revision_id, role, asset_id }) => `${revision_id} ${role} ${asset_id}`,
  indexes: { asset: { group: ({ asset_id }) => asset_id } },
  settled: () => true,
  schema: NamedAsset,
  references: ({ revision_id, asset_id }) => [
    { collection: 'board_revisions', id: revision_id },
    { collection: 'assets', id: asset_id },
  ],
}

export interface BoardStore {
  readonly state: State
  readonly boards: Collection<Board>
  readonly revisions: Collection<StoredRevision>
  readonly skip: Skip
  /** Throws `board_not_found`. */
  get(board_id: string): Board
  /** Throws `board_revision_not_found`, and `board_revision_invalid` for one of another board. */
  revision(board_id: string, revision_id: string): StoredRevision
  /** The revision that was made under this id of its maker. */
  madeAs(board_id: string, client_revision_id: string): StoredRevision | undefined
  /** Those that are not quarantined, from the first on. */
  history(board_id: string): PageSource<StoredRevision>
  /** Adds a revision and the assets that it names, in a commit. */
  add(tx: Tx, revision: StoredRevision): void
  readonly holder: AssetHolder
}

/** What a revision names, as references show it. */
const namedBy = ({ revision_id, board_id, ...revision }: StoredRevision): NamedAsset[] => {
  const of = (role: NamedAsset['role'], ids: readonly (string | undefined)[]): NamedAsset[] =>
    ids.flatMap((asset_id) => (asset_id === undefined ? [] : [{ revision_id, board_id, asset_id, role }]))
  return [
    ...of('render_asset', [revision.render_asset_id]),
    ...of('state_asset', [revision.state_asset_id]),
    ...of('state_embedded_asset', revision.embedded),
  ]
}

export const declareBoards = (state: State, skip: Skip): BoardStore => {
  const boards = state.collection(boardCollection)
  const revisions = state.collection(revisionCollection)
  const assets = state.collection(assetCollection)
  const detailOf = ({ role, revision_id }: NamedAsset) => {
    const state_asset_id = role === 'state_embedded_asset' ? revisions.find(revision_id)?.state_asset_id : undefined
    return state_asset_id === undefined ? {} : { detail_id: state_asset_id }
  }
  const reference = (named: NamedAsset) => {
    const { role, revision_id: owner_id, board_id: parent_id } = named
    return { owner_id, role, parent_id, ...detailOf(named) }
  }
  return {
    state,
    boards,
    revisions,
    skip,
    get(board_id) {
      const found = boards.find(board_id)
      if (found === undefined) throw boardErrors.board_not_found({ details: { board_id } })
      return found
    },
    revision(board_id, revision_id) {
      const found = revisions.find(revision_id)
      if (found === undefined) throw boardErrors.board_revision_not_found({ details: { revision_id } })
      if (found.board_id === board_id) return found
      throw boardErrors.board_revision_invalid({ details: { what: `${revision_id} is a revision of another board` } })
    },
    madeAs(board_id, client_revision_id) {
      const [id] = revisions.ids('client', clientKey(board_id, client_revision_id))
      return id === undefined ? undefined : revisions.find(id)
    },
    history: (board_id) => collectionSource(revisions, 'board', board_id),
    add(tx, revision) {
      tx.insert(revisions, revision)
      for (const named of namedBy(revision)) tx.insert(assets, named)
    },
    holder: {
      domain: 'boards',
      namings: [namingIn({ collection: assets, index: 'asset', reference })],
    },
  }
}

export const viewOf = ({ number: _number, embedded: _embedded, ...revision }: StoredRevision): BoardRevision => revision
