import test from 'ava'
import { appendFileSync, readFileSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, createClock } from '../../../../core/base/clock.js'
import type { Disk } from '../../../../core/state/disk/disk.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { note, openNotes, tempRoot } from '../../../support/notes.js'

/** Timers that ring when the test says so. */
const bellClock = (): Clock & { ring(): void; readonly waiting: number } => {
  let timers: (() => void)[] = []
  const after = (_: number, callback: () => void) => {
    timers.push(callback)
    return () => {
      timers = timers.filter((one) => one !== callback)
    }
  }
  const ring = (): void => {
    const due = timers
    timers = []
    for (const callback of due) callback()
  }
  return {
    ...createClock(),
    after,
    ring,
    get waiting() {
      return timers.length
    },
  }
}
const settle = async (until: () => boolean): Promise<void> => {
  const patience = createClock()
  for (let turn = 0; turn < 2000 && !until(); turn += 1) await patience.sleep(2)
}
const watermark = (root: string): { sequence: number; clean: boolean } =>
  JSON.parse(readFileSync(join(root, 'watermark.json'), 'utf8'))
const lastSegment = (root: string): string => join(root, 'log', readdirSync(join(root, 'log')).toSorted().at(-1) ?? '')

test('the watermark follows the log once a second, only when something changed, and says when the close was clean', async (t) => {
  const root = tempRoot(t)
  const clock = bellClock()
  const opened = await openNotes(root, { clock })
  t.deepEqual(watermark(root), { ...watermark(root), sequence: 0, clean: false })
  t.is(clock.waiting, 0)
  for (let n = 0; n < 3; n += 1) await opened.state.commit((tx) => tx.insert(opened.notes, note(n)))
  t.is(clock.waiting, 1)
  t.is(watermark(root).sequence, 0)
  clock.ring()
  await settle(() => watermark(root).sequence === 3)
  t.is(watermark(root).sequence, 3)
  t.is(clock.waiting, 0)
  await opened.close()
  t.deepEqual({ sequence: watermark(root).sequence, clean: watermark(root).clean }, { sequence: 3, clean: true })
})

test('state-19: a log that ends before its watermark is damaged, not torn', async (t) => {
  const root = tempRoot(t)
  const clock = bellClock()
  const opened = await openNotes(root, { clock })
  for (let n = 0; n < 3; n += 1) await opened.state.commit((tx) => tx.insert(opened.notes, note(n)))
  const file = lastSegment(root)
  truncateSync(file, statSync(file).size - 5)
  const torn = await openNotes(root)
  t.is(torn.report.damage, undefined)
  t.is(torn.report.sequence, 2)
  clock.ring()
  await settle(() => watermark(root).sequence === 3)
  const behind = await openNotes(root)
  t.regex(behind.report.damage?.rule ?? '', /ends at 2, but 3 was acknowledged/u)
  t.is(behind.state.health.mode, 'read_only')
})

test('bytes behind a clean close are damage', async (t) => {
  const root = tempRoot(t)
  const first = await openNotes(root)
  await first.state.commit((tx) => tx.insert(first.notes, note(1)))
  await first.close()
  appendFileSync(lastSegment(root), 'x')
  const second = await openNotes(root)
  t.regex(second.report.damage?.rule ?? '', /behind its clean end/u)
})

test('a tail of zeros is torn while nothing proves that it was acknowledged', async (t) => {
  const root = tempRoot(t)
  const first = await openNotes(root)
  await first.state.commit((tx) => tx.insert(first.notes, note(1)))
  appendFileSync(lastSegment(root), Buffer.alloc(5000))
  const second = await openNotes(root)
  t.is(second.report.torn?.bytes, 5000)
  t.true(second.notes.has('n1'))
  await second.close()
})

test('a line of another root does not fit, whatever its place', async (t) => {
  const roots = [tempRoot(t), tempRoot(t)]
  for (const root of roots) {
    const opened = await openNotes(root)
    for (let n = 0; n < 3; n += 1) await opened.state.commit((tx) => tx.insert(opened.notes, note(n, { text: root })))
  }
  const [one, other] = roots.map((root) => ({ root, lines: readFileSync(lastSegment(root), 'utf8').split('\n') }))
  if (one === undefined || other === undefined) return t.fail()
  writeFileSync(lastSegment(one.root), [...one.lines.slice(0, 2), other.lines[2], ...one.lines.slice(3)].join('\n'))
  const spliced = await openNotes(one.root)
  t.regex(spliced.report.damage?.rule ?? '', /checksum/u)
})

/** A real disk whose free space and failures a test decides. */
const moodyDisk = (mood: { free: number; code?: string }): Disk => {
  const disk = createDisk()
  const raise = (): never => {
    throw Object.assign(new Error(mood.code), { code: mood.code })
  }
  return {
    ...disk,
    space: () => ({ free: mood.free, type: 0 }),
    replace: async (path, bytes) => (mood.code === undefined ? disk.replace(path, bytes) : raise()),
    open: async (path, how) => {
      if (mood.code !== undefined && how !== 'read') raise()
      const file = await disk.open(path, how)
      return { ...file, write: async (bytes, at) => (mood.code === undefined ? file.write(bytes, at) : raise()) }
    },
  }
}

test('state-14: below the floor of free space changes are refused until there is room again, by itself', async (t) => {
  const clock = bellClock()
  const mood = { free: 1000 }
  const { state, notes, close } = await openNotes(tempRoot(t), {
    clock,
    disk: moodyDisk(mood),
    tuning: { freeBytes: 500 },
  })
  await state.commit((tx) => tx.insert(notes, note(1)))
  mood.free = 499
  clock.ring()
  await settle(() => state.health.mode === 'read_only')
  t.is(state.health.reason, 'disk_full')
  t.truthy(state.health.action)
  await t.throwsAsync(
    state.commit((tx) => tx.insert(notes, note(2))),
    { message: /disk_full/u },
  )
  t.true(notes.has('n1'))
  clock.ring()
  await settle(() => clock.waiting > 0)
  t.is(state.health.mode, 'read_only')
  mood.free = 1000
  clock.ring()
  await settle(() => state.health.mode === 'ok')
  await state.commit((tx) => tx.insert(notes, note(2)))
  await close()
})

test('too many open files is a reason of its own, and the retries wait longer and longer', async (t) => {
  const mood: { free: number; code?: string } = { free: 1e9 }
  const pauses: number[] = []
  const bells = bellClock()
  const clock: Clock = {
    ...bells,
    after: (ms, callback) => {
      pauses.push(ms)
      return bells.after(ms, callback)
    },
  }
  const { state, notes, close } = await openNotes(tempRoot(t), {
    clock,
    disk: moodyDisk(mood),
    tuning: { retryMs: 10, longestRetryMs: 40 },
  })
  mood.code = 'EMFILE'
  await t.throwsAsync(state.commit((tx) => tx.insert(notes, note(1))))
  t.is(state.health.reason, 'too_many_files')
  for (let round = 0; round < 4; round += 1) {
    await settle(() => bells.waiting > 0)
    bells.ring()
  }
  await settle(() => bells.waiting > 0)
  t.deepEqual(pauses, [10, 20, 40, 40, 40])
  delete mood.code
  bells.ring()
  await settle(() => state.health.mode === 'ok')
  await state.commit((tx) => tx.insert(notes, note(1)))
  await close()
})

test('the ballast is given back to close in order on a full disk', async (t) => {
  const root = tempRoot(t)
  const mood = { free: 1000 }
  const clock = bellClock()
  const { state, notes, close } = await openNotes(root, { clock, disk: moodyDisk(mood), tuning: { freeBytes: 500 } })
  t.is(statSync(join(root, 'ballast')).size, 4096)
  await state.commit((tx) => tx.insert(notes, note(1)))
  mood.free = 0
  clock.ring()
  await settle(() => state.health.mode === 'read_only')
  await close()
  t.false(readdirSync(root).includes('ballast'))
  t.true(watermark(root).clean)
  const again = await openNotes(root)
  t.true(again.notes.has('n1'))
  await again.close()
})

test('a disk that does not even say how much room it has is asked again until it answers', async (t) => {
  const clock = bellClock()
  const mood: { free: number; code?: string } = { free: 1e9 }
  const moody = moodyDisk(mood)
  const space: Disk['space'] = (path) => {
    if (mood.code !== undefined) throw Object.assign(new Error(mood.code), { code: mood.code })
    return moody.space(path)
  }
  const { state, notes, close } = await openNotes(tempRoot(t), { clock, disk: { ...moody, space } })
  mood.code = 'EIO'
  await t.throwsAsync(state.commit((tx) => tx.insert(notes, note(1))))
  for (let round = 0; round < 3; round += 1) {
    t.is(clock.waiting, 1)
    clock.ring()
    await settle(() => clock.waiting > 0)
  }
  t.like(state.health, { mode: 'read_only', reason: 'io_error' })
  delete mood.code
  clock.ring()
  await settle(() => state.health.mode === 'ok')
  await state.commit((tx) => tx.insert(notes, note(1)))
  await close()
})

test('a sync that fails while storage tries to write again lasts until a restart, also where no room is left', async (t) => {
  const clock = bellClock()
  const mood: { free: number; code?: string } = { free: 1000 }
  const moody = moodyDisk(mood)
  let breaks = false
  const open: Disk['open'] = async (path, how) => {
    const file = await moody.open(path, how)
    const sync = async (): Promise<void> => {
      if (!breaks) return file.sync()
      mood.free = 0
      throw Object.assign(new Error('EIO'), { code: 'EIO' })
    }
    return { ...file, sync }
  }
  const { state, notes, recover, close } = await openNotes(tempRoot(t), {
    clock,
    disk: { ...moody, open },
    tuning: { freeBytes: 500 },
  })
  mood.code = 'EIO'
  await t.throwsAsync(state.commit((tx) => tx.insert(notes, note(1))))
  delete mood.code
  breaks = true
  t.false(await recover())
  t.is(state.health.reason, 'sync_failed')
  breaks = false
  mood.free = 1000
  t.false(await recover())
  await close()
})
