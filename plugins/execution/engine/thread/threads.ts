/** Threads of the sessions that were active lately. A thread that is not here is folded anew from the journal. */
import { createPause, type Collection, type CollectionSpec, type Tx } from '../../../../core/plugin.js'
import { entryAt, type RunRecord, type RunStore } from '../../runs/contract.js'
import { beginSummed } from './compacted.js'
import { foldEntry, textsOf, toldAfter } from './fold.js'
import { beginThread, weightOf, type Texts, type Thread } from './thread.js'

/** Entries that are folded before others get their turn. */
const chunk = 500

/** Where the thread of a session begins, once its oldest runs were left out: the entry with which a run started. */
export type ThreadStart = {
  readonly session_id: string
  readonly seq: number
  /** The entry of the summary that stands before that run, where it is an earlier one. */
  readonly summary?: number
}
export const threadStarts: CollectionSpec<ThreadStart> = {
  name: 'thread_starts',
  version: 2,
  id: (start) => start.session_id,
  indexes: {},
  settled: () => true,
  references: (start) => [{ collection: 'sessions', id: start.session_id }],
}

export interface Threads {
  /** Folds what is not known of the thread of a run, if that is much; then others are served meanwhile. */
  ready(run: RunRecord): Promise<void> | undefined
  /** The thread of a run's session, up to the end of the journal. */
  at(run: RunRecord): Thread
  /** Writes down in a commit where the thread of a session begins, if that has changed: nobody need read before it. */
  keep(tx: Tx, session_id: string): void
  /** No run of the session executes now: its thread is kept only while there is room. */
  rest(session_id: string): void
  /** Forgets what was folded; needed when a commit was undone. */
  forget(session_id: string): void
}

interface ThreadParts {
  /** Bytes of all threads that rest. */
  readonly resting_bytes: number
  readonly max_bytes: number
  readonly starts: Collection<ThreadStart>
  /** True if the model of a run is shown its run alone: nothing before it is folded. */
  readonly alone: (run: RunRecord) => boolean
}

export const createThreads = (store: RunStore, { resting_bytes, max_bytes, starts, alone }: ThreadParts): Threads => {
  const inUse = new Map<string, Thread>()
  const resting = createResting(resting_bytes)
  const keyOf = (run: RunRecord): string => (alone(run) ? aloneIn(run.session_id) : run.session_id)
  const input = (run_id: string): Texts | undefined => {
    const run = store.runs.find(run_id)
    if (run === undefined) return undefined
    const { session_id, first } = run
    const [accepted, next] = [first, first + 1].map((seq) => entryAt(store, session_id, seq))
    if (accepted?.type !== 'event' || accepted.event.type !== 'accepted') return [{ type: 'text', text: '' }]
    const texts = textsOf(accepted.event)
    return next?.type === 'intercepted' && next.run_id === run_id ? toldAfter(texts, next) : texts
  }
  const begin = (run: RunRecord): Thread => {
    if (alone(run)) return beginThread(run.first - 1, input, { alone: true })
    const { session_id } = run
    const { seq = 1, summary } = starts.find(session_id) ?? {}
    const lacking = seq > 1 || store.journal.first(session_id) > 1
    const thread = beginThread(seq - 1, input, { limit: max_bytes, lacking })
    const entry = summary === undefined ? undefined : entryAt(store, session_id, summary)
    if (summary !== undefined && entry?.type === 'compaction') beginSummed(thread, summary, entry.summary)
    return thread
  }
  const take = (run: RunRecord): Thread => {
    const key = keyOf(run)
    const thread = inUse.get(key) ?? resting.take(key) ?? begin(run)
    inUse.set(key, thread)
    return thread
  }
  /** False at the end of the journal. What fell may be more than a chunk, so it is passed over at once. */
  const foldChunk = (session_id: string, thread: Thread): boolean => {
    if (thread.seq >= store.journal.length(session_id)) return false
    const after = Math.max(thread.seq, store.journal.first(session_id) - 1)
    const entries = store.journal.read(session_id, { after, limit: chunk })
    for (const { seq, entry } of entries) foldEntry(thread, seq, entry)
    return entries.length > 0
  }
  const foldAll = async (session_id: string, thread: Thread): Promise<void> => {
    const pause = createPause(1)
    while (foldChunk(session_id, thread)) await pause()
  }
  return {
    ready(run) {
      const { session_id } = run
      const thread = take(run)
      return store.journal.length(session_id) - thread.seq > chunk ? foldAll(session_id, thread) : undefined
    },
    at(run) {
      const thread = take(run)
      while (foldChunk(run.session_id, thread));
      return thread
    },
    keep(tx, session_id) {
      const { moved = false, starts: [oldest] = [], summary = 0 } = inUse.get(session_id) ?? {}
      if (!moved || oldest === undefined) return
      const { seq } = oldest
      const next = { session_id, seq, ...(summary > 0 && summary < seq && { summary }) }
      const known = starts.find(session_id)
      if (known?.seq !== seq || known.summary !== next.summary) tx.put(starts, next)
    },
    rest(session_id) {
      for (const key of [session_id, aloneIn(session_id)]) {
        const thread = inUse.get(key)
        if (thread !== undefined) resting.put(key, thread)
        inUse.delete(key)
      }
    },
    forget(session_id) {
      for (const key of [session_id, aloneIn(session_id)]) {
        inUse.delete(key)
        resting.take(key)
      }
    },
  }
}

/** No session has this id. */
const aloneIn = (session_id: string): string => ` ${session_id}`

/** Threads that no run uses. Beyond some bytes those go that have rested longest. */
const createResting = (most: number) => {
  const threads = new Map<string, { readonly thread: Thread; readonly weight: number }>()
  let bytes = 0
  const take = (session_id: string): Thread | undefined => {
    const found = threads.get(session_id)
    bytes -= found?.weight ?? 0
    threads.delete(session_id)
    return found?.thread
  }
  const put = (session_id: string, thread: Thread): void => {
    const weight = weightOf(thread)
    threads.set(session_id, { thread, weight })
    bytes += weight
    for (const oldest of threads.keys()) {
      if (bytes <= most) return
      take(oldest)
    }
  }
  return { take, put }
}
