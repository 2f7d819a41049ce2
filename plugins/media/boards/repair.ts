/** What a start looks at, beside its work: each revision, what it names, and its place in the history. */
import { createShare, type Clock, type Log, type Tx, type Warning } from '../../../core/plugin.js'
import type { Assets } from '../assets/contract.js'
import { createBoardFindings, quarantineWarnings, type BoardRepairReport } from './repair-report.js'
import type { BoardStore, StoredRevision } from './record/store.js'
import { createVerdicts } from './verdicts.js'

export interface BoardRepairParts {
  readonly store: BoardStore
  readonly assets: Assets
  readonly clock: Clock
  readonly log: Log
}

export interface BoardRepair {
  /** Looks at everything once; ends early when the signal aborts. */
  run(signal: AbortSignal): Promise<void>
  report(): BoardRepairReport
  health(): readonly Warning[]
}

/** The part of the time that it takes. */
const part = 0.2
export const createBoardRepair = ({ store, assets, clock, log }: BoardRepairParts): BoardRepair => {
  const { revisions, boards, state } = store
  const found = createBoardFindings(log)

  const { readable, judge } = createVerdicts({ store, assets })
  const settle = (tx: Tx, revision: StoredRevision, reason: string | undefined): void => {
    const { quarantined, ...rest } = revision
    if (quarantined?.reason === reason) return
    const { board_id, revision_id } = revision
    tx.put(revisions, reason === undefined ? rest : { ...rest, quarantined: { reason, at_ms: tx.now } })
    const action = reason === undefined ? 'restore' : 'quarantine'
    tx.after(() => found.tell({ board_id, revision_id, action, reason: reason ?? 'sound' }))
  }
  /** The board shows the newest of those that are left. */
  const summarise = (tx: Tx, board_id: string): void => {
    const board = boards.find(board_id)
    const [latest_revision_id] = revisions.page({ index: 'board', group: board_id, limit: 1, order: 'desc' })
    const revision_count = revisions.count('board', board_id)
    if (board === undefined) return
    if (board.latest_revision_id === latest_revision_id && board.revision_count === revision_count) return
    const { latest_revision_id: _latest, ...rest } = board
    const updated_at_ms = Math.max(tx.now, board.updated_at_ms)
    tx.put(boards, { ...rest, ...(latest_revision_id && { latest_revision_id }), revision_count, updated_at_ms })
  }
  /** A board whose record is lost, from what its first revision says. */
  const rebuild = (tx: Tx, board_id: string): void => {
    if (boards.has(board_id) || boards.isDeleted(board_id)) return
    const [first] = revisions.list({ index: 'history', group: board_id, limit: 1, skip: store.skip })
    const owner_session_id = first?.source_session_id
    const created_at_ms = first?.created_at_ms ?? tx.now
    const board = { board_id, display_name: board_id, revision_count: 0, created_at_ms, updated_at_ms: tx.now }
    tx.insert(boards, { ...board, ...(owner_session_id !== undefined && { owner_session_id }) })
    tx.after(() => found.tell({ board_id, action: 'rebuild', reason: 'board_missing' }))
  }
  const lookAt = async (board_id: string, pause: () => Promise<void> | undefined): Promise<void> => {
    const ids = revisions.ids('history', board_id)
    const verdicts = await judge(ids, { pause, looked: found.checked })
    const differs = ids.some((id) => verdicts.has(id) && readable(id)?.quarantined?.reason !== verdicts.get(id))
    if (!differs && boards.has(board_id)) return
    await state.commit((tx) => {
      rebuild(tx, board_id)
      for (const [id, reason] of verdicts) {
        const revision = readable(id)
        if (revision !== undefined) settle(tx, revision, reason)
      }
      summarise(tx, board_id)
    })
  }
  return {
    async run(signal) {
      const pause = createShare(clock, { part, signal })
      for (const board_id of revisions.groups('history')) {
        if (signal.aborted) return
        await lookAt(board_id, pause).catch((error: unknown) => log.warn('a board could not be looked at', { error }))
      }
    },
    report: () => found.report,
    health: () => quarantineWarnings(revisions.count('quarantined', 'all')),
  }
}
