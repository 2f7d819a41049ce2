import test from 'ava'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { note, openNotes, tempRoot } from '../../../support/notes.js'

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
