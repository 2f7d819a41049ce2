import test from 'ava'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { locationOf, placesIn, placesOf, recordRow } from '../../../../core/state/pages/record-codec.js'
import { note, notesSpec, openNotes, tempRoot } from '../../../support/notes.js'

const location = { page: 3, offset: 100, length: 80 }

test('a row says where a record stands on its page and in each index', (t) => {
  for (const record of [note(1), note(2, { done: true }), note(3, { at: 'n3' })]) {
    const line = { id: record.id, r: record }
    const row = recordRow(notesSpec, line, location)
    t.deepEqual(locationOf(row), location)
    t.deepEqual(placesOf(row), placesIn(notesSpec, line))
    t.is(row[4], record.done ? 1 : 0)
  }
})

test('a row keeps neither a group that is left out nor a sort key that is the id', (t) => {
  const row = recordRow(notesSpec, { id: 'n1', r: note(1, { done: true, at: 'n1' }) }, location)
  t.deepEqual(row, ['n1', 3, 100, 80, 1, 'ann', null, null, null])
})

test('the index of pages on which nothing counts any more is made again once, not at every start', async (t) => {
  const root = tempRoot(t)
  const first = await openNotes(root)
  await first.state.commit((tx) => tx.insert(first.notes, note(1)))
  await first.checkpoint()
  await first.state.commit((tx) => tx.remove(first.notes, 'n1', 'test'))
  await first.close()
  const folder = join(root, 'data/notes')
  const [index] = readdirSync(folder).filter((name) => name.startsWith('index'))
  rmSync(join(folder, index ?? ''))
  const rebuilt: number[] = []
  for (let start = 0; start < 2; start += 1) {
    const opened = await openNotes(root)
    rebuilt.push(opened.report.rebuilt.length)
    await opened.checkpoint()
    await opened.close()
  }
  t.deepEqual(rebuilt, [1, 0])
})
