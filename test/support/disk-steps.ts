/** Each call of the disk once, in the same order on any disk. */
import { openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Disk } from '../../core/state/disk/disk.js'
import { createDisk } from '../../core/state/disk/real-disk.js'

export const runSteps = async (disk: Disk, root: string, next: () => void): Promise<void> => {
  const at = (name: string): string => join(root, name)
  const steps: (() => Promise<unknown>)[] = [
    () => disk.makeFolder(at('a')),
    () => disk.makeFolder(at('a')),
    () => disk.syncFolder(root),
    async () => {
      const file = await disk.open(at('a/f'), 'create')
      await file.write(Buffer.from('abc'), 0)
      await file.sync()
      await file.write(Buffer.alloc(100_000), 3)
      await file.truncate(10)
      await file.sync()
      await file.close()
    },
    () => disk.replace(at('a/g'), Buffer.from('one')),
    () => disk.replace(at('a/g'), Buffer.alloc(100_000)),
    () => disk.link(at('a/f'), at('a/h')),
    () => disk.rename(at('a/h'), at('a/i')),
    () => disk.syncFolder(at('a')),
    async () => {
      for (const name of ['f', 'g', 'i']) await disk.unlink(at(`a/${name}`))
    },
    () => disk.removeFolder(at('a')),
  ]
  for (const step of steps) {
    await step()
    next()
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [root = '', acks = ''] = process.argv.slice(2)
  const disk = createDisk()
  await disk.makeFolder(root)
  const marks = openSync(acks, 'a', 0o600)
  await runSteps(disk, root, () => void writeSync(marks, 'step\n'))
}
