/** What others need to remember runs by. */
import type { JournalEntry } from '../sessions/contract.js'
import type { RunRecord } from './run-record.js'
import { entryAt, type RunStore } from './store.js'

/** A part of the service: what has been. */
export interface RunHistory {
  /** What a run was told, and its newest output, as the journal has them: not redacted, of any length. */
  texts(run: RunRecord): { readonly request: string; readonly outcome?: string }
  /** Runs in reverse order of submission, at most `limit`: the newest, or those submitted before the run `before`. */
  newest(page: { readonly limit: number; readonly before?: string }): RunRecord[]
  /** Ids of runs that have not ended. */
  open(): string[]
}

const openStatuses = ['running', 'waiting_for_approval', 'waiting_for_user_question', 'queued'] as const

export const createHistory = (store: RunStore): RunHistory => ({
  texts(run) {
    const content = (seq: number, type: 'accepted' | 'output'): string =>
      contentOf(entryAt(store, run.session_id, seq), type)
    const last = run.outputs?.findLast((seq) => content(seq, 'output').trim() !== '')
    return { request: content(run.first, 'accepted'), ...(last !== undefined && { outcome: content(last, 'output') }) }
  },
  newest: ({ limit, before }) =>
    store.runs.list({
      index: 'all',
      group: 'all',
      order: 'desc',
      limit,
      ...(before !== undefined && { beyond: before }),
    }),
  open: () => openStatuses.flatMap((status) => [...store.runs.ids('status', status)]),
})

const contentOf = (entry: JournalEntry | undefined, type: 'accepted' | 'output'): string => {
  if (entry?.type !== 'event' || entry.event.type !== type) return ''
  return entry.event.type === 'accepted'
    ? entry.event.content
    : entry.event.type === 'output'
      ? entry.event.output.content
      : ''
}
