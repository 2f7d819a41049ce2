/** Backups of roots of which partitions fell, and while they fall. */
import test from 'ava'
import { join } from 'node:path'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { writeBackup } from '../../../../core/state/inspect/backup.js'
import { restoreBackup, verifyBackup } from '../../../../core/state/inspect/backup-restore.js'
import { declared, openKept, verifyKept, viewKept, type KeptNotes } from '../../../support/kept-notes.js'
import { tempRoot } from '../../../support/notes.js'

const disk = createDisk()

const backUp = async (life: KeptNotes, folder: string, meanwhile: () => Promise<unknown>) =>
  life.snapshot(async (cut) => {
    await meanwhile()
    return writeBackup({ root: life.root, to: folder, disk, clock: life.clock, cut })
  })

test('a backup of a root holds what it held at the cut, also where its files fall before they are copied', async (t) => {
  const [life, copies] = [await openKept(tempRoot(t)), tempRoot(t)]
  const old = await life.write()
  await life.write({ done: false, owner: 'bob' })
  await life.checkpoint()
  life.pass()
  await life.write()
  await life.checkpoint()
  const before = viewKept(life)
  await backUp(life, join(copies, 'before'), () => life.fall(1))
  const after = viewKept(life)
  t.true(life.notes.hasFallen(old.id))
  await backUp(life, join(copies, 'after'), async () => {})
  await life.close()
  for (const [name, view] of Object.entries({ before, after })) {
    const place = { folder: join(copies, name), disk, clock: life.clock, declared }
    const check = await verifyBackup(place)
    t.deepEqual([check.faults, check.root.findings], [[], []], name)
    const root = join(copies, `${name}-restored`)
    await restoreBackup(place, root)
    const restored = await openKept(root, { startedAt: life.clock.now() })
    t.deepEqual(viewKept(restored), view, name)
    t.is(restored.notes.hasFallen(old.id), name === 'after')
    await restored.close()
    t.deepEqual((await verifyKept(root)).findings, [], name)
  }
})
