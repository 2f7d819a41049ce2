/**
 * Which sessions used something: read in turns for whoever asks, and kept up from then on unless they are too many to
 * be kept in memory.
 */
import { partsOfId, type UsageStore } from './store.js'

/** Ids read in one turn of the event loop. */
const step = 4096
/** Ids that are kept. */
export const mostKept = 20_000

export interface SessionIds {
  all(inTurn: () => Promise<void>): Promise<readonly string[]>
  /** A call of this session is booked. */
  add(session_id: string): void
}

export const createSessionIds = ({ sessions }: Pick<UsageStore, 'sessions'>): SessionIds => {
  let known: Set<string> | undefined
  let reading: Promise<void> | undefined
  const letGo = (): void => {
    known = undefined
    reading = undefined
  }
  const read = async (found: Set<string>, inTurn: () => Promise<void>): Promise<void> => {
    for (let beyond: string | undefined; ; await inTurn()) {
      const ids = sessions.page({ index: 'all', group: 'all', limit: step, ...(beyond !== undefined && { beyond }) })
      for (const id of ids) found.add(partsOfId(id).session_id)
      beyond = ids.at(-1)
      if (ids.length < step) return
    }
  }
  return {
    async all(inTurn) {
      const found = (known ??= new Set())
      reading ??= read(found, inTurn).catch((error: unknown) => {
        letGo()
        throw error
      })
      await reading
      if (found.size > mostKept) letGo()
      return [...found]
    },
    add(session_id) {
      known?.add(session_id)
    },
  }
}
