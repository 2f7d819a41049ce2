/** Rules of the store that hold only as long as each has a test that fails without it. */
import test from 'ava'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { createHeldDisk } from '../../../support/held-disk.js'
import type { IndexSpec } from '../../../../core/state/contract.js'
import { note, openNotes, tempRoot, type Note } from '../../../support/notes.js'
import { createWrappedDisk, diskError, type DiskCall } from '../../../../core/testing/wrapped-disk.js'
import { createLatch } from '../../../support/latch.js'

const segments = (root: string): string[] => readdirSync(join(root, 'log')).map((name) => join(root, 'log', name))
const flip = (path: string, at: number): void => {
  const bytes = readFileSync(path)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(path, bytes)
}
/** Enough turns for everything that does not wait for the disk. */
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 30; turn += 1) await setImmediate()
}
/** Whether a promise is settled already. */
const watch = (promise: Promise<unknown>): { readonly done: boolean } => {
  const seen = { done: false }
  promise.then(
    () => (seen.done = true),
    () => (seen.done = true),
  )
  return seen
}

for (const size of [10, 100_000, 5_000_000]) {
  test(`state-7: a commit of ${size} characters is acknowledged behind its sync, and so is who waits for it`, async (t) => {
    const held = createHeldDisk()
    const { state, notes, close } = await openNotes(tempRoot(t), { disk: held.disk })
    held.hold()
    const commit = state.commit((tx) => tx.insert(notes, note(1, { text: 'x'.repeat(size) })))
    await held.reached()
    const durable = state.durable()
    const [first, reader] = [watch(commit), watch(durable)]
    await turns()
    t.deepEqual([first.done, reader.done, state.health.sequence], [false, false, 0])
    held.release()
    await Promise.all([commit, durable])
    t.is(state.health.sequence, 1)
    await close()
  })
}

test('who waits behind a commit that is not written yet is answered with it, not before', async (t) => {
  const held = createHeldDisk()
  const { state, notes, close } = await openNotes(tempRoot(t), { disk: held.disk })
  held.hold()
  const first = state.commit((tx) => tx.insert(notes, note(1)))
  await held.reached()
  const second = state.commit((tx) => tx.insert(notes, note(2)))
  const durable = state.durable()
  const failed = Promise.all([first, second, durable].map((one) => t.throwsAsync(one)))
  held.release(diskError('EIO'))
  await failed
  await close()
})

test('the cut of a backup is taken between two batches', async (t) => {
  const held = createHeldDisk()
  const { state, notes, snapshot, close } = await openNotes(tempRoot(t), { disk: held.disk })
  held.hold()
  const commit = state.commit((tx) => tx.insert(notes, note(1)))
  await held.reached()
  const cut = snapshot(async ({ sequence, manifest }) => ({ sequence, length: manifest.segments.at(-1)?.length }))
  const seen = watch(cut)
  await turns()
  t.false(seen.done)
  held.release()
  await commit
  const { sequence, length } = await cut
  t.is(sequence, 1)
  t.true((length ?? 0) > 200, 'the segment with the line of the commit')
  await close()
})

test('a segment is not gone on from after a failed write unless every byte of it is as it was acknowledged', async (t) => {
  const root = tempRoot(t)
  let code: string | undefined
  const { disk } = createWrappedDisk((call, path) => {
    if (code !== undefined && call === 'write' && path.includes('/log/')) throw diskError(code)
  })
  const { state, notes, recover, close } = await openNotes(root, { disk, tuning: { retryMs: 1_000_000 } })
  for (let n = 0; n < 3; n += 1) await state.commit((tx) => tx.insert(notes, note(n)))
  code = 'EIO'
  await t.throwsAsync(state.commit((tx) => tx.insert(notes, note(3))))
  code = undefined
  const [segment = ''] = segments(root)
  flip(segment, readFileSync(segment).indexOf('"s":2') + 30)
  t.false(await recover())
  t.is(state.health.reason, 'damaged')
  t.is(segments(root).length, 1)
  await close()
})

test('a bad end of a segment that was closed is damage: its length was acknowledged', async (t) => {
  const root = tempRoot(t)
  let code: string | undefined
  const { disk } = createWrappedDisk((call, path) => {
    if (code !== undefined && call === 'write' && path.includes('/log/')) throw diskError(code)
  })
  const { state, notes, recover } = await openNotes(root, { disk, tuning: { retryMs: 1_000_000 } })
  for (let n = 0; n < 3; n += 1) await state.commit((tx) => tx.insert(notes, note(n)))
  code = 'EIO'
  await t.throwsAsync(state.commit((tx) => tx.insert(notes, note(3))))
  code = undefined
  t.true(await recover())
  await state.commit((tx) => tx.insert(notes, note(3)))
  const [closed = ''] = segments(root)
  const last = readFileSync(closed).lastIndexOf('"s":3')
  flip(closed, last + 30)
  const again = await openNotes(root)
  t.is(again.report.damage?.file, closed)
  t.is(again.report.damage?.offset, last - 1)
  t.is(again.report.torn, undefined)
  t.is(again.state.health.reason, 'damaged')
})

test('what cannot be written is undone last first, within a commit and between commits', async (t) => {
  const held = createHeldDisk()
  const { state, notes, journal, close } = await openNotes(tempRoot(t), { disk: held.disk })
  await state.commit((tx) => {
    tx.insert(notes, note(1))
    tx.append(journal, 'ann', 'kept')
  })
  held.hold()
  const commits = [
    state.commit((tx) => {
      tx.put(notes, note(1, { text: 'second', owner: 'bob' }))
      tx.put(notes, note(1, { text: 'third', owner: 'cyd' }))
      tx.append(journal, 'ann', 'second')
    }),
    state.commit((tx) => {
      tx.put(notes, note(1, { text: 'fourth', owner: 'dan' }))
      tx.remove(notes, 'n1', 'test')
      tx.insert(notes, note(2))
      tx.append(journal, 'ann', 'third')
    }),
  ]
  await held.reached()
  const last = state.commit((tx) => tx.put(notes, note(2, { owner: 'eve' })))
  const refused = Promise.all([...commits, last].map((one) => t.throwsAsync(one)))
  held.release(diskError('EIO'))
  await refused
  t.deepEqual(notes.find('n1'), note(1))
  t.false(notes.has('n2'))
  t.false(notes.isDeleted('n1'))
  t.deepEqual(notes.groups('by_owner'), ['ann'])
  t.deepEqual(
    journal.read('ann', { after: 0, limit: 9 }).map(({ entry }) => entry),
    ['kept'],
  )
  await close()
})

test('a lasting reason that comes while storage recovers stays', async (t) => {
  const root = tempRoot(t)
  const latch = createLatch()
  let hook: ((call: DiskCall, path: string) => void | Promise<void>) | undefined
  const { disk } = createWrappedDisk((call, path) => hook?.(call, path))
  const { state, notes, recover, checkpoint, close } = await openNotes(root, { disk, tuning: { retryMs: 1_000_000 } })
  await state.commit((tx) => tx.insert(notes, note(1, { done: true })))
  t.true(await checkpoint())
  const [page = ''] = readdirSync(join(root, 'data', 'notes')).filter((name) => name.startsWith('page'))
  flip(join(root, 'data', 'notes', page), readFileSync(join(root, 'data', 'notes', page)).indexOf('text') + 3)
  hook = (call, path) => {
    if (call === 'write' && path.includes('/log/')) throw diskError('EIO')
  }
  await t.throwsAsync(state.commit((tx) => tx.insert(notes, note(2))))
  t.is(state.health.reason, 'io_error')
  hook = (call) => (call === 'sync' ? latch.wait() : undefined)
  const recovered = recover()
  await latch.reached
  t.throws(() => notes.find('n1'), { code: 'storage_damaged' })
  t.is(state.health.reason, 'damaged')
  latch.open()
  t.false(await recovered)
  t.is(state.health.reason, 'damaged')
  await close()
})

test('a record whose removal is pending survives a checkpoint that fails together with the removal', async (t) => {
  const root = tempRoot(t)
  const [page, line] = [createLatch(), createLatch()]
  let failing = false
  const { disk } = createWrappedDisk((call, path) => {
    if (!failing || call !== 'write') return undefined
    if (path.includes('/data/')) return page.wait()
    return path.includes('/log/') && removing ? line.wait() : undefined
  })
  let removing = false
  const { state, notes, recover, checkpoint } = await openNotes(root, { disk, tuning: { retryMs: 1_000_000 } })
  await state.commit((tx) => tx.insert(notes, note(1, { text: 'v1' })))
  t.true(await checkpoint())
  await state.commit((tx) => tx.put(notes, note(1, { text: 'v2' })))
  failing = true
  const failed = checkpoint()
  await page.reached
  removing = true
  const removal = t.throwsAsync(state.commit((tx) => tx.remove(notes, 'n1', 'test')))
  await line.reached
  page.open(diskError('ENOSPC'))
  t.false(await failed)
  line.open(diskError('ENOSPC'))
  await removal
  failing = false
  t.true(await recover())
  t.is(notes.find('n1')?.text, 'v2')
  t.true(await checkpoint())
  const again = await openNotes(root)
  t.is(again.notes.find('n1')?.text, 'v2')
  await again.close()
})

const failures: Readonly<Record<string, (call: DiskCall, path: string) => boolean>> = {
  'the header of a page': (call, path) => call === 'write' && path.includes('/data/') && path.includes('page'),
  'an index': (call, path) => call === 'write' && path.includes('/data/') && path.includes('index'),
  'a page of a stream': (call, path) => call === 'write' && path.includes('/streams/') && path.includes('page'),
  tombstones: (call, path) => call === 'create' && path.includes('/tombstones/'),
}
for (const [what, fails] of Object.entries(failures)) {
  test(`a checkpoint that fails at ${what} leaves no open file and no file that nothing names`, async (t) => {
    const root = tempRoot(t)
    let failing = false
    const { disk, open } = createWrappedDisk((call, path) => {
      if (failing && fails(call, path)) throw diskError('ENOSPC')
    })
    const { state, notes, journal, checkpoint, close } = await openNotes(root, { disk })
    const files = (): string[] =>
      ['data/notes', 'streams/journal', 'tombstones'].flatMap((folder) =>
        disk.list(join(root, folder)).map((name) => `${folder}/${name}`),
      )
    const change = (n: number): Promise<void> =>
      state.commit((tx) => {
        tx.insert(notes, note(n, { done: true }))
        tx.append(journal, 'ann', `${n}`)
        if (n > 0) tx.remove(notes, `n${n - 1}`, 'test')
      })
    await change(0)
    failing = true
    for (let n = 1; n < 4; n += 1) {
      await change(n)
      t.false(await checkpoint())
      t.is(open.size, 1, 'the segment')
      t.deepEqual(files(), [])
    }
    failing = false
    t.true(await checkpoint())
    await close()
    const again = await openNotes(root)
    t.is(again.report.damage, undefined)
    t.true(again.notes.has('n3'))
    await again.close()
  })
}

test('a record that an index of its plugin cannot place is refused, and nothing of it is left in memory', async (t) => {
  const sound: IndexSpec<Note> = { group: ({ owner }) => owner }
  const picky: IndexSpec<Note> = {
    group: ({ text }) => {
      if (text === 'odd') throw new Error('no place')
      return text
    },
  }
  const opened = await openNotes(tempRoot(t), { spec: { indexes: { by_owner: sound, by_text: picky } } })
  const { state, notes } = opened
  await state.commit((tx) => tx.insert(notes, note(1, { text: 'even' })))
  await t.throwsAsync(
    state.commit((tx) => tx.insert(notes, note(2, { text: 'odd' }))),
    { message: 'no place' },
  )
  await t.throwsAsync(
    state.commit((tx) => tx.put(notes, note(1, { owner: 'bob', text: 'odd' }))),
    { message: 'no place' },
  )
  t.false(notes.has('n2'))
  t.deepEqual(notes.find('n1'), note(1, { text: 'even' }))
  t.deepEqual([notes.ids('by_owner', 'ann'), notes.ids('by_owner', 'bob')], [['n1'], []])
  await state.commit((tx) => tx.insert(notes, note(2, { text: 'even' })))
  t.deepEqual(notes.ids('by_text', 'even'), ['n1', 'n2'])
  await opened.close()
})
