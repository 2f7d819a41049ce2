/** Run memory on disk: one record a session, replaced whole, so that what is forgotten leaves no tombstone. */
import {
  array,
  doc,
  enums,
  named,
  object,
  optional,
  string,
  timeKey,
  timestamp,
  type Collection,
  type CollectionSpec,
  type IndexSpec,
  type Infer,
  type State,
} from '../../../../core/plugin.js'

/** A terminal run as its session remembers it. Texts are redacted and short (memory-15 and memory-18). */
export const RunMemory = named(
  'RunMemory',
  object({
    run_id: doc(string(), 'Id of the run.'),
    recorded_at_ms: doc(timestamp(), 'When the run ended.'),
    status: enums(['completed', 'failed', 'interrupted', 'cancelled']),
    request_preview: optional(string()),
    outcome_preview: optional(string()),
    artifact_ids: array(string()),
    failure_markers: array(string()),
    summary: doc(string(), 'Request, result and status, at most 480 characters.'),
  }),
)
/** The value form of `RunMemory`. */
export type RunMemory = Infer<typeof RunMemory>

/**
 * What a session remembers, oldest first. `scope_keys` are the scopes beside the session under which others may find
 * it.
 */
export type MemoryRecord = {
  readonly session_id: string
  readonly scope_keys?: readonly string[]
  readonly memories: readonly RunMemory[]
}

/**
 * Up to where runs have been remembered: every run that was accepted before
 * `after` and is not in `open` is remembered or was not to be.
 */
export type MarkRecord = { readonly id: string; readonly after: string; readonly open: readonly string[] }
export const markId = 'runs'

const first = ({ memories }: MemoryRecord): string | undefined =>
  memories.length === 0 ? undefined : timeKey(memories[0]?.recorded_at_ms ?? 0)

/** Scopes of a session under which its runs can be found by others, at most. */
const sharedScopes = 4
/**
 * The index in which a record stands under the scope at a place of its `scope_keys`: an index has one group for each
 * record.
 */
export const sharedIndexes: readonly string[] = Array.from({ length: sharedScopes }, (_, place) => `shared_${place}`)
const shared = Object.fromEntries(
  sharedIndexes.map((name, place): [string, IndexSpec<MemoryRecord>] => [
    name,
    {
      group: ({ scope_keys, memories }) => (memories.length === 0 ? undefined : scope_keys?.[place]),
      sort: ({ memories }) => timeKey(memories.at(-1)?.recorded_at_ms ?? 0),
    },
  ]),
)

const memoryCollection: CollectionSpec<MemoryRecord> = {
  name: 'run_memories',
  version: 1,
  id: ({ session_id }) => session_id,
  indexes: {
    oldest: {
      group: (record) => (first(record) === undefined ? undefined : 'all'),
      sort: (record) => first(record) ?? '',
    },
    ...shared,
    size: { group: ({ memories }) => (memories.length === 0 ? undefined : String(memories.length)) },
  },
  settled: () => true,
  bounded: { run_memories: 'retention_ms and max_tracked_per_session in config/memory.toml' },
  schema: object({ session_id: string(), scope_keys: optional(array(string())), memories: array(RunMemory) }),
  references: ({ session_id }) => [{ collection: 'sessions', id: session_id }],
}

const markCollection: CollectionSpec<MarkRecord> = {
  name: 'run_memory_marks',
  version: 1,
  id: ({ id }) => id,
  indexes: {},
  schema: object({ id: string(), after: string(), open: array(string()) }),
}

export interface MemoryStore {
  readonly state: State
  readonly memories: Collection<MemoryRecord>
  readonly marks: Collection<MarkRecord>
}

export const declareStore = (state: State): MemoryStore => ({
  state,
  memories: state.collection(memoryCollection),
  marks: state.collection(markCollection),
})
