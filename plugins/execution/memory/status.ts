import { array, boolean, doc, integer, object, optional, string, timestamp } from '../../../core/plugin.js'
import type { StatusSection } from '../../operator/status/contract.js'
import type { RunMemoryPolicy } from './contract.js'
import type { Recorder } from './recording/recorder.js'
import type { SearchIndex } from './search/search-index.js'
import type { Sources } from './sources/sources.js'
import type { MemoryStore } from './recording/store.js'

interface StatusParts {
  readonly store: MemoryStore
  readonly recorder: Recorder
  readonly policy: RunMemoryPolicy
  readonly sources: Sources
  readonly index: SearchIndex
}

const RunMemorySection = object({
  enabled: boolean(),
  tracked_count: doc(integer(), 'Runs that are remembered.'),
  pending_count: doc(integer(), 'Ended runs that are not written yet.'),
  recorded_count: doc(integer(), 'Runs written since the start.'),
  write_error_count: integer(),
  last_recorded_at_ms: optional(timestamp()),
})
const SessionMemorySection = object({
  session_count: doc(integer(), 'Sessions that remember a run.'),
  indexed_count: doc(integer(), 'Documents in the search index; it is made by searches in more than a few.'),
  sources: doc(array(string()), 'What brings learnings and skills.'),
})

/** `run_memory` and `session_memory` of `/v1/status`. */
export const memorySections = ({ store, recorder, policy, sources, index }: StatusParts): readonly StatusSection[] => [
  {
    name: 'run_memory',
    schema: RunMemorySection,
    collect: () => {
      const { pending, recorded, failed, last_recorded_at_ms } = recorder.report
      const tracked_count = store.memories
        .groups('size')
        .reduce((sum, size) => sum + Number(size) * store.memories.count('size', size), 0)
      return {
        enabled: policy.enabled,
        tracked_count,
        pending_count: pending,
        recorded_count: recorded,
        write_error_count: failed,
        ...(last_recorded_at_ms !== undefined && { last_recorded_at_ms }),
      }
    },
  },
  {
    name: 'session_memory',
    schema: SessionMemorySection,
    collect: () => ({
      session_count: store.memories.count('oldest', 'all'),
      indexed_count: index.size,
      sources: sources.ids(),
    }),
  },
]
