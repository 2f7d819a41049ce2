import test from 'ava'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createWrappedDisk } from '../../../../core/testing/wrapped-disk.js'
import type { Disk } from '../../../../core/state/disk/disk.js'
import { writeBackup } from '../../../../core/state/inspect/backup.js'
import { restoreBackup, verifyBackup } from '../../../../core/state/inspect/backup-restore.js'
import { showEntries, showRecords } from '../../../../core/state/inspect/show.js'
import { cutStopped } from '../../../../core/state/inspect/snapshot.js'
import { verifyRoot } from '../../../../core/state/inspect/verify.js'
import {
  clock,
  declared,
  disk,
  holdRoot,
  keptRoot,
  smallReads,
  writeNotes,
  type HeldRoot,
} from '../../../support/kept-root.js'
import { tempRoot } from '../../../support/notes.js'

const backupOf = (held: HeldRoot, to: string) =>
  held.snapshot((cut) => writeBackup({ root: held.lock.root, to, disk, clock, cut }))
const flip = (file: string, at: number): void => {
  const bytes = readFileSync(file)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(file, bytes)
}
const contentOf = (root: string) => ({
  notes: [...(showRecords({ root, disk }, 'notes').value ?? [])].toSorted(([a], [b]) => a.localeCompare(b)),
  ann: showEntries({ root, disk }, 'journal', 'ann').value,
  bob: showEntries({ root, disk }, 'journal', 'bob').value,
})
const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .toSorted()

test('state-25: a backup under load and checkpoints is one commit of the daemon, ten times out of ten', async (t) => {
  const held = await holdRoot(tempRoot(t))
  await held.state.commit((tx) => tx.insert(held.people, { name: 'ann' }))
  for (let round = 0; round < 10; round += 1) {
    const away = tempRoot(t)
    const work = [
      writeNotes(held, round * 30, 150),
      round % 2 === 0 ? held.checkpoint() : held.state.blobs('pictures').put(Buffer.from(`picture ${round}`)),
    ]
    await setTimeout(round % 4)
    const report = await backupOf(held, join(away, 'backup'))
    await Promise.all(work)
    const check = await verifyBackup({ folder: join(away, 'backup'), disk, clock, declared })
    t.deepEqual([...check.faults, ...check.root.findings], [])
    t.is(check.root.sequence, report.sequence)
    // Each commit puts one note and appends one entry: a cut between commits holds as many entries as commits of that
    // kind.
    t.is(check.root.entries['journal'] ?? 0, report.sequence - 1)
  }
  await held.end()
  t.deepEqual((await verifyRoot({ root: held.lock.root, disk, clock, declared })).findings, [])
})

test('files that a checkpoint replaces stay until the backup has them, and go then', async (t) => {
  const held = await holdRoot(tempRoot(t))
  await held.state.commit((tx) => tx.insert(held.people, { name: 'ann' }))
  await writeNotes(held, 1, 50)
  const picture = await held.state.blobs('pictures').put(Buffer.from('a picture'))
  const to = join(tempRoot(t), 'backup')
  await held.snapshot(async (cut) => {
    await held.checkpoint()
    await held.state.blobs('pictures').remove(picture)
    await writeNotes(held, 1, 50)
    await held.checkpoint()
    return writeBackup({ root: held.lock.root, to, disk, clock, cut })
  })
  const check = await verifyBackup({ folder: to, disk, clock, declared })
  t.true(check.clean, JSON.stringify(check.root.findings))
  t.is(check.root.sequence, 51)
  t.true(check.backup.files.some(({ path }) => path.endsWith(picture.sha256)))
  t.false(held.state.blobs('pictures').has(picture))
  await held.end()
  t.deepEqual((await verifyRoot({ root: held.lock.root, disk, clock, declared })).findings, [])
})

test('a backup holds the whole log also of a daemon that could not begin to write, and there is none of a damaged log', async (t) => {
  const root = tempRoot(t)
  const first = await holdRoot(root)
  await first.state.commit((tx) => tx.insert(first.people, { name: 'ann' }))
  await writeNotes(first, 1, 5)
  await first.die()
  const crowded: Disk = {
    ...disk,
    open: (path, how) =>
      how === 'create' && path.includes('/log/')
        ? Promise.reject(Object.assign(new Error('too many'), { code: 'EMFILE' }))
        : disk.open(path, how),
  }
  const held = await holdRoot(root, crowded)
  t.is(held.state.health.reason, 'too_many_files')
  const away = tempRoot(t)
  const { sequence } = await backupOf(held, join(away, 'backup'))
  t.is(sequence, 6)
  const check = await verifyBackup({ folder: join(away, 'backup'), disk, clock, declared })
  t.deepEqual([...check.faults, ...check.root.findings], [])
  t.deepEqual(check.root.records, { people: 1, notes: 5 })
  await held.die()
  const [segment = ''] = readdirSync(join(root, 'log'))
  flip(join(root, 'log', segment), 100)
  const damaged = await holdRoot(root)
  t.is(damaged.state.health.reason, 'damaged')
  await t.throwsAsync(backupOf(damaged, join(away, 'other')), { code: 'storage_read_only' })
  t.false(existsSync(join(away, 'other')))
  await damaged.die()
})

test('state-26: a restored root has every record, entry, tombstone, document and blob, and a higher generation', async (t) => {
  const root = await keptRoot(t)
  mkdirSync(join(root, 'secrets'), { mode: 0o700 })
  writeFileSync(join(root, 'secrets/token'), 'keep me', { mode: 0o600 })
  const away = tempRoot(t)
  await writeBackup({ root, to: join(away, 'backup'), disk, clock, cut: cutStopped(root, disk) })
  t.false(filesBelow(away).some((name) => readFileSync(join(away, name), 'utf8').includes('keep me')))
  mkdirSync(join(away, 'restored'), { mode: 0o755 })
  const report = await restoreBackup({ folder: join(away, 'backup'), disk, clock }, join(away, 'restored'))
  t.is(statSync(report.root).mode & 0o777, 0o700, 'a folder that was there is closed, as roots are')
  t.deepEqual(contentOf(report.root), contentOf(root))
  t.deepEqual((await verifyRoot({ root: report.root, disk, clock, declared })).findings, [])
  const before = JSON.parse(readFileSync(join(root, 'root.json'), 'utf8'))
  t.true(report.generation > before.generation)
  const held = await holdRoot(report.root)
  t.true(held.lock.generation > report.generation)
  t.true(held.notes.isDeleted('n7') && held.notes.isDeleted('n9'))
  await t.throwsAsync(
    held.state.commit((tx) => tx.put(held.notes, { id: 'n9', owner: 'ann', at: '1', text: '', done: true })),
    { message: /used before/u },
  )
  t.deepEqual(held.state.document('settings').read(), { theme: 'dark' })
  await writeNotes(held, 200, 10)
  await held.end()
  t.deepEqual((await verifyRoot({ root: report.root, disk, clock, declared })).findings, [])
})

test('state-27: a backup with any one byte changed, a file missing or one too many is refused', async (t) => {
  const root = await keptRoot(t)
  const away = tempRoot(t)
  const folder = join(away, 'backup')
  const fresh = async (): Promise<void> => {
    rmSync(folder, { recursive: true, force: true })
    await writeBackup({ root, to: folder, disk, clock, cut: cutStopped(root, disk) })
  }
  await fresh()
  for (const name of filesBelow(folder)) {
    const file = join(folder, name)
    flip(file, Math.floor(statSync(file).size / 2))
    await t.throwsAsync(restoreBackup({ folder, disk, clock }, join(away, 'restored')), { message: /damaged/u }, name)
    t.false(existsSync(join(away, 'restored')))
    flip(file, Math.floor(statSync(file).size / 2))
  }
  writeFileSync(join(folder, 'root/log/extra'), '', { mode: 0o600 })
  t.false((await verifyBackup({ folder, disk, clock })).clean)
  await fresh()
  rmSync(join(folder, 'root/log'), { recursive: true })
  await t.throwsAsync(restoreBackup({ folder, disk, clock }, join(away, 'restored')), { message: /missing/u })
  await fresh()
  rmSync(join(folder, 'backup.json'))
  await t.throwsAsync(restoreBackup({ folder, disk, clock }, join(away, 'restored')), { message: /no backup.json/u })
})

test('state-28: a backup or a restore never writes where something is, nor into the root itself', async (t) => {
  const root = await keptRoot(t)
  const away = tempRoot(t)
  const cut = cutStopped(root, disk)
  const folder = join(away, 'backup')
  await writeBackup({ root, to: folder, disk, clock, cut })
  await t.throwsAsync(writeBackup({ root, to: folder, disk, clock, cut }), { message: /not an empty folder/u })
  for (const name of ['backup', '..backup'])
    await t.throwsAsync(writeBackup({ root, to: join(root, name), disk, clock, cut }), {
      message: /inside the state root/u,
    })
  await t.throwsAsync(writeBackup({ root, to: join(away, 'a/b'), disk, clock, cut }), { message: /does not exist/u })
  await t.throwsAsync(restoreBackup({ folder, disk, clock }, root), { message: /not an empty folder/u })
  t.deepEqual((await verifyRoot({ root, disk, clock, declared })).findings, [])
  rmSync(join(folder, 'backup.json'))
  await t.throwsAsync(writeBackup({ root, to: folder, disk, clock, cut }), {
    message: /not an empty folder: it holds a copy that was broken off/u,
  })
  await t.throwsAsync(restoreBackup({ folder: join(away, 'none'), disk, clock }, root), { code: 'backup_absent' })
})

test('A6: a backup is made, checked and restored without reading a file of it whole', async (t) => {
  const root = await keptRoot(t)
  const held = await holdRoot(root)
  const large = randomBytes(1_300_000)
  const picture = await held.state.blobs('pictures').put(large)
  const to = join(tempRoot(t), 'backup')
  await held.snapshot((cut) => writeBackup({ root, to, disk: smallReads, clock, cut }))
  await held.end()
  const check = await verifyBackup({ folder: to, disk: smallReads, clock, declared })
  t.deepEqual([...check.faults, ...check.root.findings], [])
  const copy = join(tempRoot(t), 'copy')
  await restoreBackup({ folder: to, disk: smallReads, clock }, copy)
  const restored = await holdRoot(copy)
  t.deepEqual(Buffer.from((await restored.state.blobs('pictures').read(picture)) ?? []), large)
  await restored.end()
})

const noSpace = (): Error => Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })

test('state-36: a copy that has no room says how much it takes, and leaves its folder as it was', async (t) => {
  const root = await keptRoot(t)
  const to = tempRoot(t)
  mkdirSync(to, { recursive: true })
  const cut = cutStopped(root, disk)
  const small: Disk = { ...disk, space: (path) => ({ ...disk.space(path), free: 10 }) }
  const refused = await t.throwsAsync(writeBackup({ root, to, disk: small, clock, cut }))
  t.regex(refused.message, /^The copy takes [\d,]+ bytes, and the file system of \S+ has 10 bytes free\.$/u)
  t.deepEqual(readdirSync(to), [])

  let writes = 0
  const { disk: full } = createWrappedDisk((call) => {
    writes += call === 'write' ? 1 : 0
    if (call === 'write' && writes > 5) throw noSpace()
  })
  await t.throwsAsync(writeBackup({ root, to, disk: full, clock, cut }), { message: /no space is left\.$/u })
  t.deepEqual([writes > 5, readdirSync(to)], [true, []])
  await writeBackup({ root, to, disk, clock, cut })

  const restored = join(tempRoot(t), 'restored')
  const way = { folder: to, clock, declared }
  await t.throwsAsync(restoreBackup({ ...way, disk: small }, restored), { message: /^The copy takes / })
  writes = 0
  await t.throwsAsync(restoreBackup({ ...way, disk: full }, restored), { message: /no space is left\.$/u })
  t.false(existsSync(restored))
  await restoreBackup({ ...way, disk }, restored)
})
