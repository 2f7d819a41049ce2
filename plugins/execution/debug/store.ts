import {
  createCache,
  timeKey,
  type BlobRef,
  type Blobs,
  type Cache,
  type Collection,
  type CollectionSpec,
  type State,
} from '../../../core/plugin.js'
import type { DebugArtifactView, DebugLevel } from './contract.js'

/** What is kept of one run. `made` counts every attempt and call that was seen, so that no id is given twice. */
export type DebugRecord = {
  readonly run_id: string
  readonly session_id: string
  readonly level: DebugLevel
  readonly updated_at_ms: number
  /** On disk. */
  readonly bytes: number
  readonly made: number
  readonly dropped: number
  readonly artifacts: readonly DebugArtifactView[]
}

const ageKey = ({ updated_at_ms, run_id }: DebugRecord): string => `${timeKey(updated_at_ms)}:${run_id}`

const setting = 'ttl_ms and max_store_bytes in config/debug.toml'

const debugRuns: CollectionSpec<DebugRecord> = {
  name: 'debug_runs',
  version: 1,
  id: (record) => record.run_id,
  indexes: {
    oldest: {
      group: ({ artifacts }) => (artifacts.length > 0 ? 'all' : 'empty'),
      sort: ageKey,
    },
  },
  settled: () => true,
  removed: 'forgotten',
  follows: { kind: 'runs', index: 'oldest', at: ({ updated_at_ms }) => updated_at_ms },
  bounded: { debug: setting, debug_evidence: setting },
  references: (record) => [{ collection: 'runs', id: record.run_id }],
  blobs: ({ artifacts }) => artifacts.map((artifact) => ({ area: 'debug', ...refOf(artifact) })),
}

export interface DebugStore {
  readonly state: State
  readonly runs: Collection<DebugRecord>
  readonly blobs: Blobs
  /** Bytes of evidence on disk: counted once, then kept up with each change. */
  readonly held: { bytes(): number; add(bytes: number): void }
  /** Ended runs whose evidence was dropped, the latest of this life: a piece of it that comes late is not kept. */
  readonly dropped: Cache<true>
}

/** So many runs later no piece is on its way any more; one that is all the same is kept for its time to live. */
const mostDropped = 4096
export const declareStore = (state: State): DebugStore => {
  const runs = state.collection(debugRuns)
  let total: number | undefined
  return {
    state,
    runs,
    blobs: state.blobs('debug'),
    held: {
      bytes: () => (total ??= bytesOf(runs)),
      add: (more) => {
        if (total !== undefined) total += more
      },
    },
    dropped: createCache(mostDropped),
  }
}

/** Where the bytes of an artifact are. */
export const refOf = ({ sha256, bytes }: DebugArtifactView): BlobRef => ({ sha256, bytes })

/** `all` are runs of which something is kept; of the `empty` ones nothing is any more, or nothing could be. */
export interface Ages {
  readonly group: 'all' | 'empty'
  readonly newest?: boolean
}
/** By the time of their last evidence, the oldest first unless `newest`; read one after the other, as they are used. */
export function* byAge({ runs }: Pick<DebugStore, 'runs'>, { group, newest = false }: Ages): Iterable<DebugRecord> {
  const order = newest ? 'desc' : 'asc'
  for (let last: DebugRecord | undefined; ;) {
    const beyond = last === undefined ? undefined : ageKey(last)
    const ids = runs.page({ index: 'oldest', group, order, limit: step, ...(beyond !== undefined && { beyond }) })
    for (const id of ids) {
      const record = runs.find(id)
      if (record !== undefined) yield (last = record)
    }
    if (ids.length < step) return
  }
}

/** Records whose ids are looked up at once. */
const step = 64

const bytesOf = (runs: DebugStore['runs']): number => {
  let sum = 0
  for (const { bytes } of byAge({ runs }, { group: 'all' })) sum += bytes
  return sum
}
/** Every run of which something is kept, the oldest evidence first. */
export const oldestFirst = (store: DebugStore): Iterable<DebugRecord> => byAge(store, { group: 'all' })
