/** Adds a batch of elements to the newest state of a board, as a revision of its own. */
import { digest, isJsonObject, Problem, type JsonObject, type Sandbox } from '../../../../core/plugin.js'
import type { Sessions } from '../../../execution/sessions/contract.js'
import type { Assets } from '../../assets/contract.js'
import type { Board } from '../record/views.js'
import { boardErrors } from '../record/errors.js'
import { readState } from '../record/revision-assets.js'
import type { Revisions } from '../record/revisions.js'
import { mostStateBytes, stateVersion } from '../record/state.js'
import type { BoardStore, StoredRevision } from '../record/store.js'
import { authorOf } from './author.js'
import { usualCanvas, type Canvas } from './canvas.js'
import { canvasOf, type Author, type DrawnElement, type NewElement } from './elements.js'
import { drawPicture, measurePicture } from './picture.js'

export interface DrawParts {
  readonly store: BoardStore
  readonly revisions: Revisions
  readonly assets: Assets
  readonly sessions: Sessions
  readonly sandbox: Sandbox
}

export interface Batch {
  readonly board_id: string
  readonly elements: readonly NewElement[]
  readonly note?: string | undefined
  readonly session_id: string
  readonly run_id: string
  /** The same batch has the same key, also after a crash. */
  readonly key: string
  readonly signal: AbortSignal
}

/** The revision that was made, and the board behind it as the next one sees it. */
export interface DrawnRevision {
  readonly revision: StoredRevision
  readonly state: JsonObject | undefined
}

/** How often a batch is drawn anew because somebody else was first. */
const mostAttempts = 3

/** Throws `board_owned`, `board_not_found`. */
export const boardFor = (store: BoardStore, board_id: string, session_id: string): Board => {
  const board = store.get(board_id)
  if (board.owner_session_id === undefined || board.owner_session_id === session_id) return board
  throw boardErrors.board_owned({ details: { board_id } })
}

/** The state of the newest revision, if it has one. */
export const newestState = async (
  { store, assets }: Pick<DrawParts, 'store' | 'assets'>,
  { board_id, latest_revision_id }: Board,
): Promise<JsonObject | undefined> => {
  const newest = latest_revision_id === undefined ? undefined : store.revision(board_id, latest_revision_id)
  return newest?.state_asset_id === undefined ? undefined : readState(assets, newest.state_asset_id)
}

/** What is drawn over, whether a state tells of it or not; empty for none. */
const pictureBefore = async (
  { store, assets }: Pick<DrawParts, 'store' | 'assets'>,
  { board_id, latest_revision_id }: Board,
): Promise<Uint8Array> =>
  latest_revision_id === undefined
    ? new Uint8Array()
    : assets.read(store.revision(board_id, latest_revision_id).render_asset_id, 'raw')

/** The canvas of a board whose state tells of none, as `board_draw` has it; undefined for the usual one. */
export const sizedAs = async (
  parts: Pick<DrawParts, 'store' | 'assets' | 'sandbox'>,
  board: Board,
  { state, signal }: { readonly state: JsonObject | undefined; readonly signal: AbortSignal },
): Promise<Canvas | undefined> =>
  canvasOf(state) !== undefined || board.latest_revision_id === undefined
    ? undefined
    : measurePicture(parts.sandbox, await pictureBefore(parts, board), signal)

const stamped = (element: NewElement, author: Author): DrawnElement => ({
  ...element,
  color: element.color ?? author.color,
  author,
})

const isLate = (error: unknown): boolean =>
  error instanceof Problem && error.code === boardErrors.board_revision_conflict.code

const stopped = (): Problem => boardErrors.board_drawing_failed({ details: { reason: 'the call was stopped' } })

export type Draw = (batch: Batch) => Promise<DrawnRevision>

export const createDraw = (parts: DrawParts): Draw => {
  const { store, revisions, assets, sessions, sandbox } = parts

  const stateWith = (board: Board, before: JsonObject | undefined, more: JsonObject): JsonObject => ({
    ...before,
    schema_version: stateVersion,
    board_id: board.board_id,
    previous_revision_id: board.latest_revision_id,
    ...more,
  })
  const stored = async (name: string, media_type: string, bytes: Uint8Array): Promise<string> =>
    (await assets.add({ file_name: `${name}.${media_type === 'image/png' ? 'png' : 'json'}`, media_type, bytes }))
      .asset_id

  const attempt = async (batch: Batch, client_revision_id: string): Promise<DrawnRevision> => {
    const { board_id, session_id, run_id, note, signal } = batch
    const board = boardFor(store, board_id, session_id)
    const known = store.madeAs(board_id, client_revision_id)
    const before = await newestState(parts, board)
    if (known !== undefined) return { revision: known, state: before }
    const author = authorOf(sessions, session_id)
    const elements = batch.elements.map((element) => stamped(element, author))
    const canvas = canvasOf(before) ?? (board.latest_revision_id === undefined ? usualCanvas : undefined)
    const picture = await pictureBefore(parts, board)
    const drawn = await drawPicture(sandbox, { elements, author, canvas, before: picture, signal })
    const { canvas: sized, elements: earlier } = before ?? {}
    const state = stateWith(board, before, {
      canvas: { ...(isJsonObject(sized) && sized), ...drawn.canvas },
      elements: [...(Array.isArray(earlier) ? earlier : []), ...elements],
    })
    const bytes = Buffer.from(JSON.stringify(state))
    if (bytes.length > mostStateBytes) throw boardErrors.board_full({ details: { board_id } })
    const { name: author_name, color: author_color } = author
    const revision = await revisions.create(board_id, {
      previous_revision_id: board.latest_revision_id,
      client_revision_id,
      render_asset_id: await stored(board_id.slice(0, 100), 'image/png', drawn.png),
      state_asset_id: await stored(board_id.slice(0, 100), 'application/json', bytes),
      note,
      source_session_id: session_id,
      metadata: { tool: 'board_draw', run_id, author_name, author_color, element_count: elements.length },
    })
    return { revision, state }
  }

  /** Of batches for one board one is drawn after the other: none is drawn in vain. */
  const tails = new Map<string, Promise<unknown>>()
  const inLine = async <T>(board_id: string, work: () => Promise<T>): Promise<T> => {
    const mine = (tails.get(board_id) ?? Promise.resolve()).then(work, work)
    tails.set(board_id, mine)
    try {
      return await mine
    } finally {
      if (tails.get(board_id) === mine) tails.delete(board_id)
    }
  }
  return async (batch) => {
    const client_revision_id = `board_draw:${digest(batch.key)}`
    return inLine(batch.board_id, async () => {
      for (let tries = 1; ; tries += 1) {
        if (batch.signal.aborted) throw stopped()
        try {
          return await attempt(batch, client_revision_id)
        } catch (error) {
          if (batch.signal.aborted) throw stopped()
          if (!isLate(error) || tries === mostAttempts) throw error
        }
      }
    })
  }
}
