import { execFileSync } from 'node:child_process'
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { fault } from '../../../../core/base/assert.js'
import { createClock } from '../../../../core/base/clock.js'
import { createIds } from '../../../../core/base/ids.js'
import type { Disk } from '../../../../core/state/disk/disk.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { openState } from '../../../../core/state/store/root.js'
import { createSpools, isSpoolName, spoolName } from '../../../../core/state/side/spool.js'
import { sweepSpools } from '../../../../core/state/side/spool-sweep.js'

const setUp = (
  t: ExecutionContext,
  {
    capBytes,
    keepBytes,
    change = (disk: Disk) => disk,
  }: { capBytes?: number; keepBytes?: number; change?: (disk: Disk) => Disk } = {},
) => {
  const folder = join(mkdtempSync(join(tmpdir(), 'holdfast-spool-')), 'spools')
  t.teardown(() => rmSync(join(folder, '..'), { recursive: true, force: true }))
  const may = { write: true }
  const open = (disk: Disk = createDisk()) =>
    createSpools({
      folder,
      disk,
      mayWrite: () => may.write,
      refuse: () => {
        throw fault('no room')
      },
      ...(capBytes !== undefined && { capBytes }),
      ...(keepBytes !== undefined && { keepBytes }),
    })
  return { folder, may, open, spools: open(change(createDisk())).area('tasks') }
}
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString()
const all = 1e9

test('what was added is read in order, its end or all of it, while it is written and after', async (t) => {
  const { spools, open, folder } = setUp(t)
  const spool = await spools.begin('a')
  for (const piece of ['one ', 'two ', 'three']) void spool.append(Buffer.from(piece))
  await spool.append(Buffer.from('!'))
  t.is(text(spools.read('a', all)?.bytes), 'one two three!')
  t.is(text(spools.read('a', 6)?.bytes), 'three!')
  t.deepEqual(spools.read('a', 0)?.account, { kept: 14, total: 14, lost: 0, rotations: 0 })
  t.deepEqual(await spool.close(), { kept: 14, total: 14, lost: 0, rotations: 0 })
  const later = open().area('tasks').read('a', all)
  t.deepEqual(
    [text(later?.bytes), later?.account, later?.path],
    ['one two three!', { kept: 14, total: 14, lost: 0, rotations: 0 }, spool.path],
  )
  t.is(spools.read('b', all), undefined)
  t.is(lstatSync(spool.path).mode & 0o777, 0o600)
  t.is(lstatSync(join(folder, 'tasks')).mode & 0o777, 0o700)
  t.deepEqual(readdirSync(join(folder, 'tasks')), [spoolName('a')])
  t.false(spool.path.endsWith('/a'))
})

test(
  'a spool of the shipped size begins anew with its last 6 MiB when it would be larger than 8 MiB, and no byte is ' +
    'miscounted',
  async (t) => {
    const { spools, open } = setUp(t)
    const spool = await spools.begin('a')
    const piece = 64 * 1024
    let given = 0
    const give = async (bytes: number): Promise<void> => {
      await spool.append(Buffer.alloc(bytes, String(Math.floor(given / piece) % 10)))
      given += bytes
    }
    while (given + piece < 8 * 1024 * 1024) await give(piece)
    t.deepEqual(spool.account, { kept: given, total: given, lost: 0, rotations: 0 })
    await give(piece)
    t.deepEqual(spool.account, { kept: 6 * 1024 * 1024, total: given, lost: 0, rotations: 1 })
    t.true(statSync(spool.path).size <= 8 * 1024 * 1024)
    for (let n = 0; n < 100; n += 1) {
      await give(piece)
      if (statSync(spool.path).size > 8 * 1024 * 1024) t.fail('the file is larger than its cap')
    }
    const { rotations, kept, total } = await spool.close()
    t.deepEqual([rotations, total], [4, given])
    t.deepEqual(open().area('tasks').read('a', 0)?.account, { kept, total, lost: 0, rotations })
  },
)

test('whatever is added, what is kept is the end of it and the sums are right, also after a restart', async (t) => {
  const { spools, open } = setUp(t, { capBytes: 400, keepBytes: 100 })
  let n = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 500 }), { maxLength: 12 }), async (pieces) => {
      n += 1
      const spool = await spools.begin(`owner ${n}`)
      for (const piece of pieces) void spool.append(piece)
      const account = await spool.close()
      const whole = Buffer.concat(pieces)
      const [same, later] = [spools.read(`owner ${n}`, all), open().area('tasks').read(`owner ${n}`, all)]
      const right =
        account.total === whole.length &&
        account.lost === 0 &&
        account.kept === same?.bytes.length &&
        statSync(spool.path).size <= 400
      const end = Buffer.from(same?.bytes ?? []).equals(whole.subarray(whole.length - account.kept))
      return (
        right &&
        end &&
        JSON.stringify(later) === JSON.stringify(same) &&
        account.rotations > 0 === account.kept < whole.length
      )
    }),
    { numRuns: 150 },
  )
  t.pass()
})

test('while nothing may be written bytes are counted as lost, and a line says so when there is room', async (t) => {
  const { spools, may, open } = setUp(t, { capBytes: 400, keepBytes: 200 })
  const spool = await spools.begin('a')
  await spool.append(Buffer.from('before'))
  may.write = false
  for (const piece of ['lost', 'as well']) await spool.append(Buffer.from(piece))
  t.deepEqual(spool.account, { kept: 6, total: 17, lost: 11, rotations: 0 })
  may.write = true
  await spool.append(Buffer.from('after'))
  t.is(text(spools.read('a', all)?.bytes), 'before\n[daemon: 11 bytes of output could not be written]\nafter')
  may.write = false
  await spool.append(Buffer.from('again'))
  may.write = true
  t.is((await spool.close()).lost, 16)
  t.true(text(spools.read('a', all)?.bytes).endsWith('after\n[daemon: 5 bytes of output could not be written]\n'))
  may.write = false
  await t.throwsAsync(spools.begin('b'), { message: 'no room' })
  may.write = true
  const rotated = await spools.begin('c')
  may.write = false
  await rotated.append(Buffer.alloc(7))
  may.write = true
  await rotated.append(Buffer.alloc(500))
  t.is(open().area('tasks').read('c', 0)?.account.lost, 7, 'a header tells of what was lost before it')
  await rotated.close()
})

/** A disk on which the next writes to spools end in the middle, and replacements fail as told. */
const failing = (disk: Disk, plan: { writes: number; replaces: 'before' | 'after' | undefined }): Disk => ({
  ...disk,
  open: async (path, how) => {
    const file = await disk.open(path, how)
    return {
      ...file,
      write: async (bytes, position) => {
        if (plan.writes === 0) return file.write(bytes, position)
        plan.writes -= 1
        await file.write(bytes.subarray(0, bytes.length / 2), position)
        throw Object.assign(fault('no space'), { code: 'ENOSPC' })
      },
    }
  },
  replace: async (path, bytes) => {
    const { replaces } = plan
    plan.replaces = undefined
    if (replaces !== 'before') await disk.replace(path, bytes)
    if (replaces !== undefined) throw Object.assign(fault('no space'), { code: 'ENOSPC' })
  },
})

test('a spool that could not be begun leaves nothing behind and is begun later', async (t) => {
  const mood = { full: true }
  const { folder, spools } = setUp(t, {
    change: (disk) => ({
      ...disk,
      open: async (path, how) => {
        const file = await disk.open(path, how)
        return { ...file, write: (bytes, at) => (mood.full ? Promise.reject(fault('full')) : file.write(bytes, at)) }
      },
    }),
  })
  await t.throwsAsync(spools.begin('task'), { message: 'full' })
  t.deepEqual(readdirSync(join(folder, 'tasks')), [])
  mood.full = false
  const spool = await spools.begin('task')
  await spool.append(Buffer.from('output'))
  await spool.close()
  t.is(text(spools.read('task', all)?.bytes), 'output')
})

test('a write that a full disk cuts off leaves no half of it behind', async (t) => {
  const plan = { writes: 0, replaces: undefined as 'before' | 'after' | undefined }
  const { spools } = setUp(t, { change: (disk) => failing(disk, plan) })
  const spool = await spools.begin('a')
  await spool.append(Buffer.from('whole'))
  plan.writes = 1
  await spool.append(Buffer.from('half'))
  t.is(text(spools.read('a', all)?.bytes), 'whole')
  t.is(text(readFileSync(spool.path)).split('\n')[1], 'whole')
  await spool.append(Buffer.from('next'))
  t.deepEqual(await spool.close(), { kept: 59, total: 63, lost: 4, rotations: 0 })
  t.is(text(spools.read('a', all)?.bytes), 'whole\n[daemon: 4 bytes of output could not be written]\nnext')
})

for (const replaces of ['before', 'after'] as const) {
  test(`a rotation that fails ${replaces} the new file is in place goes on with the file that is there`, async (t) => {
    const plan = { writes: 0, replaces: undefined as 'before' | 'after' | undefined }
    const { spools } = setUp(t, { capBytes: 300, keepBytes: 100, change: (disk) => failing(disk, plan) })
    const spool = await spools.begin('a')
    await spool.append(Buffer.alloc(200, 'a'))
    plan.replaces = replaces
    await spool.append(Buffer.alloc(90, 'b'))
    await spool.append(Buffer.alloc(5, 'c'))
    const kept = text(spools.read('a', all)?.bytes)
    t.true(kept.endsWith('ccccc') && kept.startsWith('a') && Buffer.byteLength(kept) <= 300)
    t.is((await spool.close()).lost, 90)
  })
}

test('a link in the place of a spool is not followed, and a foreign header is no spool', async (t) => {
  const { spools, folder } = setUp(t)
  await (await spools.begin('first')).close()
  writeFileSync(join(folder, 'victim'), 'untouched')
  symlinkSync(join(folder, 'victim'), join(folder, 'tasks', spoolName('a')))
  await t.throwsAsync(spools.begin('a'), { code: 'EEXIST' })
  t.is(spools.read('a', all), undefined)
  writeFileSync(
    join(folder, 'tasks', spoolName('b')),
    '{"v":1,"k":"spool","dropped":0,"lost":0,"rotations":0,"c":"00000000"}\nsomething',
  )
  t.is(spools.read('b', all), undefined)
  t.is(readFileSync(join(folder, 'victim'), 'utf8'), 'untouched')
})

test('what is not kept goes, but never a spool that is written to; half-made replacements are swept', async (t) => {
  const { spools, open, folder } = setUp(t)
  for (const owner of ['a', 'b']) await (await spools.begin(owner)).close()
  const live = await spools.begin('live')
  t.is(await spools.keepOnly(['a']), 1)
  t.deepEqual(readdirSync(join(folder, 'tasks')).toSorted(), [spoolName('a'), spoolName('live')].toSorted())
  await spools.remove('a')
  await spools.remove('a')
  await live.close()
  writeFileSync(join(folder, 'tasks', `${spoolName('live')}.123`), 'half')
  t.is((await sweepSpools({ folder, disk: createDisk(), setAside: async () => {} })).swept.length, 1)
  t.deepEqual(
    readdirSync(join(folder, 'tasks')).filter((name) => !isSpoolName(name)),
    [],
  )
  t.throws(() => open().area('../log'), { message: /no name/u })
})

test('a file system that is full loses output and nothing else', async (t) => {
  const mount = mkdtempSync(join(tmpdir(), 'holdfast-small-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', mount], { stdio: 'ignore' })
  } catch {
    rmSync(mount, { recursive: true })
    t.log('not run: mounting a small file system is not permitted here')
    return t.pass()
  }
  t.teardown(() => {
    execFileSync('umount', ['-l', mount])
    rmSync(mount, { recursive: true })
  })
  const spools = createSpools({
    folder: join(mount, 'spools'),
    disk: createDisk(),
    mayWrite: () => true,
    refuse: () => {
      throw fault('no room')
    },
  }).area('tasks')
  const spool = await spools.begin('a')
  for (let n = 0; n < 40; n += 1) await spool.append(Buffer.alloc(64 * 1024, 'x'))
  const { kept, lost, total } = spool.account
  t.is(total, 40 * 64 * 1024)
  t.true(lost > 0 && kept > 0 && kept + lost === total)
  t.is(statSync(spool.path).size - kept < 256, true)
  await spool.close()
})

test('a spool leaves the room alone that is kept for the state, and begins only while storage takes changes', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-spool-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const room = { free: 10_000 }
  const clock = createClock()
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const opened = await openState({
    root: join(root, 'state'),
    disk: { ...createDisk(), space: () => ({ free: room.free, type: 0 }) },
    clock,
    ids: createIds(clock),
    log: quiet,
    publish: () => {},
    generation: 1,
    tuning: { ballastBytes: 0, freeBytes: 5_000 },
  })
  await opened.load()
  const spools = opened.state.spools('tasks')
  const spool = await spools.begin('a')
  await spool.append(Buffer.from('room'))
  room.free = 4_999
  await spool.append(Buffer.from('none'))
  t.deepEqual([spool.account.kept, spool.account.lost], [4, 4])
  t.is(opened.state.health.mode, 'ok', 'a spool without room says nothing about the state')
  await t.throwsAsync(spools.begin('b'), { code: 'storage_read_only' })
  room.free = 5_000
  await (await spools.begin('b')).close()
  await spool.close()
  await opened.close()
  await t.throwsAsync(spools.begin('c'), { code: 'storage_read_only' })
})
