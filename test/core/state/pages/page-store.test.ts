import test from 'ava'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { note, openNotes, tempRoot } from '../../../support/notes.js'
import { createWrappedDisk, diskError } from '../../../../core/testing/wrapped-disk.js'

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

test('an index that cannot be made again is said so and nothing is served; with room it is made at the next start', async (t) => {
  const root = tempRoot(t)
  const first = await openNotes(root)
  await first.state.commit((tx) => tx.insert(first.notes, note(1, { done: true })))
  await first.close()
  const folder = join(root, 'data/notes')
  for (const name of readdirSync(folder).filter((each) => each.startsWith('index'))) rmSync(join(folder, name))
  const { disk } = createWrappedDisk((call, path) => {
    if (call === 'create' && path.startsWith(folder)) throw diskError('ENOSPC')
  })
  const full = await openNotes(root, { disk })
  t.regex(full.report.damage?.rule ?? '', /its index cannot be made again: ENOSPC/u)
  t.is(full.state.health.mode, 'read_only')
  t.false(full.state.health.loaded)
  await full.close()
  const again = await openNotes(root)
  t.is(again.report.damage, undefined)
  t.deepEqual(again.notes.find('n1'), note(1, { done: true }))
  await again.close()
})
