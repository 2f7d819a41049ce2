/** Runs of sessions that share a persona or a project. */
import type { Clock } from '../../../../core/plugin.js'
import type { RunMemoryPolicy } from '../recording/policy.js'
import { runDocument, type Document } from './documents.js'
import { createPacer } from './pacer.js'
import { sharedIndexes, type MemoryStore } from '../recording/store.js'

/** Runs of other sessions that one search looks at, at most: of those sessions that ended a run last. */
const most = 10_000

export interface SharedRuns {
  /** The runs of sessions, but one, that stand under any of these scopes. */
  documents(keys: readonly string[], except: string): Promise<Document[]>
  /** Forgets what was read of sessions, because it has changed. */
  forget(session_ids: readonly string[]): void
}

export const createSharedRuns = ({
  store: { memories },
  clock,
  policy,
}: {
  readonly store: MemoryStore
  readonly clock: Clock
  readonly policy: RunMemoryPolicy
}): SharedRuns => {
  /** What was read of sessions, those looked at last at the end; at most twice what one search looks at. */
  const read = new Map<string, readonly Document[]>()
  let held = 0

  const drop = (session_id: string): void => {
    held -= read.get(session_id)?.length ?? 0
    read.delete(session_id)
  }
  const documentsOf = (session_id: string): readonly Document[] => {
    const known =
      read.get(session_id) ??
      (memories.find(session_id)?.memories ?? []).map((memory) => runDocument(memory, session_id, false))
    drop(session_id)
    read.set(session_id, known)
    held += known.length
    for (const [oldest] of read) {
      if (held <= 2 * most) break
      drop(oldest)
    }
    return known
  }
  /** Newest first, each once. */
  const sessionsUnder = (keys: readonly string[]): Set<string> =>
    new Set(
      keys.flatMap((group) =>
        sharedIndexes.flatMap((index) => memories.page({ index, group, order: 'desc', limit: most })),
      ),
    )
  return {
    forget: (session_ids) => session_ids.forEach(drop),
    async documents(keys, except) {
      const pace = createPacer(clock)
      const found: Document[] = []
      for (const session_id of sessionsUnder(keys)) {
        if (found.length >= most) break
        if (session_id !== except)
          for (const one of documentsOf(session_id))
            if (one.timestamp_ms > clock.now() - policy.retention_ms) found.push(one)
        if (pace.due()) await pace.rest()
      }
      return found
    },
  }
}
