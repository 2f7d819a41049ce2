/** What long work tells of itself comes to exactly what it said that there is. */
import test from 'ava'
import { join } from 'node:path'
import { createIds } from '../../../../core/base/ids.js'
import type { Progress } from '../../../../core/base/text/progress.js'
import { writeBackup } from '../../../../core/state/inspect/backup.js'
import { restoreBackup, verifyBackup } from '../../../../core/state/inspect/backup-restore.js'
import { repairRoot } from '../../../../core/state/inspect/repair.js'
import { cutStopped } from '../../../../core/state/inspect/snapshot.js'
import { verifyRoot } from '../../../../core/state/inspect/verify.js'
import { clock, declared, disk, keptRoot } from '../../../support/kept-root.js'
import { tempRoot } from '../../../support/notes.js'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

const counting = () => {
  const parts: { readonly what: string; readonly bytes: number; done: number }[] = []
  const progress: Progress = {
    begin: (what, bytes) => void parts.push({ what, bytes, done: 0 }),
    advance: (bytes) => {
      const part = parts.at(-1)
      if (part !== undefined) part.done += bytes
    },
    end: () => {},
  }
  return { parts, progress }
}

test('a check, a repair, a backup and its way back tell of each byte once', async (t) => {
  const root = await keptRoot(t)
  const { parts, progress } = counting()
  await verifyRoot({ root, disk, clock, declared, progress })
  await repairRoot({ root, disk, clock, ids: createIds(clock), log: silent, declared, progress })
  const to = join(tempRoot(t), 'backup')
  await writeBackup({ root, to, disk, clock, cut: cutStopped(root, disk), progress })
  await verifyBackup({ folder: to, disk, clock, declared, progress })
  await restoreBackup({ folder: to, disk, clock, progress }, join(tempRoot(t), 'restored'))
  t.deepEqual(
    parts.map(({ what }) => what),
    ['verify', 'verify', 'copy', 'compare', 'verify', 'compare', 'verify', 'copy'],
  )
  for (const { what, bytes, done } of parts) {
    t.true(bytes > 1000, what)
    // A few small files are made while the others are copied.
    if (what === 'copy') t.true(Math.abs(bytes - done) < 10_000, `${what}: ${done} of ${bytes}`)
    else t.is(done, bytes, what)
  }
})
