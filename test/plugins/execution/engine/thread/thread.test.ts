import { getHeapStatistics } from 'node:v8'
import test from 'ava'
import { createHeap } from '../../../../../core/base/memory/heap.js'
import type { JournalEntry } from '../../../../../plugins/execution/sessions/contract.js'
import { foldEntry } from '../../../../../plugins/execution/engine/thread/fold.js'
import { beginThread, weightOf } from '../../../../../plugins/execution/engine/thread/thread.js'
import { unpaired } from '../../../../support/models.js'
import { unsafeCast } from '../../../../../core/base/schema.js'

test('a run that begins anew leaves no call without a result behind', (t) => {
  const thread = beginThread(0, () => [{ type: 'text', text: 'do it' }])
  const entries: JournalEntry[] = [
    { run_id: 'r1', at: 1, type: 'event', event: { type: 'accepted', content: 'do it' } },
    { run_id: 'r1', at: 1, type: 'event', event: { type: 'started' } },
    {
      run_id: 'r1',
      at: 2,
      type: 'message',
      message: { role: 'assistant', content: [{ type: 'tool_call', id: 'c1', name: 'bash', input: {} }] },
    },
    {
      run_id: 'r1',
      at: 2,
      type: 'event',
      event: {
        type: 'waiting_for_approval',
        request_ids: ['a'],
        requests: [{ id: 'a', tool_call_id: 'c1', tool_name: 'bash', input: {}, scope: 'session', reason: null }],
      },
    },
    { run_id: 'r1', at: 3, type: 'recovery', verdict: 'requeued', reason: 'several_active_runs', generation: 2 },
    { run_id: 'r1', at: 4, type: 'event', event: { type: 'started' } },
  ]
  entries.forEach((entry, at) => foldEntry(thread, at + 1, entry))
  t.deepEqual(unpaired(unsafeCast({ messages: thread.messages })), [])
  t.deepEqual(
    thread.messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'user'],
  )
})

test('tools-35: an outcome that an earlier version wrote without an output is told as null', (t) => {
  const thread = beginThread(0, () => [{ type: 'text', text: 'do it' }])
  const calls = { type: 'tool_call' as const, id: 'c1', name: 'bash', input: {} }
  const outcome = { type: 'outcome', tool_call_id: 'c1', tool_name: 'bash', state: 'done' }
  const entries = [
    { type: 'event', event: { type: 'started' } },
    { type: 'message', message: { role: 'assistant', content: [calls] } },
    outcome,
  ]
  for (const [at, entry] of entries.entries()) foldEntry(thread, at + 1, unsafeCast({ run_id: 'r1', at: 1, ...entry }))
  const result = { type: 'tool_result', tool_call_id: 'c1', name: 'bash', output: null, is_error: false }
  t.deepEqual(unsafeCast(thread.messages.at(-1)), { role: 'tool', content: [result] })
})

test('of a run whose acceptance fell nothing is shown, and the next one is whole', (t) => {
  const thread = beginThread(0, () => undefined)
  foldEntry(thread, 5, { type: 'event', run_id: 'r1', at: 1, event: { type: 'started' } })
  foldEntry(thread, 6, {
    type: 'message',
    run_id: 'r1',
    at: 1,
    message: { role: 'assistant', content: [{ type: 'text', text: 'half' }] },
  })
  foldEntry(thread, 7, { type: 'event', run_id: 'r1', at: 1, event: { type: 'completed' } })
  t.deepEqual([thread.messages, thread.progress, thread.starts], [[], undefined, []])
  foldEntry(thread, 8, { type: 'event', run_id: 'r2', at: 1, event: { type: 'accepted', content: 'whole' } })
  foldEntry(thread, 9, { type: 'event', run_id: 'r2', at: 1, event: { type: 'started' } })
  t.deepEqual(thread.messages, [{ role: 'user', content: [{ type: 'text', text: 'whole' }] }])
})

test('a thread of short messages weighs about what it takes in memory', (t) => {
  const heap = createHeap()
  const used = (): number => {
    heap.collect()
    return getHeapStatistics().used_heap_size
  }
  const before = used()
  const thread = beginThread(0, () => [{ type: 'text', text: 'hello' }])
  const runs = 20_000
  for (let n = 0; n < runs; n += 1) {
    const run_id = `r${n}`
    foldEntry(thread, n * 2 + 1, { run_id, at: 1, type: 'event', event: { type: 'started' } })
    const content = [{ type: 'text' as const, text: `You said: hello ${n}` }]
    foldEntry(thread, n * 2 + 2, { run_id, at: 1, type: 'message', message: { role: 'assistant', content } })
  }
  const taken = used() - before
  t.is(thread.messages.length, runs * 2)
  const ratio = weightOf(thread) / taken
  t.true(ratio > 0.7 && ratio < 1.5, `it weighs ${ratio} of what it takes`)
})
