import test from 'ava'
import { unsafeCast, type Caller, type Stream, type StreamEntry } from '../../../../../core/plugin.js'
import type { JournalEntry } from '../../../../../plugins/execution/sessions/contract.js'
import { readPage, sessionLog } from '../../../../../plugins/execution/runs/views/session-log.js'
import { newestOutputs, shownOutputs, viewRun } from '../../../../../plugins/execution/runs/views/shown-run.js'
import { runEvents } from '../../../../../plugins/execution/runs/views/run-events.js'
import { complete, openRunStore, playRun, runRecord, say, start } from '../../../../support/run-store.js'

/** A journal of entries whose texts have these lengths. */
const journalOf = (sizes: readonly number[]): { journal: Stream<JournalEntry>; most: () => number } => {
  let read = 0
  const journal = unsafeCast<Stream<JournalEntry>>({
    length: () => sizes.length,
    first: () => 1,
    read: (_owner: string, { after, limit }: { after: number; limit: number }) => {
      read += limit
      return sizes.slice(after, after + limit).map((size, at) => ({ seq: after + at + 1, entry: 'x'.repeat(size) }))
    },
  })
  return { journal, most: () => read }
}
const show = ({ seq, entry }: StreamEntry<JournalEntry>) => ({
  entry: { seq, run_id: '', timestamp_ms: 0, type: '', entry },
})
const seqs = (sizes: readonly number[], range: { after?: number; limit?: number }): number[] =>
  readPage(journalOf(sizes).journal, 's1', { ...range, show }).map(({ entry: { seq } }) => seq)
const small = Array.from({ length: 300 }, () => 10)
const large = Array.from({ length: 300 }, () => 300_000)

test('entries are the newest, or those after one, within the limit', (t) => {
  t.deepEqual(seqs(small, { limit: 3 }), [298, 299, 300])
  t.deepEqual(seqs(small, { after: 0, limit: 3 }), [1, 2, 3])
  t.deepEqual(seqs(small, { after: 298 }), [299, 300])
  t.deepEqual(seqs(small, { after: 400 }), [])
  t.is(seqs(small, {}).length, 300)
  t.is(seqs(small, { limit: 129 })[0], 172)
})

test('large entries are bounded by their text, and paging with the last sequence visits them all', (t) => {
  t.deepEqual(seqs(large, {}), [295, 296, 297, 298, 299, 300])
  t.deepEqual(seqs(large, { after: 10 }), [11, 12, 13, 14, 15, 16])
  t.deepEqual(seqs([10, 9_000_000, 10], { after: 1 }), [2])
  t.deepEqual(seqs([10, 10, 9_000_000], {}), [3])
  const seen: number[] = []
  for (let part = seqs(large, { after: 0 }); part.length > 0; part = seqs(large, { after: seen.at(-1) ?? 0 }))
    seen.push(...part)
  t.deepEqual(
    seen,
    large.map((_, at) => at + 1),
  )
  const { journal, most } = journalOf(large)
  readPage(journal, 's1', { show })
  t.true(most() <= 64, 'no more is read than one part')
})

const mostBytes = 2_097_152
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
const admin = unsafeCast<Caller>({ access: 'admin' })

test('sessions-28: a page of the journal keeps its bytes with all that it repeats, and paging visits every entry', async (t) => {
  const parts = await openRunStore(t, { known: ['s1'] })
  const { store, service } = parts
  for (let n = 0; n < 8; n += 1)
    await playRun(parts, runRecord(`r${n}`, 's1', 'queued'), start, say(`${n}${'é'.repeat(100_000)}`), complete)
  const page = (range: { after?: number }) =>
    sessionLog({ store, sessions: service }, service.get('s1'), { ...range, caller: admin })
  const seen: number[] = []
  for (;;) {
    const log = page({ after: seen.at(-1) ?? 0 })
    if (log.session.journal.length === 0) break
    t.true(bytesOf(log) < mostBytes + 10_000, `${bytesOf(log)} bytes`)
    t.is(log.run_events.length, log.session.journal.length)
    seen.push(...log.session.journal.map(({ seq }) => seq))
  }
  t.deepEqual(
    seen,
    Array.from({ length: store.journal.length('s1') }, (_, at) => at + 1),
  )
  const newest = page({})
  t.true(bytesOf(newest) < mostBytes + 10_000)
  t.is(newest.session.journal.at(-1)?.seq, seen.at(-1))
  t.is(newest.daemon_outputs.at(-1)?.content[0], '7')
})

test('sessions-6: the view of a session holds the newest outputs that fit, and says that there are older ones', async (t) => {
  const parts = await openRunStore(t, { known: ['s1', 's2', 's3'] })
  for (let n = 10; n < 40; n += 1)
    await playRun(parts, runRecord(`r${n}`, 's1', 'queued'), start, say(`${n}${'é'.repeat(50_000)}`), complete)
  const view = parts.service.view(parts.service.get('s1'), admin)
  t.true(bytesOf(view.outputs) <= mostBytes + 100)
  t.is(view.outputs_truncated, true)
  t.deepEqual(
    view.outputs.map(({ content }) => content.slice(0, 2)),
    Array.from({ length: 20 }, (_, at) => `${at + 20}`),
  )
  for (let n = 100; n < 201; n += 1)
    await playRun(parts, runRecord(`s${n}`, 's2', 'queued'), start, say(`${n}`), complete)
  const many = parts.service.view(parts.service.get('s2'), admin)
  t.deepEqual([many.outputs.length, many.outputs[0]?.content, many.outputs_truncated], [100, '101', true])
  const run = await playRun(parts, runRecord('s300', 's3', 'queued'), start, say('é'.repeat(2_000_000)), complete)
  t.is(shownOutputs(newestOutputs(parts.store, run)).outputs.length, 1, 'one at least')
})

test('runs-17: the view of a run and its events keep their bytes, and each output is an event', async (t) => {
  const parts = await openRunStore(t)
  const outputs = Array.from({ length: 30 }, (_, n) => say(`${n + 10}${'é'.repeat(50_000)}`))
  const run = await playRun(parts, runRecord('r1', 's1', 'queued'), start, ...outputs, complete)
  const view = viewRun(parts.store, run)
  t.deepEqual([view.outputs?.length, view.outputs?.at(-1)?.content.slice(0, 2)], [20, '39'])
  t.is(view.outputs_truncated, true)
  const events = runEvents(parts.store, run)
  t.is(events.filter(({ event }) => event.type === 'output').length, 30)
  t.true(events.every((event) => bytesOf(event) < mostBytes + 10_000))
})
