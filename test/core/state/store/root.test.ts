import test from 'ava'
import { appendFileSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClock } from '../../../../core/base/clock.js'
import { Problem } from '../../../../core/base/errors.js'
import type { Disk } from '../../../../core/state/disk/disk.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { note, openNotes as open, tempRoot } from '../../../support/notes.js'

const codeOf = (error: unknown): string => (error instanceof Problem ? error.code : String(error))
const lastSegment = (root: string): string => {
  const names = readdirSync(join(root, 'log')).toSorted()
  return join(root, 'log', names.at(-1) ?? '')
}

test('state-7: what was committed is there after a restart, in memory, indexes and streams', async (t) => {
  const root = tempRoot(t)
  const first = await open(root)
  await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      first.state.commit((tx) => {
        tx.insert(first.notes, note(n, { done: n % 2 === 0 }))
        tx.append(first.journal, 'ann', `wrote ${n}`)
      }),
    ),
  )
  await first.state.commit((tx) => tx.remove(first.notes, 'n7', 'test'))
  await first.close()
  const second = await open(root)
  t.is(second.report.damage, undefined)
  t.deepEqual(second.notes.find('n3'), note(3))
  t.false(second.notes.has('n7'))
  t.true(second.notes.isDeleted('n7'))
  t.is(second.notes.count('by_owner', 'ann'), 49)
  t.is(second.notes.count('open', 'open'), 24)
  t.deepEqual(
    second.notes.list({ index: 'by_owner', group: 'ann', limit: 2, order: 'desc' }).map((found) => found.id),
    ['n49', 'n48'],
  )
  t.deepEqual(
    second.notes.list({ index: 'by_owner', group: 'ann', limit: 2, beyond: '00005' }).map((found) => found.id),
    ['n6', 'n8'],
  )
  t.is(second.journal.length('ann'), 50)
  t.deepEqual(
    second.journal.read('ann', { after: 47, limit: 2 }).map((entry) => entry.seq),
    [48, 49],
  )
  await t.throwsAsync(
    second.state.commit((tx) => tx.insert(second.notes, note(7))),
    { message: /used before/u },
  )
  await second.close()
})

test('a callback that throws leaves nothing behind and rejects with what it threw', async (t) => {
  const { state, notes, journal, close } = await open(tempRoot(t))
  await state.commit((tx) => tx.insert(notes, note(1)))
  const refused = await t.throwsAsync(
    state.commit((tx) => {
      tx.put(notes, note(1, { owner: 'bob' }))
      tx.remove(notes, 'n1', 'test')
      tx.append(journal, 'ann', 'x')
      tx.insert(notes, note(1))
    }),
  )
  t.is(codeOf(refused), 'id_taken')
  t.deepEqual(notes.find('n1'), note(1))
  t.is(notes.count('by_owner', 'ann'), 1)
  t.is(notes.count('by_owner', 'bob'), 0)
  t.is(journal.length('ann'), 0)
  t.deepEqual([...journal.owners()], [])
  await close()
})

test('state-9: an id that is there or was there is not given again, in this life or the next', async (t) => {
  const root = tempRoot(t)
  const first = await open(root)
  await first.state.commit((tx) => {
    tx.insert(first.notes, note(1))
    tx.insert(first.notes, note(2))
  })
  await first.state.commit((tx) => tx.remove(first.notes, 'n2', 'test'))
  await first.close()
  for (const life of ['the log', 'the checkpoint of the life before']) {
    const { state, notes, close } = await open(root)
    t.is(
      codeOf(await t.throwsAsync(state.commit((tx) => tx.insert(notes, note(1, { owner: 'bob' }))))),
      'id_taken',
      life,
    )
    t.is(codeOf(await t.throwsAsync(state.commit((tx) => tx.insert(notes, note(2))))), 'id_taken')
    t.is(codeOf(await t.throwsAsync(state.commit((tx) => tx.put(notes, note(2))))), 'id_taken')
    t.deepEqual(notes.find('n1'), note(1))
    t.false(notes.has('n2'))
    await close()
  }
})

test('state-10: a transaction ends with its callback, and its time never goes back, in this life or the next', async (t) => {
  const root = tempRoot(t)
  let now = 5000
  const clock = { ...createClock(), now: () => now }
  const first = await open(root, { clock })
  const kept = await first.state.commit((tx) => {
    tx.insert(first.notes, note(1))
    return tx
  })
  t.throws(() => kept.put(first.notes, note(1, { owner: 'bob' })), { message: /after its callback returned/u })
  t.is(first.notes.find('n1')?.owner, 'ann')
  await t.throwsAsync(
    first.state.commit(() => kept.put(first.notes, note(1, { owner: 'bob' }))),
    { message: /after its callback returned/u },
    'not in the callback of another either: no line of the log would tell of it',
  )
  t.is(first.notes.find('n1')?.owner, 'ann')
  now = 1000
  t.is(
    await first.state.commit((tx) => {
      tx.insert(first.notes, note(2))
      return tx.now
    }),
    5000,
  )
  await first.close()
  const second = await open(root, { clock })
  t.is(await second.state.commit((tx) => tx.now), 5000)
  await second.close()
})

test('state-18: a torn tail is copied to the quarantine and cut, once', async (t) => {
  const root = tempRoot(t)
  const first = await open(root)
  await first.state.commit((tx) => tx.insert(first.notes, note(1)))
  const file = lastSegment(root)
  const { size } = statSync(file)
  appendFileSync(file, '{"s":2,"b":2,"t":1,"ops":[["put","not')
  const second = await open(root)
  t.is(second.report.damage, undefined)
  t.is(second.report.torn?.offset, size)
  t.is(statSync(file).size, size)
  t.regex(readFileSync(second.report.torn?.quarantine ?? '', 'utf8'), /"s":2/u)
  t.deepEqual(second.notes.find('n1'), note(1))
  await second.close()
  const third = await open(root)
  t.is(third.report.torn, undefined)
  await third.close()
})

test('state-19: a changed byte in the middle is damage: read-only, with file and offset', async (t) => {
  const root = tempRoot(t)
  const first = await open(root)
  for (let n = 0; n < 5; n += 1) await first.state.commit((tx) => tx.insert(first.notes, note(n)))
  const file = lastSegment(root)
  const bytes = readFileSync(file)
  const third = bytes.indexOf('"s":3') - 1
  bytes[third + 40] = (bytes[third + 40] ?? 0) ^ 4
  writeFileSync(file, bytes)
  const second = await open(root)
  t.is(second.report.damage?.file, file)
  t.is(second.report.damage?.offset, third)
  t.is(second.state.health.reason, 'damaged')
  t.is(codeOf(await t.throwsAsync(second.state.commit((tx) => tx.insert(second.notes, note(9))))), 'storage_read_only')
  t.deepEqual(second.notes.find('n1'), note(1))
  await second.close()
  t.deepEqual(readFileSync(file), bytes)
})

/** A disk whose log writes can be made to fail. */
const failingDisk = (fails: { write?: string; sync?: string }): Disk => {
  const disk = createDisk()
  const raise = (code: string): never => {
    throw Object.assign(new Error(code), { code })
  }
  return {
    ...disk,
    open: async (path, how) => {
      const file = await disk.open(path, how)
      return {
        ...file,
        write: async (bytes, position) => {
          if (fails.write !== undefined && path.includes('/log/')) {
            await file.write(bytes.subarray(0, bytes.length >> 1), position)
            raise(fails.write)
          }
          return file.write(bytes, position)
        },
        sync: async () => (fails.sync !== undefined && path.includes('/log/') ? raise(fails.sync) : file.sync()),
      }
    },
  }
}

test('state-12: a failed write undoes and rejects everything that waited, and storage recovers in a fresh segment', async (t) => {
  const root = tempRoot(t)
  const fails: { write?: string } = {}
  const opened = await open(root, { disk: failingDisk(fails) })
  const { state, notes } = opened
  await state.commit((tx) => tx.insert(notes, note(1)))
  fails.write = 'ENOSPC'
  const since = state.health.undone
  const settled = await Promise.allSettled([
    state.commit((tx) => tx.put(notes, note(1, { owner: 'bob' }))),
    state.commit((tx) => tx.insert(notes, note(2))),
    state.durable(),
  ])
  t.deepEqual(
    settled.map((one) => (one.status === 'rejected' ? codeOf(one.reason) : one.status)),
    Array(3).fill('storage_write_failed'),
  )
  t.deepEqual(notes.find('n1'), note(1))
  t.false(notes.has('n2'))
  t.is(state.health.reason, 'disk_full')
  t.regex(state.health.action ?? '', /64 MiB are free/u)
  await t.throwsAsync(state.durable(since))
  await state.durable()
  t.is(codeOf(await t.throwsAsync(state.commit((tx) => tx.insert(notes, note(3))))), 'storage_read_only')
  t.false(await opened.recover())
  delete fails.write
  t.true(await opened.recover())
  await state.commit((tx) => tx.insert(notes, note(4)))
  await opened.close()
  const again = await open(root)
  t.is(again.report.damage, undefined)
  t.deepEqual([...again.notes.ids('by_owner', 'ann')], ['n1', 'n4'])
  await again.close()
})

test('state-13: a failed sync is final until a restart', async (t) => {
  const root = tempRoot(t)
  const fails: { sync?: string } = {}
  const opened = await open(root, { disk: failingDisk(fails) })
  fails.sync = 'EIO'
  t.is(
    codeOf(await t.throwsAsync(opened.state.commit((tx) => tx.insert(opened.notes, note(1))))),
    'storage_sync_failed',
  )
  delete fails.sync
  t.false(await opened.recover())
  t.is(opened.state.health.reason, 'sync_failed')
  t.false(opened.notes.has('n1'))
  await opened.close()
  const again = await open(root)
  t.is(again.report.damage, undefined)
  await again.close()
})

test('events-21: effects run after durability in commit order, and a lost lock stops all writes', async (t) => {
  const root = tempRoot(t)
  const opened = await open(root)
  const { state, notes } = opened
  const seen: string[] = []
  await Promise.all(
    [1, 2, 3].map((n) =>
      state.commit((tx) => {
        tx.insert(notes, note(n))
        tx.after(() => seen.push(`${n} at ${state.health.sequence}`))
      }),
    ),
  )
  t.deepEqual(seen, ['1 at 3', '2 at 3', '3 at 3'])
  const before = readFileSync(lastSegment(root))
  const late = t.throwsAsync(state.commit((tx) => tx.insert(notes, note(4))))
  opened.halt('lock_lost')
  t.is(codeOf(await late), 'storage_read_only')
  t.false(notes.has('n4'))
  await opened.close()
  t.deepEqual(readFileSync(lastSegment(root)), before)
})

test('state-11: values that cannot be stored are refused before anything changes', async (t) => {
  const { state, notes, close } = await open(tempRoot(t), { tuning: { longestLine: 1000 } })
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  t.is(
    codeOf(await t.throwsAsync(state.commit((tx) => tx.insert(notes, { ...note(1), ...circular })))),
    'commit_not_serialisable',
  )
  t.is(
    codeOf(await t.throwsAsync(state.commit((tx) => tx.insert(notes, note(1, { text: 'x'.repeat(1000) }))))),
    'commit_too_large',
  )
  t.false(notes.has('n1'))
  await t.throwsAsync(
    state.commit(() => state.commit(() => 1)).then((inner) => inner),
    { message: /inside the callback/u },
  )
  await close()
})
