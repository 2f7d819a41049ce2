/** Makes revisions: each follows the newest one, and is made once under the id that its maker gives it. */
import { canonical, type Ids, type JsonObject } from '../../../../core/plugin.js'
import type { Sessions } from '../../../execution/sessions/contract.js'
import type { AssetHolder, Assets } from '../../assets/contract.js'
import type { Board } from './views.js'
import { boardErrors } from './errors.js'
import { checkAssets, requireAll } from './revision-assets.js'
import type { BoardStore, StoredRevision } from './store.js'

export interface RevisionDraft {
  readonly previous_revision_id?: string | null | undefined
  readonly client_revision_id?: string | null | undefined
  readonly render_asset_id: string
  readonly state_asset_id?: string | null | undefined
  readonly note?: string | null | undefined
  readonly source_session_id?: string | null | undefined
  readonly source_run_id?: string | null | undefined
  readonly metadata?: JsonObject | null | undefined
}

/** A draft without what says nothing. */
type Wish = Pick<
  StoredRevision,
  | 'previous_revision_id'
  | 'client_revision_id'
  | 'render_asset_id'
  | 'state_asset_id'
  | 'note'
  | 'source_session_id'
  | 'source_run_id'
  | 'metadata'
>

export interface RevisionParts {
  readonly store: BoardStore
  readonly assets: Assets
  readonly sessions: Sessions
  readonly ids: Ids
  readonly holders: () => readonly AssetHolder[]
}

export interface Revisions {
  /** Rejects with the problems of `POST /v1/boards/{board_id}/revisions`. */
  create(board_id: string, draft: RevisionDraft): Promise<StoredRevision>
}

const refuse = (field: string, rule: string): never => {
  throw boardErrors.board_revision_invalid({
    details: { what: `${field} ${rule}` },
    errors: [{ path: `body.${field}`, rule }],
  })
}

const mostClientBytes = 256
const checkClient = (client: string | undefined): void => {
  if (client === undefined) return
  const fits = client.trim() !== '' && Buffer.byteLength(client) <= mostClientBytes && !/[\p{Cc}\p{Cs}]/u.test(client)
  if (!fits) refuse('client_revision_id', `must have 1 to ${mostClientBytes} bytes, not blank, no control characters`)
}

const wishOf = (draft: RevisionDraft): Wish => {
  const { render_asset_id, metadata, note, ...ids } = draft
  const named = Object.entries(ids).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return {
    render_asset_id,
    ...Object.fromEntries(named),
    ...(typeof note === 'string' && note.trim() !== '' && { note: note.trim() }),
    ...(metadata !== null && metadata !== undefined && { metadata }),
  }
}

/** The source session follows from the source run where only that is said. */
const isSame = (made: StoredRevision, wish: Wish): boolean => {
  const follows = wish.source_session_id === undefined && wish.source_run_id !== undefined
  const told = ({ previous_revision_id, render_asset_id, state_asset_id, note, source_run_id, metadata }: Wish) =>
    canonical({ previous_revision_id, render_asset_id, state_asset_id, note, source_run_id, metadata })
  return told(made) === told(wish) && (follows || made.source_session_id === wish.source_session_id)
}

/** The revision that an equal request made before. Throws for one that was another. */
const replayed = (store: BoardStore, board_id: string, wish: Wish): StoredRevision | undefined => {
  const { client_revision_id } = wish
  const made = client_revision_id === undefined ? undefined : store.madeAs(board_id, client_revision_id)
  if (made === undefined || isSame(made, wish)) return made
  throw boardErrors.board_revision_idempotency_conflict({ details: { revision_id: made.revision_id } })
}

const numberOf = (store: BoardStore, board_id: string, previous: string): number => {
  const found = store.revisions.find(previous)
  if (found === undefined) {
    const errors = [{ path: 'body.previous_revision_id', rule: 'names no revision that is there' }]
    throw boardErrors.board_revision_not_found({ details: { revision_id: previous }, errors })
  }
  if (found.board_id !== board_id) refuse('previous_revision_id', 'must be a revision of this board')
  return found.number
}

/** The number of what follows; throws unless the newest revision is followed. */
const numberBehind = (
  store: BoardStore,
  { board_id, latest_revision_id }: Board,
  { previous_revision_id: previous }: Wish,
): number => {
  const number = previous === undefined ? 0 : numberOf(store, board_id, previous)
  if (previous === latest_revision_id) return number + 1
  const newest = latest_revision_id ?? 'none'
  throw boardErrors.board_revision_conflict({ details: { board_id, latest_revision_id: newest } })
}

/** The session of the run that made the assets. */
const sessionOfRun = ({ holders }: RevisionParts, wish: Wish): string | undefined => {
  const { source_run_id, source_session_id, render_asset_id, state_asset_id } = wish
  if (source_run_id === undefined) return source_session_id
  const ofRuns = holders().flatMap(({ domain, namings }) => (domain === 'runs' ? namings : []))
  const sessionFor = (asset_id: string): string | undefined =>
    ofRuns.flatMap((naming) => naming.find?.(asset_id, source_run_id) ?? [])[0]?.parent_id
  const session = sessionFor(render_asset_id)
  if (session === undefined || (state_asset_id !== undefined && sessionFor(state_asset_id) === undefined))
    return refuse('source_run_id', 'must be a run that names the assets of the revision')
  if (source_session_id !== undefined && source_session_id !== session)
    return refuse('source_run_id', 'must be a run of source_session_id')
  return session
}

const sourceOf = (parts: RevisionParts, { owner_session_id }: Board, wish: Wish): { source_session_id?: string } => {
  if (wish.source_session_id !== undefined) parts.sessions.get(wish.source_session_id)
  const source_session_id = sessionOfRun(parts, wish)
  if (owner_session_id !== undefined && source_session_id !== owner_session_id)
    refuse('source_session_id', 'must be the session that owns the board')
  return source_session_id === undefined ? {} : { source_session_id }
}

export const createRevisions = (parts: RevisionParts): Revisions => {
  const { store, assets, ids } = parts
  /** What was looked at holds in the commit, or nothing changes. */
  const make = (board_id: string, wish: Wish, embedded: readonly string[]): Promise<StoredRevision> =>
    store.state.commit((tx) => {
      const known = replayed(store, board_id, wish)
      if (known !== undefined) return known
      const board = store.get(board_id)
      const number = numberBehind(store, board, wish)
      requireAll(assets, wish, embedded)
      const now = Math.max(tx.now, board.updated_at_ms)
      const revision: StoredRevision = {
        revision_id: ids.make('board_revision'),
        board_id,
        number,
        ...wish,
        ...sourceOf(parts, board, wish),
        embedded: [...embedded],
        created_at_ms: now,
      }
      store.add(tx, revision)
      const { revision_id: latest_revision_id } = revision
      const revision_count = board.revision_count + 1
      tx.put(store.boards, { ...board, latest_revision_id, revision_count, updated_at_ms: now })
      return revision
    })
  return {
    async create(board_id, draft) {
      const wish = wishOf(draft)
      const board = store.get(board_id)
      checkClient(wish.client_revision_id)
      const known = replayed(store, board_id, wish)
      if (known !== undefined) return known
      numberBehind(store, board, wish)
      sourceOf(parts, board, wish)
      const { previous_revision_id, render_asset_id, state_asset_id } = wish
      const embedded = await checkAssets(assets, { board_id, previous_revision_id, render_asset_id, state_asset_id })
      return make(board_id, wish, embedded)
    },
  }
}
