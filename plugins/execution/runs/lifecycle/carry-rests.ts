/** What sessions of earlier versions rest as is kept with them: once in the life of a root. */
import { tellFailure, type Document, type Log } from '../../../../core/plugin.js'
import { begunBeside, carryOverRecords } from '../../deliveries/contract.js'
import type { Sessions } from '../../sessions/contract.js'
import type { RunStore } from '../record/store.js'
import { restAfter } from '../views/session-status.js'

interface CarryParts {
  readonly store: RunStore
  readonly sessions: Sessions
  readonly log: Log
}

type Done = { readonly kept: boolean }

/** Begins it beside the work; what it answers with waits for its end. A root that was made now has no such sessions. */
export const createRestCarryOver = ({ store, sessions, log }: CarryParts): (() => () => Promise<void>) => {
  const { state } = store
  const document: Document<Done> = state.document<Done>('session_rests')
  const all = (signal: AbortSignal): Promise<number> =>
    carryOverRecords({ state, collection: sessions.collection, index: 'created', signal }, (session) => {
      const rest_status = session.rest_status === undefined ? restAfter(store, session.session_id) : 'idle'
      return rest_status === 'idle' ? undefined : { ...session, rest_status }
    })
  return begunBeside(async (signal) => {
    if (document.read()?.kept === true) return
    try {
      const count = state.health.generation > 1 ? await all(signal) : 0
      await document.write({ kept: true })
      if (count > 0) log.info('sessions tell what they rest as', { sessions: count })
    } catch (error) {
      if (signal.aborted) return
      tellFailure({ log, state }, 'what sessions rest as could not be kept; the next start tries again', { error })
    }
  })
}
