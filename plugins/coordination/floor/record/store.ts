/** Where leases and calls are kept: until the turn is over, and until it is decided who is asked. */
import {
  timeKey,
  type Collection,
  type CollectionSpec,
  type PageQuery,
  type State,
  type Tx,
} from '../../../../core/plugin.js'
import { CallRecord, LeaseRecord } from './lease.js'

const byTime = ({ expires_at_ms, turn_id }: LeaseRecord): string => `${timeKey(expires_at_ms)}${turn_id}`

const leaseCollection: CollectionSpec<LeaseRecord> = {
  name: 'turn_leases',
  version: 1,
  id: ({ turn_id }) => turn_id,
  indexes: {
    all: { group: () => 'all', sort: byTime },
    channel: { group: ({ channel_id }) => channel_id, sort: byTime },
    thread: { group: ({ thread_root_message_id }) => thread_root_message_id },
    run: { group: ({ active_run_id }) => active_run_id },
    holder: { group: ({ holder_session_id }) => holder_session_id },
  },
  removed: 'forgotten',
  schema: LeaseRecord,
  references: ({ active_run_id }) => [{ collection: 'runs', id: active_run_id }],
}

const callCollection: CollectionSpec<CallRecord> = {
  name: 'channel_calls',
  version: 1,
  id: ({ message_id }) => message_id,
  indexes: { all: { group: () => 'all' }, channel: { group: ({ channel_id }) => channel_id } },
  removed: 'forgotten',
  schema: CallRecord,
}

/** Leases and calls. */
export interface FloorStore {
  readonly leases: Collection<LeaseRecord>
  readonly calls: Collection<CallRecord>
  /** The lease whose run this is. */
  ofRun(run_id: string): LeaseRecord | undefined
  inThread(root_message_id: string): readonly LeaseRecord[]
  heldBy(session_id: string): readonly LeaseRecord[]
  /** By the time at which they end, the first one first, at most `limit`. */
  inChannel(channel_id: string, limit: number): readonly LeaseRecord[]
  due(limit: number): readonly LeaseRecord[]
  /** The call of a channel that came first. */
  firstCall(channel_id: string): CallRecord | undefined
  /** Channels in which somebody is still to be asked. */
  calling(): readonly string[]
  drop(tx: Tx, lease: LeaseRecord, why: string): void
}

/** Leases of one thread, or of one session, that are looked at: there are as many as speakers. */
const most = 1_000

export const declareFloor = (state: State): FloorStore => {
  const leases = state.collection(leaseCollection)
  const calls = state.collection(callCollection)
  const some = (query: Omit<PageQuery, 'limit'>): LeaseRecord[] => leases.list({ limit: most, ...query })
  return {
    leases,
    calls,
    ofRun: (run_id) => leases.list({ index: 'run', group: run_id, limit: 1 })[0],
    inThread: (group) => some({ index: 'thread', group }),
    heldBy: (group) => some({ index: 'holder', group }),
    inChannel: (group, limit) => leases.list({ index: 'channel', group, limit }),
    due: (limit) => leases.list({ index: 'all', group: 'all', limit }),
    firstCall: (group) => calls.list({ index: 'channel', group, limit: 1 })[0],
    calling: () => calls.groups('channel'),
    drop: (tx, { turn_id }, why) => tx.remove(leases, turn_id, why),
  }
}
