import test from 'ava'
import { join } from 'node:path'
import { tableIdentity } from '../../../../../core/state/format/identity.js'
import { indexName, layout } from '../../../../../core/state/format/layout.js'
import { readManifest } from '../../../../../core/state/format/manifest.js'
import { createFinder, createTableRoom, openTables } from '../../../../../core/state/inspect/survey/lookup.js'
import { TableFile } from '../../../../../core/state/tables/table-file.js'
import { disk, holdRoot, writeNotes } from '../../../../support/kept-root.js'
import { tempRoot } from '../../../../support/notes.js'

test('of all tables one leaf is kept, which ids that follow each other are found in', async (t) => {
  const root = tempRoot(t)
  const held = await holdRoot(root)
  for (const from of [10, 30, 50]) {
    await writeNotes(held, from, 20)
    await held.checkpoint()
  }
  await held.die()
  const read = readManifest(disk, layout(root).manifest)
  if (!read.ok || read.manifest === undefined) return t.fail()
  const { root: of, collections } = read.manifest
  const room = createTableRoom()
  const tables = openTables(
    {
      disk,
      room,
      path: (no) => join(layout(root).data, 'notes', indexName(no)),
      identity: (no) => tableIdentity({ of: 'notes', root: of }, no),
    },
    collections['notes']?.tables ?? [],
  )
  let leaves = 0
  for (const file of tables.files) {
    const leafOf = (...of: Parameters<typeof file.leafOf>): ReturnType<typeof file.leafOf> => {
      const rows = TableFile.prototype.leafOf.apply(file, of)
      if (rows !== undefined) leaves += 1
      return rows
    }
    Object.assign(file, { leafOf })
  }
  const find = createFinder(tables)
  const leavesFor = (...ids: string[]): number => {
    leaves = 0
    t.deepEqual(
      ids.map((id) => find(id)?.[0]),
      ids,
    )
    return leaves
  }
  t.is(tables.files.length, 3)
  t.is(leavesFor('n50', 'n51', 'n69', 'n60'), 1)
  t.is(leavesFor('n10', 'n11', 'n29'), 1)
  t.is(leavesFor('n50'), 1)
  t.is(find('n70'), undefined)
  room.files.shutAll()
})
