/** Sessions under one scope may be very many: what looks at some of them reads so many from the index, not all. */
import test from 'ava'
import { createClock } from '../../../../../core/base/clock.js'
import { createCollection } from '../../../../../core/state/memory/collection.js'
import { RunMemoryPolicy } from '../../../../../plugins/execution/memory/recording/policy.js'
import { forget } from '../../../../../plugins/execution/memory/recording/retention.js'
import { declareStore, type MemoryRecord } from '../../../../../plugins/execution/memory/recording/store.js'
import { createSharedRuns } from '../../../../../plugins/execution/memory/search/shared-runs.js'
import { shelf } from '../../../../support/shelf.js'
import { parse } from '../../../../../core/base/parse.js'

const clock = createClock()
const now = clock.now()
const policyOf = (more: object): RunMemoryPolicy => {
  const parsed = parse(RunMemoryPolicy, more)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed))
  return parsed.value
}

/** Forty sessions of one persona, each with a run, the last one newest; `limits` is what was asked of indexes. */
const openStore = () => {
  const records = Array.from({ length: 40 }, (_, n): MemoryRecord => ({
    session_id: `s${n}`,
    scope_keys: ['persona:p'],
    memories: [
      {
        run_id: `run_${n}`,
        recorded_at_ms: now - 1000 + n,
        status: 'completed',
        artifact_ids: [],
        failure_markers: [],
        summary: 'Done.',
      },
    ],
  }))
  const limits: number[] = []
  const collection = (spec: any): any => {
    const placed = new Map(spec.name === 'run_memories' ? records.map((record) => [record.session_id, record]) : [])
    const made = createCollection<any>(spec, shelf<any>(spec, placed))
    const page = made.page.bind(made)
    return Object.assign(made, {
      page: (query: any) => {
        limits.push(query.limit)
        return page(query)
      },
    })
  }
  const state: any = { collection, commit: () => Promise.resolve(0) }
  return { store: declareStore(state), limits }
}

test('runs of others under a scope are found newest first, without a list of all', async (t) => {
  const { store, limits } = openStore()
  const shared = createSharedRuns({ store, clock, policy: policyOf({}) })
  const found = await shared.documents(['persona:p'], 's39')
  t.deepEqual(
    found.map((document) => document.show().source_id),
    Array.from({ length: 39 }, (_, n) => `run_${38 - n}`),
  )
  t.true(limits.length > 0 && limits.every(Number.isFinite), String(limits))
})

test('what remembers too much is looked for a few at a time', async (t) => {
  const { store, limits } = openStore()
  const policy = { ...policyOf({}), max_tracked_per_session: 0 }
  t.is(await forget({ store, policy, now, signal: AbortSignal.abort() }), 0)
  t.true(limits.length > 1 && limits.every((limit) => limit <= 16), String(limits))
})
