import test, { type ExecutionContext } from 'ava'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClock } from '../../../../core/base/clock.js'
import { unsafeCast } from '../../../../core/base/schema.js'
import { verifyBackup } from '../../../../core/state/inspect/backup-restore.js'
import { verifyRoot } from '../../../../core/state/inspect/verify.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { acquireLock, type LockOptions } from '../../../../core/state/root/lock.js'
import type { Disk, FileStat } from '../../../../core/state/disk/disk.js'
import { readOwner } from '../../../../core/state/root/owner.js'
import { seal, unseal } from '../../../../core/state/format/sealed.js'
import { contend } from '../../../support/contender.js'

const clock = createClock()
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

const folder = (t: ExecutionContext): string => {
  const path = mkdtempSync(join(tmpdir(), 'holdfast-lock-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}
const take = (root: string, more: Partial<LockOptions> = {}) => acquireLock({ root, clock, log: silent, ...more })

/** The real disk with one answer changed. */
const lying = (change: Partial<Disk>): Disk => ({ ...createDisk(), ...change })

test('a first open makes the root, its document and the record of its owner', async (t) => {
  const root = join(folder(t), 'deep', 'state')
  const lock = await take(root)
  t.is(lock.generation, 1)
  t.like(lock.owner, { pid: process.pid, mechanism: 'flock', generation: 1 })
  t.like(unseal(readFileSync(join(root, 'root.json'))), { format: 1, generation: 1, compat: [], incompat: [] })
  t.deepEqual(readOwner(join(root, 'owner.json')), lock.owner)
  t.deepEqual(lock.status(), { path: join(root, 'daemon.lock'), held: true, mechanism: 'flock' })
  await lock.release()
  t.false(lock.held())
  t.deepEqual(readdirSync(root), ['daemon.lock', 'root.json'])
})

test('a root whose path leads nowhere is refused in one sentence, and nothing is made', async (t) => {
  const above = folder(t)
  symlinkSync(join(above, 'absent', 'disk'), join(above, 'dangling'))
  symlinkSync(join(above, 'circle'), join(above, 'circle'))
  for (const path of ['dangling', 'dangling/state', 'dangling/deep/state', 'circle', 'circle/state'])
    await t.throwsAsync(take(join(above, path)), { code: 'state_root_not_made' }, path)
  if (process.platform === 'linux')
    for (const path of ['/proc/holdfast', '/proc/holdfast/state'])
      await t.throwsAsync(take(path), { code: 'state_root_not_made', message: /\/proc takes no folders/u })
  t.deepEqual(readdirSync(above), ['circle', 'dangling'])
})

test('every folder that an open makes is private, the lock too', async (t) => {
  const above = folder(t)
  const lock = await take(join(above, 'deep', 'state'))
  for (const path of ['deep', 'deep/state', 'deep/state/lock'])
    t.is(statSync(join(above, path)).mode & 0o777, 0o700, path)
  await lock.release()
})

test('state-3: the generation rises with each open and the rest of the document stays', async (t) => {
  const root = folder(t)
  const first = await take(root)
  await first.release()
  const second = await take(root)
  t.is(second.generation, 2)
  t.is(second.facts.root_id, first.facts.root_id)
  t.is(second.facts.created_at_ms, first.facts.created_at_ms)
  await second.release()
})

for (const guard of ['flock', 'socket', 'lockfile'] as const) {
  test(`state-1: behind ${guard} a second daemon is refused and told who holds the root`, async (t) => {
    const root = folder(t)
    const holder = await contend(t, root, guard)
    t.is(holder.answer[0], 'locked')
    const problem = await t.throwsAsync(take(root, { guards: [guard] }), { code: 'state_root_locked' })
    t.regex(problem?.message ?? '', new RegExp(`process ${holder.process.pid} `, 'u'))
    await holder.end()
    const lock = await take(root, { guards: [guard] })
    t.is(lock.generation, 2)
    await lock.release()
  })
}

test('state-1: a lock that is only held for a moment, by a program that is being started, is waited for', async (t) => {
  const root = folder(t)
  const carrier = join(root, 'daemon.lock')
  writeFileSync(carrier, '', { mode: 0o600 })
  const starting = spawn('flock', ['-x', carrier, 'sh', '-c', 'echo held; sleep 0.08'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(starting.stdout, 'data')
  const lock = await take(root, { guards: ['flock'] })
  t.is(lock.owner.mechanism, 'flock')
  await lock.release()
})

for (const guard of ['flock', 'socket'] as const) {
  test(`state-1: behind ${guard} a killed owner is replaced at once`, async (t) => {
    const root = folder(t)
    for (const round of [1, 2, 3]) {
      const holder = await contend(t, root, guard)
      t.deepEqual(holder.answer, ['locked', String(round * 2 - 1)])
      await holder.kill()
      // Waiting would never make this folder old: who takes the root has not waited.
      const fresh = new Date(clock.now() + 3_600_000)
      utimesSync(join(root, 'lock'), fresh, fresh)
      const lock = await take(root, { guards: [guard] })
      t.is(lock.generation, round * 2)
      await lock.release()
    }
  })
}

test('eight processes that race for one root have exactly one owner, every round, also after the owner was killed', async (t) => {
  const root = folder(t)
  let generation = 0
  for (let round = 1; round <= 4; round += 1) {
    const racers = await Promise.all(Array.from({ length: 8 }, () => contend(t, root)))
    const owners = racers.filter(({ answer }) => answer[0] === 'locked')
    t.is(owners.length, 1, `round ${round}: ${racers.map(({ answer }) => answer.join(' ')).join(', ')}`)
    const owner = owners[0]
    generation += 1
    t.is(owner?.answer[1], String(generation))
    for (const { answer } of racers) if (answer[0] !== 'locked') t.is(answer[1], 'state_root_locked')
    const late = await contend(t, root)
    t.deepEqual(late.answer, ['refused', 'state_root_locked', String(owner?.process.pid)])
    await owner?.kill()
    const heir = await contend(t, root)
    generation += 1
    t.deepEqual(heir.answer, ['locked', String(generation)])
    await heir.kill()
  }
})

test('an owner behind another guard that may be alive is not replaced, one that is dead is', async (t) => {
  const root = folder(t)
  const holder = await contend(t, root, 'socket')
  await t.throwsAsync(take(root, { guards: ['flock'] }), { code: 'state_root_locked' })
  await holder.kill()
  const lock = await take(root, { guards: ['flock'] })
  t.is(lock.owner.mechanism, 'flock')
  await lock.release()
})

test('the lock is lost when the file that carries the guard is removed, and says so once', async (t) => {
  const root = folder(t)
  const lock = await take(root)
  const reasons: string[] = []
  lock.onLost((reason) => reasons.push(reason))
  t.true(lock.held())
  unlinkSync(join(root, 'daemon.lock'))
  t.false(lock.held())
  t.false(lock.held())
  lock.onLost((reason) => reasons.push(`late ${reason}`))
  t.deepEqual(reasons, ['guard_removed', 'late guard_removed'])
  await lock.release()
})

test('the watch notices a removed guard without being asked', async (t) => {
  const root = folder(t)
  const due: (() => void)[] = []
  const watched = {
    ...clock,
    after: (_ms: number, callback: () => void) => {
      due.push(callback)
      return () => {}
    },
  }
  const lock = await take(root, { clock: watched })
  const reasons: string[] = []
  lock.onLost((reason) => reasons.push(reason))
  due.shift()?.()
  t.deepEqual(reasons, [])
  unlinkSync(join(root, 'daemon.lock'))
  due.shift()?.()
  t.deepEqual(reasons, ['guard_removed'])
  await lock.release()
})

test('the lock is lost when another takes the folder of proper-lockfile', async (t) => {
  const root = folder(t)
  const lock = await take(root)
  rmSync(join(root, 'lock'), { recursive: true })
  const awake = setInterval(() => {}, 1000)
  const reason = await new Promise<string>((resolve) => lock.onLost(resolve))
  clearInterval(awake)
  t.is(reason, 'lock_taken')
  t.false(lock.held())
  await lock.release()
})

/** As another user would have it. */
const ownedBy = (further: number, found: FileStat | undefined): FileStat | undefined =>
  found && { ...found, uid: found.uid + further }

test('state-4: a root that others can enter is refused, and so is one that belongs to somebody else', async (t) => {
  const root = folder(t)
  for (const mode of [0o750, 0o701, 0o707]) {
    chmodSync(root, mode)
    await t.throwsAsync(take(root), { code: 'state_root_exposed', message: new RegExp(mode.toString(8), 'u') })
  }
  chmodSync(root, 0o700)
  const stranger = lying({ stat: (path) => ownedBy(1, createDisk().stat(path)) })
  await t.throwsAsync(take(root, { disk: stranger }), { code: 'state_root_not_owned' })
})

test('state-4: a folder of something else is refused and not touched', async (t) => {
  const root = folder(t)
  writeFileSync(join(root, 'thesis.tex'), 'years of work')
  await t.throwsAsync(take(root), { code: 'state_root_foreign', message: /thesis\.tex/u })
  t.deepEqual(readdirSync(root), ['thesis.tex'])
  chmodSync(root, 0o755)
  // To close it or to give it away would be the end of somebody else's folder.
  await t.throwsAsync(take(root), { code: 'state_root_foreign' })
  const stranger = lying({ stat: (path) => ownedBy(1, createDisk().stat(path)) })
  await t.throwsAsync(take(root, { disk: stranger }), { code: 'state_root_foreign' })
  chmodSync(root, 0o700)
  await t.throwsAsync(take(join(root, 'thesis.tex')), { code: 'state_root_not_folder' })
  await t.throwsAsync(take(join(root, 'thesis.tex', 'below')), { code: 'state_root_not_folder' })
})

test('a link in place of a folder of the root is refused; a link to the root is followed once', async (t) => {
  const root = folder(t)
  await (await take(root)).release()
  symlinkSync('/etc', join(root, 'log'))
  await t.throwsAsync(take(root), { code: 'state_root_link', message: /log/u })
  unlinkSync(join(root, 'log'))
  const alias = join(folder(t), 'alias')
  symlinkSync(root, alias)
  const lock = await take(alias)
  t.is(lock.root, root)
  await lock.release()
})

test('an exposed folder of secrets is refused', async (t) => {
  const root = folder(t)
  await (await take(root)).release()
  mkdirSync(join(root, 'secrets'), { mode: 0o755 })
  await t.throwsAsync(take(root), { code: 'state_root_exposed', message: /secrets/u })
})

test('state-4: a network file system is refused unless it is accepted explicitly', async (t) => {
  const root = folder(t)
  const network = lying({ space: () => ({ free: 1e9, type: 0x6969 }) })
  await t.throwsAsync(take(root, { disk: network }), { code: 'state_root_network', message: /nfs/u })
  await (await take(root, { disk: network, allowNetwork: true })).release()
})

test('state-4: a root of a newer version is refused by name, unknown compatible flags are kept', async (t) => {
  const root = folder(t)
  const first = await take(root)
  await first.release()
  const path = join(root, 'root.json')
  const good = unsafeCast<Record<string, string>>(unseal(readFileSync(path)))
  const write = (change: object): void => writeFileSync(path, seal({ ...good, ...change }))
  write({ incompat: ['zstd_pages'] })
  await t.throwsAsync(take(root), { code: 'state_root_incompatible', message: /zstd_pages/u })
  write({ format: 2 })
  await t.throwsAsync(take(root), { code: 'state_root_incompatible', message: /format 2/u })
  write({ compat: ['colours'], extra: true })
  await (await take(root)).release()
  t.like(unseal(readFileSync(path)), { generation: 2, compat: ['colours'], extra: true })
})

test('state-17: any changed bit of root.json is noticed', async (t) => {
  const root = folder(t)
  await (await take(root)).release()
  const path = join(root, 'root.json')
  const good = readFileSync(path)
  let noticed = 0
  for (let bit = 0; bit < good.length * 8; bit += 1) {
    const bad = Buffer.from(good)
    bad[bit >> 3] = (bad[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    if (unseal(bad) === undefined) noticed += 1
  }
  t.is(noticed, good.length * 8)
  writeFileSync(path, good.subarray(0, 40))
  await t.throwsAsync(take(root), { code: 'state_root_damaged', message: /root\.json/u })
})

test('half-written files of an earlier start are swept, foreign ones are not mistaken for them', async (t) => {
  const root = folder(t)
  writeFileSync(join(root, 'root.json.12345'), '{"form')
  writeFileSync(join(root, 'daemon.lock'), '')
  const lock = await take(root)
  t.deepEqual(readdirSync(root), ['daemon.lock', 'lock', 'owner.json', 'root.json'])
  await lock.release()
})

test('a refused start leaves the lock free', async (t) => {
  const root = folder(t)
  const full = lying({ replace: () => Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC' })) })
  await t.throwsAsync(take(root, { disk: full }), { code: 'state_root_full' })
  const readOnly = lying({ replace: () => Promise.reject(Object.assign(new Error('read-only'), { code: 'EROFS' })) })
  await t.throwsAsync(take(root, { disk: readOnly }), { code: 'state_root_read_only' })
  t.deepEqual(readdirSync(root), ['daemon.lock'])
  await (await take(root)).release()
})

for (const name of ['root.json', 'manifest.json', 'watermark.json', 'owner.json', 'daemon.lock'])
  test(`state-4: a pipe, a link or a folder in the place of ${name} is refused by name, not waited for`, async (t) => {
    const root = folder(t)
    await (await take(root)).release()
    const path = join(root, name)
    for (const make of ['mkfifo', 'ln -s /dev/zero', 'mkdir']) {
      rmSync(path, { force: true, recursive: true })
      const [program = '', ...args] = [...make.split(' '), path]
      t.is(spawnSync(program, args).status, 0)
      await t.throwsAsync(take(root), { code: 'state_root_not_regular', message: new RegExp(name, 'u') })
      await t.throwsAsync(
        verifyRoot({ root, disk: createDisk(), clock }).then((report) => {
          if (!report.clean) throw new Error(JSON.stringify(report.findings))
        }),
        { message: new RegExp(name, 'u') },
      )
    }
  })

test('state-27: a pipe in the place of backup.json is refused', async (t) => {
  const backup = folder(t)
  t.is(spawnSync('mkfifo', [join(backup, 'backup.json')]).status, 0)
  await t.throwsAsync(verifyBackup({ folder: backup, disk: createDisk(), clock }), { code: 'state_root_not_regular' })
})
