/** Threads of the sessions that were active lately. A thread that is not here is folded anew from the journal. */
import { createCache } from '../../../core/plugin.js'
import { type RunRecord, entryAt, type RunStore } from '../runs/contract.js'
import { beginThread, foldEntry, trimThread, type Thread } from './thread.js'

/** Entries of the journal's end that a thread is folded from, at most. */
const tail = 5000
const chunk = 500

export interface Threads {
  /** The thread of a run's session, up to the end of the journal. */
  at(run: RunRecord): Thread
  /** Forgets what was folded; needed when a commit was undone. */
  forget(session_id: string): void
}

export const createThreads = (store: RunStore, { kept, max_bytes }: { kept: number; max_bytes: number }): Threads => {
  const threads = createCache<Thread>(kept)
  const input = (run_id: string): string => {
    const run = store.runs.find(run_id)
    const entry = run === undefined ? undefined : entryAt(store, run.session_id, run.first)
    return entry?.type === 'event' && entry.event.type === 'accepted' ? entry.event.content : ''
  }
  /** Where a thread begins that is not known: never within a run, as far as the first entry tells. */
  const beginning = ({ session_id, first }: RunRecord): number => {
    const from = Math.max(0, Math.min(first - 1, store.journal.length(session_id) - tail))
    const cut = store.runs.find(entryAt(store, session_id, from + 1)?.run_id ?? '')
    return cut === undefined ? from : Math.min(from, cut.first - 1)
  }
  const catchUp = (session_id: string, thread: Thread): void => {
    const end = store.journal.length(session_id)
    while (thread.seq < end) {
      const entries = store.journal.read(session_id, { after: thread.seq, limit: chunk })
      if (entries.length === 0) return
      for (const { seq, entry } of entries) foldEntry(thread, seq, entry)
    }
  }
  return {
    at(run) {
      const { session_id } = run
      const thread = threads.get(session_id) ?? beginThread(beginning(run), input)
      threads.set(session_id, thread)
      catchUp(session_id, thread)
      if (thread.bytes > max_bytes) trimThread(thread, max_bytes)
      return thread
    },
    forget: (session_id) => void threads.delete(session_id),
  }
}
