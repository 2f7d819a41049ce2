import test from 'ava'
import { createClock } from '../../../../../core/base/clock.js'
import { unsafeCast } from '../../../../../core/base/schema.js'
import type { RunRecord, Runs, TerminalRun } from '../../../../../plugins/execution/runs/contract.js'
import { catchUp } from '../../../../../plugins/execution/memory/recording/catch-up.js'
import type { RunMemory, RunMemoryPolicy } from '../../../../../plugins/execution/memory/contract.js'
import type { MarkRecord, MemoryRecord, MemoryStore } from '../../../../../plugins/execution/memory/recording/store.js'

const policy: RunMemoryPolicy = {
  enabled: true,
  retention_ms: 1000,
  max_tracked_per_session: 32,
  max_prompt_entries: 3,
  redact_pii: true,
  search_visibility: 'session_only',
}
const clock = {
  ...createClock(),
  now: () => 100_000,
  sleep: (_ms: number, signal?: AbortSignal) =>
    new Promise<boolean>((resolve) => setImmediate(() => resolve(signal?.aborted !== true))),
}
const idOf = (n: number): string => `run_${String(n).padStart(6, '0')}`

interface Case {
  readonly stored: number
  readonly mark?: Omit<MarkRecord, 'id'>
  readonly remembered?: readonly number[]
  readonly open?: readonly number[]
  readonly old?: readonly number[]
}

/** What is taken from runs 1 to `stored`, and how many runs were read for it. */
const play = async ({
  stored,
  mark,
  remembered = [],
  open = [],
  old = [],
}: Case): Promise<{ taken: string[]; read: number; caughtUp: boolean }> => {
  let read = 0
  const runOf = (n: number): RunRecord => {
    read += 1
    return unsafeCast<RunRecord>({
      run_id: idOf(n),
      session_id: 's1',
      status: open.includes(n) ? 'running' : 'completed',
      ...(!open.includes(n) && { finished_at_ms: old.includes(n) ? 99_000 : 99_500 }),
    })
  }
  const runs = unsafeCast<Runs>({
    find: (run_id: string) => runOf(Number(run_id.slice(4))),
    newest: ({ limit, before }: { limit: number; before?: string }) => {
      const last = before === undefined ? stored : Number(before.slice(4)) - 1
      return Array.from({ length: Math.min(limit, last) }, (_, at) => runOf(last - at))
    },
  })
  const record: MemoryRecord = {
    session_id: 's1',
    memories: remembered.map((n) => unsafeCast<RunMemory>({ run_id: idOf(n) })),
  }
  const store = unsafeCast<MemoryStore>({
    marks: { find: () => (mark === undefined ? undefined : { id: 'runs', ...mark }) },
    memories: { find: () => record },
  })
  const taken: string[] = []
  let caughtUp = false
  await catchUp({
    store,
    runs,
    clock,
    policy,
    signal: new AbortController().signal,
    recorder: {
      take: (run: TerminalRun) => void taken.push(run.run_id),
      caughtUp: () => {
        caughtUp = true
      },
    },
  })
  return { taken: taken.toSorted(), read, caughtUp }
}

test('a start looks at the runs that its mark names as open, and at those after it: not at all that are stored', async (t) => {
  const { taken, read, caughtUp } = await play({
    stored: 100_000,
    mark: { after: idOf(99_990), open: [idOf(7), idOf(8), idOf(9)] },
    open: [8, 99_995],
    remembered: [9, 99_999],
  })
  t.deepEqual(taken, [7, 99_991, 99_992, 99_993, 99_994, 99_996, 99_997, 99_998, 100_000].map(idOf).toSorted())
  t.true(read < 300, `${read} runs were read`)
  t.true(caughtUp)
})

test('without a mark it looks back over ten thousand runs, and takes none that is too old', async (t) => {
  const { taken, read } = await play({ stored: 100_000, old: [100_000, 99_999] })
  t.deepEqual([taken.length, read], [9_998, 10_000])
})
