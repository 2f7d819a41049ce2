/** How many files of pages are open at a time. */
import test from 'ava'
import type { Disk, DiskFile } from '../../../../core/state/disk/disk.js'
import { OpenPages, type OpenPage } from '../../../../core/state/pages/open-pages.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { note, openNotes, tempRoot } from '../../../support/notes.js'

/** The real disk, with the paths of the pages that are open for reading. */
const watched = () => {
  const disk = createDisk()
  const open: string[] = []
  const opened: string[] = []
  const openSync = (path: string): DiskFile => {
    const file = disk.openSync(path)
    if (!path.includes('/page-')) return file
    open.push(path)
    opened.push(path)
    const close = (): Promise<void> => {
      open.splice(open.indexOf(path), 1)
      return file.close()
    }
    return { ...file, close }
  }
  const seam: Disk = { ...disk, openSync }
  return { disk: seam, open, opened }
}

test('the pages of all collections and streams of a root share one bound of open files', async (t) => {
  const root = tempRoot(t)
  const { disk, open, opened } = watched()
  const tuning = { pageBytes: 200, openPages: 8 }
  const { state, notes, journal, checkpoint, close } = await openNotes(root, { disk, tuning })
  const ids = Array.from({ length: 40 }, (_, n) => `n${n}`)
  for (const [n, id] of ids.entries())
    await state.commit((tx) => {
      tx.insert(notes, note(n, { done: true }))
      tx.append(journal, id, `entry ${n}`)
    })
  await checkpoint()
  for (const [n, id] of ids.entries()) {
    t.is(notes.find(id)?.id, id)
    t.is(journal.read(id, { after: 0, limit: 1 })[0]?.entry, `entry ${n}`)
    t.true(open.length <= 8, `${open.length} are open`)
  }
  t.true(new Set(opened).size > 16, `${opened.length} were opened`)
  await close()
  t.deepEqual(open, [])
})

test('state-34: a sieve sees what a page has before it is a record, and nothing of what it refuses is kept', async (t) => {
  const root = tempRoot(t)
  const { state, notes, checkpoint, close } = await openNotes(root)
  await state.commit((tx) => {
    for (const n of [0, 1]) tx.insert(notes, note(n, { done: n === 0 }))
  })
  await checkpoint()
  const seen: string[] = []
  const sieve =
    (isWanted: boolean) =>
    (line: Uint8Array): boolean => {
      seen.push(Buffer.from(line).toString())
      return isWanted
    }
  t.is(notes.find('n0', sieve(false)), undefined)
  t.is(notes.find('n0', sieve(false)), undefined, 'it is asked again')
  t.deepEqual(notes.find('n0', sieve(true)), note(0, { done: true }))
  t.is(seen.length, 3)
  t.true(seen.every((line) => line.startsWith(`{"id":"n0","r":${JSON.stringify(note(0, { done: true }))},"c":"`)))
  t.deepEqual(notes.find('n0', sieve(false)), note(0, { done: true }), 'what was read is in memory')
  t.deepEqual(notes.find('n1', sieve(false)), note(1), 'what can change is in memory')
  t.is(seen.length, 3)
  await close()
})

test('the page that was not read for the longest time is closed for another, and its reader forgets it', (t) => {
  const pages = new OpenPages(3)
  const gone: string[] = []
  const page = (name: string): OpenPage => {
    const file: any = { path: name, close: async () => void gone.push(`${name} closed`) }
    return { file, seed: 0, forget: () => void gone.push(name), readAt: 0 }
  }
  const [a, b, c, d] = [page('a'), page('b'), page('c'), page('d')]
  for (const one of [a, b, c]) {
    pages.makeRoom()
    pages.add(one)
    pages.touch(one)
  }
  t.deepEqual(gone, [])
  pages.touch(a)
  pages.makeRoom()
  t.deepEqual(gone.splice(0), ['b', 'b closed'])
  pages.add(d)
  pages.touch(d)
  pages.makeRoom()
  t.deepEqual(gone.splice(0), ['c', 'c closed'])
  pages.shut(a)
  pages.makeRoom()
  t.deepEqual(gone, ['a', 'a closed'])
})
