import type { BlobRef, RepairStep } from '../../../core/plugin.js'
import { oldestFirst, type DebugStore } from './store.js'

/**
 * Bytes that no record names: a kill came between the bytes and their record, or between the end of a record and that
 * of its bytes.
 */
export const debugRepair = (store: DebugStore): RepairStep<BlobRef> => ({
  id: 'debug.orphans',
  check: () => {
    const named = new Set([...oldestFirst(store)].flatMap(({ artifacts }) => artifacts.map(({ sha256 }) => sha256)))
    return [...store.blobs.refs()].filter(({ sha256 }) => !named.has(sha256))
  },
  fix: async (orphans) => {
    for (const ref of orphans) await store.blobs.remove(ref)
  },
})
