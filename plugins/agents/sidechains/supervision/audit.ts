/**
 * What became of agents: rings of fixed size, in which the oldest event falls when the newest comes. What was started
 * is not pushed out by starts that are refused.
 */
import {
  beginningOf,
  array,
  boolean,
  createRings,
  doc,
  enums,
  integer,
  named,
  object,
  optional,
  ringIndex,
  string,
  timeKey,
  timestamp,
  type Collection,
  type CollectionSpec,
  type Infer,
  type Log,
  type PageSource,
  type State,
  type Tx,
  messageOf,
} from '../../../../core/plugin.js'
import { agentRetentions } from '../../../execution/sessions/contract.js'
import { permissionModes } from '../../../execution/tools/contract.js'

export const agentAuditEvents = [
  'agent_started',
  'agent_start_refused',
  'agent_nickname_set',
  'agent_nickname_removed',
  'agent_closed',
  'clarification_asked',
  'clarification_settled',
] as const

/** What a child can have less of than its parent. */
export const narrowable = ['permission_mode', 'tool_surface', 'capability_scope', 'credential_scope', 'cwd'] as const

const ofEvent = {
  event: enums(agentAuditEvents),
  agent_id: doc(string(), 'The agent that it happened to; of a refused start the one that would have been its parent.'),
  parent_agent_id: optional(string()),
  session_id: doc(string(), 'That of the agent.'),
  run_id: optional(doc(string(), 'Of starts the run that asked for it, of questions the one that waits or waited.')),
  spawn_request_id: optional(string()),
  profile: optional(string()),
  permission_mode: optional(enums(permissionModes)),
  retention: optional(enums(agentRetentions)),
  narrowed: optional(doc(array(enums(narrowable)), 'Of a started one what is less than that of its parent.')),
  nickname: optional(string()),
  code: optional(doc(string(), 'With which a start was refused.')),
  reason: optional(doc(string(), 'Why, at most 500 characters.')),
  request_id: optional(doc(string(), 'Of the question.')),
  declined: optional(doc(boolean(), 'True where a question was not answered.')),
  decided_by: optional(doc(string(), 'What settled a question.')),
}
const Draft = object(ofEvent)
/** An event that is to be recorded. */
export type AgentAuditDraft = Infer<typeof Draft>

export const AgentAuditRecord = named(
  'AgentAuditRecord',
  object({ audit_id: string(), recorded_at_ms: timestamp(), ...ofEvent }),
)
export type AgentAuditRecord = Infer<typeof AgentAuditRecord>

/** Events of each ring. */
export const agentRings = { lasting: 20_000, refused: 2_000 } as const
type Ring = keyof typeof agentRings

const Entry = object({ ring: enums(['lasting', 'refused']), seq: integer({ min: 1 }), record: AgentAuditRecord })
/** An event in its ring. */
export type AgentAuditEntry = Infer<typeof Entry>

const seqText = (seq: number): string => String(seq).padStart(12, '0')
const idOf = (ring: Ring, seq: number): string => `${ring}-${seqText(seq)}`
const recordedKey = ({ ring, seq, record }: AgentAuditEntry): string =>
  `${timeKey(record.recorded_at_ms)} ${seqText(seq)} ${ring}`

const auditCollection: CollectionSpec<AgentAuditEntry> = {
  name: 'agent_audit',
  version: 1,
  id: ({ ring, seq }) => idOf(ring, seq),
  indexes: {
    all: { group: () => 'all', sort: recordedKey },
    agent: { group: ({ record }) => record.agent_id, sort: recordedKey },
    parent: { group: ({ record }) => record.parent_agent_id, sort: recordedKey },
    event: { group: ({ record }) => record.event, sort: recordedKey },
    ...ringIndex,
  },
  settled: () => true,
  removed: 'forgotten',
  bounded: { agent_audit: 'its rings' },
  schema: Entry,
}

export interface AgentAuditStore {
  readonly collection: Collection<AgentAuditEntry>
  /** Records an event in the commit of what it tells. */
  note(tx: Tx, draft: AgentAuditDraft): void
  /** Records what changed nothing, in a commit of its own. Never rejects: what could not be recorded is counted. */
  tell(draft: AgentAuditDraft): Promise<void>
  /** Those of an agent and of agents that it started or wanted to start. */
  of(agent_id: string): PageSource<AgentAuditEntry>
  /** Events that could not be recorded since the start, and why the last one could not. */
  readonly failures: { readonly count: number; readonly last?: string }
}

/** Characters of a text of somebody else. */
const mostReason = 500
const cut = (draft: AgentAuditDraft): AgentAuditDraft =>
  draft.reason === undefined ? draft : { ...draft, reason: beginningOf(draft.reason, mostReason) }

export const declareAgentAudit = (state: State, log: Log): AgentAuditStore => {
  const collection = state.collection(auditCollection)
  let failures: AgentAuditStore['failures'] = { count: 0 }
  /** Storage that takes nothing is told once, not for each start that it refuses. */
  let isRecording = true
  const rings = createRings<Ring, AgentAuditEntry>(collection, agentRings)
  const note = (tx: Tx, draft: AgentAuditDraft): void => {
    const ring = draft.event === 'agent_start_refused' ? 'refused' : 'lasting'
    rings.add(tx, ring, (seq) => {
      const record = { audit_id: idOf(ring, seq), recorded_at_ms: tx.now, ...cut(draft) }
      return { ring, seq, record }
    })
  }
  return {
    collection,
    note,
    async tell(draft) {
      try {
        await state.commit((tx) => note(tx, draft))
        isRecording = true
      } catch (error) {
        failures = { count: failures.count + 1, last: messageOf(error) }
        if (isRecording) log.warn('what becomes of agents cannot be recorded', { event: draft.event, error })
        isRecording = false
      }
    },
    of: (agent_id) => bothOf(collection, agent_id),
    get failures() {
      return failures
    },
  }
}

const groups = ['agent', 'parent'] as const

/** Nothing happens to an agent that is its own parent, so no event is in both groups. */
const bothOf = (collection: Collection<AgentAuditEntry>, group: string): PageSource<AgentAuditEntry> => ({
  count: () => groups.reduce((sum, index) => sum + collection.count(index, group), 0),
  key: recordedKey,
  list({ limit, order, beyond, skip }) {
    const range = { limit, order, skip, ...(beyond !== undefined && { beyond }) }
    const found = groups.flatMap((index) => collection.list({ index, group, ...range }))
    const sorted = found.toSorted((a, b) => (recordedKey(a) < recordedKey(b) ? -1 : 1))
    return (order === 'asc' ? sorted : sorted.toReversed()).slice(0, limit)
  },
})
