import test from 'ava'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listState, showEntries, showOwners, showRecords } from '../../../../core/state/inspect/show.js'
import { disk, holdRoot, keptRoot } from '../../../support/kept-root.js'
import { note } from '../../../support/notes.js'

test('what is shown is what a daemon would read, from pages, tombstones and the log behind them', async (t) => {
  const root = await keptRoot(t)
  const place = { root, disk }
  const held = await holdRoot(root)
  const { value: all, faults } = showRecords(place, 'notes')
  t.deepEqual(faults, [])
  t.deepEqual([...(all?.keys() ?? [])].toSorted(), [...held.notes.ids('by_owner', 'ann')].toSorted())
  for (const [id, record] of all ?? []) t.deepEqual(JSON.parse(JSON.stringify(held.notes.find(id))), record)
  t.deepEqual(
    showEntries(place, 'journal', 'bob').value,
    held.journal.read('bob', { after: 0, limit: 1000 }).map(({ entry }) => entry),
  )
  t.deepEqual(showOwners(place, 'journal').value, { ann: held.journal.length('ann'), bob: held.journal.length('bob') })
  t.deepEqual(listState(place).value, {
    collections: { notes: { records: 52, buried: 2 }, people: { records: 1, buried: 0 } },
    streams: { journal: { owners: 2, entries: 60 } },
  })
  await held.end()
})

test('a single record is shown as its newest line; what is deleted or unknown is not there', async (t) => {
  const place = { root: await keptRoot(t), disk }
  t.deepEqual(
    [...(showRecords(place, 'notes', 'n40').value?.values() ?? [])].map(({ id }) => id),
    [note(40).id],
  )
  t.is(showRecords(place, 'notes', 'n7').value?.size, 0)
  t.is(showRecords(place, 'notes', 'n9').value?.size, 0)
  t.is(showRecords(place, 'nothing').value, undefined)
  t.is(showEntries(place, 'nothing', 'ann').value, undefined)
  t.deepEqual(showEntries(place, 'journal', 'nobody').value, [])
})

test('what can still be read is shown from a damaged root, and the damage is named', async (t) => {
  const root = await keptRoot(t)
  const folder = join(root, 'data/notes')
  const file = join(folder, readdirSync(folder).find((name) => name.startsWith('page')) ?? '')
  const bytes = readFileSync(file)
  bytes[bytes.indexOf('"text 3 ')] = 0
  writeFileSync(file, bytes)
  const { value, faults } = showRecords({ root, disk }, 'notes')
  t.is(value?.size, 51)
  t.is(faults.length, 1)
  t.is(faults[0]?.file, file)
})
