/** What follows when the work of an agent is done (agents-13). */
import { tellFailure, type Events, type Log, type State } from '../../../core/plugin.js'
import type { Interception } from '../../execution/interception/contract.js'
import type { Runs, TerminalRun } from '../../execution/runs/contract.js'
import { SessionStateChanged, type Sessions } from '../../execution/sessions/contract.js'
import { workingBelow } from './kinship.js'
import type { AgentRecord } from './record.js'
import type { AgentStore } from './store.js'

export interface EndingParts {
  readonly store: AgentStore
  readonly state: State
  readonly sessions: Sessions
  readonly runs: Runs
  readonly log: Log
  readonly interception: () => Interception | undefined
  readonly events: Events
}

/** Closes agents that are to be closed when their work is done. Returns its end. */
export const watchEnds = (parts: EndingParts): (() => void) => {
  const { store, runs, events } = parts
  for (const session_id of store.collection.ids('passing', 'all')) void close(parts, session_id)
  const undo = [
    runs.onEnded((run) => {
      const record = store.find(run.session_id)
      if (record !== undefined) ended(parts, record, run)
    }),
    // One may come to rest without a run that ends, such as when somebody takes the last message from its mailbox.
    events.on(SessionStateChanged, ({ session_id }) => {
      const record = store.find(session_id)
      if (record !== undefined) closeUpwards(parts, record)
    }),
  ]
  return () => {
    for (const end of undo) end()
  }
}

const ended = (parts: EndingParts, record: AgentRecord, run: TerminalRun): void => {
  const { session_id, agent_id, profile, parent_agent_id } = record
  if (parts.store.isLive(parts.sessions.get(session_id))) return
  parts.interception()?.tell({
    event: 'subagent_stop',
    subject: profile,
    session_id,
    agent_id,
    run_id: run.run_id,
    payload: { agent_type: profile, parent_agent_id },
  })
}

/** The end of one may be what those above it wait for to be closed. */
const closeUpwards = (parts: EndingParts, record: AgentRecord): void => {
  for (let one: AgentRecord | undefined = record; one !== undefined; one = parts.store.find(one.parent_session_id))
    if (one.retention === 'close_on_settle' && one.is_closed === undefined) void close(parts, one.session_id)
}

/** One that has not begun yet, works, or has agents that work below it stays. */
const isDone = ({ store, sessions, runs }: EndingParts, session_id: string): boolean => {
  const session = sessions.get(session_id)
  return (
    session.ended_at_ms === undefined &&
    !store.isLive(session) &&
    workingBelow(store, session_id).length === 0 &&
    runs.latest(session_id) !== undefined
  )
}

const close = async (parts: EndingParts, session_id: string): Promise<void> => {
  const { state, sessions, log } = parts
  if (!isDone(parts, session_id)) return
  try {
    await state.commit((tx) => {
      if (isDone(parts, session_id)) sessions.end(tx, session_id, 'its work is done')
    })
  } catch (error) {
    tellFailure({ log, state }, 'an agent could not be closed', { session_id, error })
  }
}
