/** What is kept of drafts and of the messages that ask people, so that a restart goes on with them. */
import {
  array,
  digest,
  enums,
  integer,
  object,
  optional,
  string,
  timestamp,
  type Collection,
  type Infer,
  type State,
} from '../../../core/plugin.js'
import { connectorKinds, type ConnectorKindName } from '../registry/contract.js'

const plugin = () => enums(connectorKinds)

const DraftRecord = object({
  draft_id: string(),
  run_id: string(),
  plugin: plugin(),
  address: string(),
  /** The message at the platform. */
  message_id: string(),
  /** The delivery whose message it is from then on. */
  taken_by: optional(string()),
})
/** A message that shows an answer while it is made. */
export type DraftRecord = Infer<typeof DraftRecord>

/** What a button does: decides so, or chooses the option of this id. */
const Button = object({ token: string(), option: string() })

const AskRecord = object({
  ask_id: string(),
  plugin: plugin(),
  connector: string(),
  address: string(),
  run_id: string(),
  request_id: string(),
  subject: enums(['approval', 'question']),
  /** Journal sequence of what the run waits with. */
  waiting: integer(),
  /** Digest of what is shown: nothing else is decided on. */
  digest: string(),
  /** Whether it can be decided on here. */
  decidable: optional(enums(['yes'])),
  buttons: array(Button),
  /** Absent until it was sent. */
  message_id: optional(string()),
  /** `closing`: it was decided on, and its message does not say so yet. */
  status: enums(['open', 'closing', 'closed']),
  /** What became of the request, as a sentence. */
  outcome: optional(string()),
  created_at_ms: timestamp(),
})
/** A message that asks people for a decision, for one request of a run. */
export type AskRecord = Infer<typeof AskRecord>

/** Where a draft is looked for by the delivery of its run. */
export const draftPlace = (of: Pick<DraftRecord, 'run_id' | 'plugin' | 'address'>): string =>
  digest([of.run_id, of.plugin, of.address])

/** A message at a platform, whatever its platform calls it. */
export const messagePlace = (kind: ConnectorKindName, connector: string, message_id: string): string =>
  digest([kind, connector, message_id])

export interface LiveStore {
  readonly state: State
  readonly drafts: Collection<DraftRecord>
  readonly asks: Collection<AskRecord>
}

export const declareStore = (state: State): LiveStore => ({
  state,
  drafts: state.collection<DraftRecord>({
    name: 'live_drafts',
    version: 1,
    id: ({ draft_id }) => draft_id,
    schema: DraftRecord,
    removed: 'forgotten',
    indexes: {
      all: { group: () => 'all' },
      run: { group: ({ run_id }) => run_id },
      free: { group: (draft) => (draft.taken_by === undefined ? draftPlace(draft) : undefined) },
      taken: { group: ({ taken_by }) => taken_by },
    },
  }),
  asks: state.collection<AskRecord>({
    name: 'live_asks',
    version: 1,
    id: ({ ask_id }) => ask_id,
    schema: AskRecord,
    removed: 'forgotten',
    settled: ({ status }) => status === 'closed',
    indexes: {
      run: { group: ({ run_id }) => run_id },
      status: { group: ({ status }) => status },
      message: {
        group: (ask) =>
          ask.message_id === undefined ? undefined : messagePlace(ask.plugin, ask.connector, ask.message_id),
      },
    },
  }),
})
