import test from 'ava'
import { Problem } from '../../../../core/base/errors.js'
import { appendFileSync, existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Disk } from '../../../../core/state/disk/disk.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { note, openNotes, tempRoot, type OpenNotes } from '../../../support/notes.js'

const fill = async ({ state, notes, journal }: OpenNotes, from: number, count: number): Promise<void> => {
  await Promise.all(
    Array.from({ length: count }, (_, n) =>
      state.commit((tx) => {
        tx.insert(notes, note(from + n, { done: n % 2 === 0 }))
        tx.append(journal, `owner ${n % 7}`, `wrote ${from + n}`)
      }),
    ),
  )
}
const files = (root: string, folder: string): string[] =>
  existsSync(join(root, folder)) ? readdirSync(join(root, folder)).map((name) => join(root, folder, name)) : []
/** Everything a reader can see. */
const view = ({ notes, journal }: OpenNotes) => ({
  notes: notes.list({ index: 'by_owner', group: 'ann', limit: 10_000 }),
  open: notes.ids('open', 'open'),
  journal: [...journal.owners()].toSorted().map((owner) => [owner, journal.read(owner, { after: 0, limit: 10_000 })]),
})
const flip = (path: string, at: number): void => {
  const bytes = readFileSync(path)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

test('state-15: a checkpoint moves the log to pages, readers see no difference, and neither does a restart', async (t) => {
  const root = tempRoot(t)
  const first = await openNotes(root)
  await fill(first, 0, 100)
  await first.state.commit((tx) => tx.remove(first.notes, 'n3', 'test'))
  const before = view(first)
  t.true(await first.checkpoint())
  t.deepEqual(view(first), before)
  t.is(files(root, 'log').length, 1)
  await fill(first, 100, 10)
  await first.state.commit((tx) => tx.put(first.notes, note(4, { done: false, owner: 'bob' })))
  const after = view(first)
  await first.close()
  for (let round = 0; round < 2; round += 1) {
    const again = await openNotes(root)
    t.is(again.report.damage, undefined)
    t.is(again.report.replayed, 0)
    t.deepEqual(again.report.swept, [])
    t.deepEqual(view(again), after)
    t.deepEqual(again.notes.find('n4'), note(4, { owner: 'bob' }))
    t.true(again.notes.isDeleted('n3'))
    t.is(again.journal.length('owner 0'), 17)
    t.deepEqual(
      again.journal.read('owner 0', { after: 14, limit: 2 }).map(({ seq, entry }) => [seq, entry]),
      [
        [15, 'wrote 98'],
        [16, 'wrote 100'],
      ],
    )
    await again.close()
  }
})

test('a start replays only what follows the checkpoint, over records and streams that are on pages', async (t) => {
  const root = tempRoot(t)
  const first = await openNotes(root)
  await fill(first, 0, 20)
  await first.checkpoint()
  await fill(first, 20, 5)
  await first.state.commit((tx) => {
    tx.remove(first.notes, 'n0', 'test')
    tx.put(first.notes, note(2, { text: 'new', done: true }))
  })
  const seen = view(first)
  const second = await openNotes(root)
  t.is(second.report.replayed, 6)
  t.deepEqual(view(second), seen)
  t.false(second.notes.has('n0'))
  await second.checkpoint()
  t.deepEqual(view(second), seen)
  await second.close()
})

test('checkpoints run by themselves when the log has grown, while commits go on', async (t) => {
  const root = tempRoot(t)
  const opened = await openNotes(root, { tuning: { segmentBytes: 20_000, pageBytes: 8000 } })
  for (let round = 0; round < 20; round += 1) await fill(opened, round * 50, 50)
  const seen = view(opened)
  t.is(seen.notes.length, 1000)
  await opened.close()
  t.true(files(root, 'log').length <= 2)
  t.true(files(root, 'data/notes').filter((path) => path.includes('page')).length > 5)
  const again = await openNotes(root)
  t.deepEqual(view(again), seen)
  await again.close()
})

test('records that change again and again do not make the pages grow for ever', async (t) => {
  const root = tempRoot(t)
  const opened = await openNotes(root, { tuning: { pageBytes: 8000 } })
  await fill(opened, 0, 60)
  for (let round = 0; round < 25; round += 1) {
    await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        opened.state.commit((tx) => tx.put(opened.notes, note(2 * n + 1, { text: `round ${round}` }))),
      ),
    )
    await opened.checkpoint()
  }
  const bytes = files(root, 'data/notes').reduce((sum, path) => sum + statSync(path).size, 0)
  t.true(bytes < 70_000, `${bytes} bytes`)
  const seen = view(opened)
  await opened.close()
  const again = await openNotes(root)
  t.deepEqual(view(again), seen)
  t.is(again.notes.find('n1')?.text, 'round 24')
  await again.close()
})

test('an index that is missing, damaged or of another declaration is made again from the pages', async (t) => {
  const root = tempRoot(t)
  const first = await openNotes(root)
  await fill(first, 0, 50)
  await first.state.commit((tx) => tx.remove(first.notes, 'n9', 'test'))
  const seen = view(first)
  await first.close()
  const indexes = () =>
    [...files(root, 'data/notes'), ...files(root, 'streams/journal')].filter((path) => path.includes('index'))
  t.is(indexes().length, 2)
  for (const path of indexes()) flip(path, statSync(path).size - 60)
  const second = await openNotes(root)
  t.is(second.report.rebuilt.length, 2)
  t.is(second.report.damage, undefined)
  t.deepEqual(view(second), seen)
  await second.checkpoint()
  await second.close()
  for (const path of indexes()) rmSync(path)
  const third = await openNotes(root)
  t.is(third.report.rebuilt.length, 2)
  t.deepEqual(view(third), seen)
  await third.close()
  const fourth = await openNotes(root, {
    spec: {
      version: 2,
      indexes: {
        by_owner: { group: (one) => one.owner.toUpperCase(), sort: (one) => one.at },
        open: { group: () => undefined },
      },
    },
  })
  t.is(fourth.report.rebuilt.length, 1)
  t.is(fourth.notes.count('by_owner', 'ANN'), 49)
  await fourth.close()
  const fifth = await openNotes(root)
  t.deepEqual(view(fifth), seen)
  await fifth.close()
})

test('a damaged page is named with its byte, when it is read and when it is needed to start', async (t) => {
  const root = tempRoot(t)
  const first = await openNotes(root)
  await first.state.commit((tx) => {
    tx.insert(first.notes, note(1, { done: true }))
    tx.insert(first.notes, note(2, { done: true }))
  })
  await first.close()
  const page = files(root, 'data/notes').find((path) => path.includes('page')) ?? ''
  const at = readFileSync(page).indexOf('{"id":"n2"')
  flip(page, at + 20)
  const second = await openNotes(root)
  t.is(second.state.health.mode, 'ok')
  t.deepEqual(second.notes.find('n1'), note(1, { done: true }))
  const error = t.throws(() => second.notes.find('n2'), { code: 'storage_damaged', instanceOf: Problem })
  t.deepEqual(error?.occurrence.details, { file: page.split('/').at(-1), offset: at })
  t.notRegex(error?.message ?? '', /page-/u)
  t.is(second.state.health.reason, 'damaged')
  await second.close()
  for (const path of files(root, 'data/notes').filter((name) => name.includes('index'))) rmSync(path)
  const third = await openNotes(root)
  t.deepEqual({ file: third.report.damage?.file, offset: third.report.damage?.offset }, { file: page, offset: at })
  t.deepEqual(third.notes.ids('by_owner', 'ann'), ['n1'])
  await third.close()
})

test('what no manifest names is removed or cut at the next start', async (t) => {
  const root = tempRoot(t)
  const first = await openNotes(root)
  await fill(first, 0, 10)
  const seen = view(first)
  await first.close()
  const page = files(root, 'data/notes').find((path) => path.includes('page')) ?? ''
  const { size } = statSync(page)
  appendFileSync(page, 'half a line')
  writeFileSync(join(root, 'data/notes/page-000000000099.ndjson'), 'never named')
  writeFileSync(join(root, 'data/notes/readme.txt'), 'not ours')
  const second = await openNotes(root)
  t.is(statSync(page).size, size)
  t.is(second.report.swept.length, 2)
  t.true(existsSync(join(root, 'data/notes/readme.txt')))
  t.deepEqual(view(second), seen)
  await second.close()
})

test('a page with a line that cannot be read is never dropped by a checkpoint that tidies up: it is told as damage', async (t) => {
  const root = tempRoot(t)
  const damage: string[] = []
  const opened = await openNotes(root, {
    tuning: { pageBytes: 4000 },
    onDamage: ({ file }) => damage.push(file),
  })
  await fill(opened, 0, 60)
  await opened.checkpoint()
  const page = join(root, 'data/notes/page-000000000001.ndjson')
  flip(page, readFileSync(page).indexOf('"text 0 '))
  for (let n = 1; n < 60; n += 1)
    await opened.state.commit((tx) => tx.put(opened.notes, note(n, { text: 'again', done: n % 2 === 0 })))
  t.false(await opened.checkpoint())
  t.true(existsSync(page))
  t.deepEqual(damage, [page])
  t.like(opened.state.health, { mode: 'read_only', reason: 'damaged' })
  t.is(t.throws(() => opened.notes.find('n0'), { instanceOf: Problem }).code, 'storage_damaged')
  t.is(opened.notes.find('n1')?.text, 'again')
  await opened.close()
})

test('state-15: a checkpoint that cannot be written changes nothing, and the next one makes up for it', async (t) => {
  const root = tempRoot(t)
  let broken: 'write' | 'manifest' | undefined
  const disk = createDisk()
  const raise = (): never => {
    throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
  }
  const failing: Disk = {
    ...disk,
    replace: (path, bytes) =>
      broken === 'manifest' && path.endsWith('manifest.json') && files(root, 'data/notes').length > 1
        ? Promise.resolve().then(raise)
        : disk.replace(path, bytes),
    open: async (path, how) => {
      const file = await disk.open(path, how)
      return {
        ...file,
        write: async (bytes, at) => (broken === 'write' && path.includes('/data/') ? raise() : file.write(bytes, at)),
      }
    },
  }
  const opened = await openNotes(root, { disk: failing })
  await fill(opened, 0, 30)
  const seen = view(opened)
  for (const how of ['write', 'manifest'] as const) {
    broken = how
    t.false(await opened.checkpoint())
    t.is(opened.state.health.mode, 'ok')
    t.deepEqual(view(opened), seen)
  }
  const meanwhile = await openNotes(tempRoot(t))
  await meanwhile.close()
  broken = undefined
  t.true(await opened.checkpoint())
  t.deepEqual(view(opened), seen)
  await opened.close()
  const again = await openNotes(root)
  t.deepEqual(view(again), seen)
  t.is(again.report.damage, undefined)
  await again.close()
})

test('a checkpoint that cannot begin is not tried at every commit, and leaves no segment behind', async (t) => {
  const root = tempRoot(t)
  const real = createDisk()
  let [broken, tried] = [false, 0]
  const replace: Disk['replace'] = (path, bytes) => {
    if (!broken || !path.endsWith('manifest.json')) return real.replace(path, bytes)
    tried += 1
    return Promise.reject(Object.assign(new Error('too many'), { code: 'EMFILE' }))
  }
  const opened = await openNotes(root, { disk: { ...real, replace }, tuning: { segmentBytes: 2000 } })
  broken = true
  for (let n = 0; n < 60; n += 1) await opened.state.commit((tx) => tx.insert(opened.notes, note(n)))
  const written = statSync(files(root, 'log')[0] ?? '').size
  t.true(tried > 1 && tried <= written / 2000, `${tried} tries in ${written} bytes`)
  broken = false
  t.true(await opened.checkpoint())
  t.is(files(root, 'log').length, 1)
  await opened.close()
  const again = await openNotes(root)
  t.is(again.notes.count('by_owner', 'ann'), 60)
  t.deepEqual(again.report.swept, [])
  await again.close()
})

test('of what left memory as many records are kept for the next reader as fit into some bytes', async (t) => {
  const opened = await openNotes(tempRoot(t), { tuning: { recordBytes: 110_000 } })
  const { state, notes, journal } = opened
  await state.commit((tx) => {
    for (const [n, length] of [10, 40_000, 70_000, 200_000].entries())
      tx.insert(notes, note(n, { done: true, text: 'x'.repeat(length) }))
    tx.append(journal, 'ann', 'short')
    tx.append(journal, 'bob', 'x'.repeat(1_000_000))
  })
  await opened.checkpoint()
  const [small, middle, large, huge] = ['n0', 'n1', 'n2', 'n3'].map((id) => () => notes.find(id))
  t.is(middle?.(), middle?.())
  const before = middle?.()
  t.is(small?.(), small?.())
  t.is(large?.(), large?.())
  t.not(middle?.(), before, 'what was read longest ago made room')
  t.deepEqual(middle?.(), before)
  t.not(huge?.(), huge?.(), 'what is larger than all room is read again')
  t.is(small?.(), small?.(), 'and takes none')
  t.is(journal.read('bob', { after: 0, limit: 1 })[0]?.entry.length, 1_000_000)
  t.is(journal.read('ann', { after: 0, limit: 1 })[0]?.entry, 'short')
  await opened.close()
})

test('state-16: what an unknown plugin left is kept, through checkpoints, until it is declared again', async (t) => {
  const root = tempRoot(t)
  const first = await openNotes(root)
  await fill(first, 0, 10)
  await first.checkpoint()
  await fill(first, 10, 10)
  await first.state.commit((tx) => tx.remove(first.notes, 'n1', 'test'))
  const seen = view(first)
  const others = await openNotes(root, { spec: { name: 'others' } })
  t.is(others.report.damage, undefined)
  await others.state.commit((tx) => tx.insert(others.notes, note(500)))
  await others.checkpoint()
  await others.close()
  const again = await openNotes(root)
  t.deepEqual(view(again), seen)
  t.true(again.notes.isDeleted('n1'))
  await again.close()
})

test('a damaged record that is still open starts the daemon read-only, and the others are there', async (t) => {
  const root = tempRoot(t)
  const first = await openNotes(root)
  await first.state.commit((tx) => {
    tx.insert(first.notes, note(1))
    tx.insert(first.notes, note(2))
  })
  await first.close()
  const page = files(root, 'data/notes').find((path) => path.includes('page')) ?? ''
  const at = readFileSync(page).indexOf('{"id":"n2"')
  flip(page, at + 20)
  const second = await openNotes(root)
  t.like(second.state.health, { mode: 'read_only', reason: 'damaged' })
  t.deepEqual({ file: second.report.damage?.file, offset: second.report.damage?.offset }, { file: page, offset: at })
  t.deepEqual(second.notes.find('n1'), note(1))
  t.throws(() => second.notes.find('n2'), { code: 'storage_damaged' })
  await second.close()
})
