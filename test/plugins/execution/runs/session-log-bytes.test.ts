import test from 'ava'
import { unsafeCast, type Stream } from '../../../../core/plugin.js'
import type { JournalEntry } from '../../../../plugins/execution/sessions/contract.js'
import { readEntries } from '../../../../plugins/execution/runs/session-log.js'

/** A journal of entries whose texts have these lengths. */
const journalOf = (sizes: readonly number[]): { journal: Stream<JournalEntry>; most: () => number } => {
  let read = 0
  const journal = unsafeCast<Stream<JournalEntry>>({
    length: () => sizes.length,
    read: (_owner: string, { after, limit }: { after: number; limit: number }) => {
      read += limit
      return sizes.slice(after, after + limit).map((size, at) => ({ seq: after + at + 1, entry: 'x'.repeat(size) }))
    },
  })
  return { journal, most: () => read }
}
const seqs = (sizes: readonly number[], range: { after?: number; limit?: number }): number[] =>
  readEntries(journalOf(sizes).journal, 's1', range).map(({ seq }) => seq)
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
  readEntries(journal, 's1', {})
  t.true(most() <= 64, 'no more is read than one part')
})
