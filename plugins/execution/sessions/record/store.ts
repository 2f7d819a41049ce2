/** Where sessions are kept. */
import { timeKey, type Collection, type CollectionSpec, type State, type Tx } from '../../../../core/plugin.js'
import { carryOverRecords, keptHandles, type TargetKeeper } from '../../deliveries/contract.js'
import type { PersonaSource, SessionSettings } from '../settings/settings.js'

/** What the daemon keeps of a session; everything else is in its journal and its runs. Times in Unix ms. */
export type SessionRecord = SessionSettings & {
  readonly session_id: string
  readonly agent_id: string
  readonly thread_id?: string
  readonly created_at_ms: number
  readonly ended_at_ms?: number
  readonly end_reason?: string
  /** What its agent is while it rests, by the run that ended last; absent where none has. */
  readonly rest_status?: RestStatus
}

/** What the agent of a session is while nothing is done or asked in it. */
export type RestStatus = 'idle' | 'failed' | 'completed'

/** What the agent of an ended session has done is what it was for: it does not idle. */
export const restOf = ({ ended_at_ms, rest_status = 'idle' }: SessionRecord): RestStatus =>
  ended_at_ms !== undefined && rest_status === 'idle' ? 'completed' : rest_status

/** Groups of the index `rest`: what rests so, of sessions that have ended or that have not. */
export const restGroup = (rest: RestStatus, hasEnded: boolean): string => `${hasEnded ? 'ended' : 'open'}:${rest}`

/** The digest of a soul that stands apart. */
const namedSoul = ({ persona }: SessionSettings): string | undefined =>
  persona?.soul === undefined ? persona?.soul_sha256 : undefined

/** What rarely changes: it is on disk until a run or a request touches it. */
export const sessionCollection: CollectionSpec<SessionRecord> = {
  name: 'sessions',
  version: 5,
  id: (session) => session.session_id,
  indexes: {
    all: { group: () => 'all' },
    agent: { group: ({ agent_id }) => agent_id },
    created: { group: () => 'all', sort: ({ created_at_ms, session_id }) => `${timeKey(created_at_ms)}${session_id}` },
    persona: { group: ({ persona }) => persona?.persona_id },
    soul: { group: namedSoul },
    default_skills: { group: ({ persona }) => persona?.default_skills_sha256 },
    rest: { group: (session) => restGroup(restOf(session), session.ended_at_ms !== undefined) },
  },
  settled: () => true,
  references: (session) => {
    const named = { souls: namedSoul(session), default_skills: session.persona?.default_skills_sha256 }
    return Object.entries(named).flatMap(([collection, id]) => (id === undefined ? [] : [{ collection, id }]))
  },
}

export interface SessionStore {
  readonly collection: Collection<SessionRecord>
  readonly personas: Pick<PersonaSource, 'keepSoul' | 'letGo'>
}

/** Writes a session in a commit. A record of an earlier version has its soul apart from then on. */
export const putSession = ({ collection, personas }: SessionStore, tx: Tx, session: SessionRecord): void => {
  const before = collection.find(session.session_id)?.persona
  tx.put(collection, withoutSoul(personas, tx, session))
  if (before !== undefined && before !== session.persona) personas.letGo(tx, before)
}

const withoutSoul = (personas: SessionStore['personas'], tx: Tx, session: SessionRecord): SessionRecord => {
  if (session.persona?.soul === undefined) return session
  const { soul, ...persona } = session.persona
  personas.keepSoul(tx, soul)
  return { ...session, persona }
}

/** Puts reply targets of older sessions as they may be stored. */
export const sessionKeeper = (state: State, collection: Collection<SessionRecord>): TargetKeeper => ({
  id: 'sessions',
  carryOver: (keep, signal) =>
    carryOverRecords({ state, collection, index: 'all', signal }, (session) => {
      const reply_targets = keptHandles(keep, session.reply_targets)
      return reply_targets === undefined ? undefined : { ...session, reply_targets }
    }),
})
