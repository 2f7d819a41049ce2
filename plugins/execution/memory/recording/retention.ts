/** Forgets what is too old or too much. What is left of a session is written again, so nothing is deleted for good. */
import type { RunMemoryPolicy } from './policy.js'
import { keep } from './memory.js'
import type { MemoryStore } from './store.js'

/** Sessions in one commit. */
const slice = 16

/** Sessions that remember something expired or more than is tracked; at most one slice. */
const overdue = ({ memories }: MemoryStore, policy: RunMemoryPolicy, now: number): string[] => {
  const expired = memories
    .list({ index: 'oldest', group: 'all', limit: slice, order: 'asc' })
    .filter((record) => (record.memories[0]?.recorded_at_ms ?? 0) <= now - policy.retention_ms)
  const sizes = memories.groups('size').filter((size) => Number(size) > policy.max_tracked_per_session)
  return [
    ...new Set([
      ...expired.map(({ session_id }) => session_id),
      ...sizes.flatMap((size) => memories.page({ index: 'size', group: size, limit: slice })),
    ]),
  ].slice(0, slice)
}

interface Forgetting {
  readonly store: MemoryStore
  readonly policy: RunMemoryPolicy
  readonly now: number
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal
}

/** Forgets until nothing is overdue or the plugin stops. Resolves with the number of memories forgotten. */
export const forget = async ({ store, policy, now, signal }: Forgetting): Promise<number> => {
  let forgotten = 0
  for (let due = overdue(store, policy, now); due.length > 0; due = overdue(store, policy, now)) {
    if (signal.aborted) return forgotten
    const ids = due
    forgotten += await store.state.commit((tx) =>
      ids.reduce((sum, session_id) => {
        const record = store.memories.find(session_id)
        if (record === undefined) return sum
        const memories = keep(record.memories, { now, ...policy })
        tx.put(store.memories, { ...record, memories })
        return sum + record.memories.length - memories.length
      }, 0),
    )
  }
  return forgotten
}
