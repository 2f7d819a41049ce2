/** Where capture agents are kept, and which batches were applied. */
import {
  collectionSource,
  integer,
  object,
  string,
  timeKey,
  timestamp,
  type Collection,
  type CollectionSpec,
  type Infer,
  type PageSource,
  type Skip,
  type State,
} from '../../../../core/plugin.js'
import { captureErrors } from './errors.js'
import { CaptureAgent, CaptureLease } from './structs.js'

const LeaseRecord = object({
  view: CaptureLease,
  machine_id: string(),
  /** Its place among those that were issued with it. */
  place: integer({ min: 0 }),
  upload_token_sha256: string(),
})
/** A lease as it is kept: its token as a digest. */
export type LeaseRecord = Infer<typeof LeaseRecord>

const { leases: _leases, ...agentFields } = CaptureAgent.schema
const AgentRecord = object({ ...agentFields, heartbeat_token_sha256: string() })
/** An agent as it is kept. */
export type AgentRecord = Infer<typeof AgentRecord>

const Batch = object({
  batch_id: string(),
  fingerprint_sha256: string(),
  agents: integer({ min: 1 }),
  applied_at_ms: timestamp(),
})
type Batch = Infer<typeof Batch>

/** Leases of one agent, and batches, that are kept: those before them fall. */
const [mostLeases, mostBatches] = [100, 100_000]
const group = 'all'

const agentCollection: CollectionSpec<AgentRecord> = {
  name: 'capture_agents',
  version: 1,
  id: ({ machine_id }) => machine_id,
  indexes: {
    all: { group: () => group },
    state: { group: ({ heartbeat_state }) => heartbeat_state },
    /** Those that are listened for, the next deadline first. */
    due: {
      group: ({ heartbeat_state }) =>
        heartbeat_state === 'pending' || heartbeat_state === 'healthy' ? group : undefined,
      sort: ({ heartbeat_deadline_ms, machine_id }) => `${timeKey(heartbeat_deadline_ms)} ${machine_id}`,
    },
  },
  settled: ({ status }) => status === 'revoked',
  bounded: { capture_agents: 'the machines that an operator provisions' },
  schema: AgentRecord,
  references: ({ source_ids }) => source_ids.map((id) => ({ collection: 'observation_sources', id })),
}
const leaseCollection: CollectionSpec<LeaseRecord> = {
  name: 'capture_leases',
  version: 1,
  id: ({ view }) => view.lease_id,
  indexes: {
    machine: {
      group: ({ machine_id }) => machine_id,
      sort: ({ view, place }) => `${timeKey(view.issued_at_ms)} ${place}`,
    },
    good: { group: ({ machine_id, view }) => (view.revoked_at_ms === undefined ? machine_id : undefined) },
    token: { group: ({ upload_token_sha256 }) => upload_token_sha256 },
  },
  settled: ({ view }) => view.revoked_at_ms !== undefined,
  removed: 'forgotten',
  bounded: { capture_leases: `the newest ${mostLeases} of each agent` },
  schema: LeaseRecord,
  references: ({ machine_id }) => [{ collection: 'capture_agents', id: machine_id }],
}
const batchCollection: CollectionSpec<Batch> = {
  name: 'capture_provisions',
  version: 1,
  id: ({ batch_id }) => batch_id,
  indexes: { applied: { group: () => group, sort: ({ applied_at_ms }) => timeKey(applied_at_ms) } },
  settled: () => true,
  removed: 'forgotten',
  bounded: { capture_provisions: `the newest ${mostBatches}` },
  schema: Batch,
}

export interface AgentStore {
  readonly state: State
  readonly agents: Collection<AgentRecord>
  readonly leases: Collection<LeaseRecord>
  readonly batches: Collection<Batch>
  /** Leases of an agent that were not revoked. */
  goodLeases(machine_id: string): readonly LeaseRecord[]
  /** The lease that a token stands for, by its digest. */
  leaseOf(upload_token_sha256: string): LeaseRecord | undefined
  find(machine_id: string): AgentRecord | undefined
  /** Throws `capture_agent_not_found`. */
  get(machine_id: string): AgentRecord
  /** Those of a state, by id. */
  inState(state: AgentRecord['heartbeat_state']): PageSource<AgentRecord>
  readonly all: PageSource<AgentRecord>
  readonly skip: Skip
}

export const declareAgents = (state: State, skip: Skip): AgentStore => {
  const agents = state.collection(agentCollection)
  const leases = state.collection(leaseCollection)
  return {
    state,
    agents,
    leases,
    batches: state.collection(batchCollection),
    goodLeases: (machine_id) => leases.ids('good', machine_id).flatMap((id) => leases.find(id) ?? []),
    leaseOf(upload_token_sha256) {
      const [id] = leases.ids('token', upload_token_sha256)
      return id === undefined ? undefined : leases.find(id)
    },
    find: (machine_id) => agents.find(machine_id),
    get(machine_id) {
      const found = agents.find(machine_id)
      if (found === undefined) throw captureErrors.capture_agent_not_found({ details: { machine_id } })
      return found
    },
    inState: (wanted) => collectionSource(agents, 'state', wanted),
    all: collectionSource(agents, 'all', group),
    skip,
  }
}

/** The oldest batch, where there are more than are kept. */
export const surplusBatch = ({ batches }: AgentStore): string | undefined =>
  batches.count('applied', group) > mostBatches ? batches.page({ index: 'applied', group, limit: 1 })[0] : undefined

/** The oldest leases of an agent, where it has more than are kept. */
export const surplusLeases = ({ leases }: AgentStore, machine_id: string): readonly string[] =>
  leases.ids('machine', machine_id).slice(0, -mostLeases)

/** As it is shown: without what opens anything. */
export const viewOf = (
  { leases, skip }: AgentStore,
  { heartbeat_token_sha256: _sha256, ...agent }: AgentRecord,
): CaptureAgent => ({
  ...agent,
  leases: leases.list({ index: 'machine', group: agent.machine_id, limit: mostLeases, skip }).map(({ view }) => view),
})
