import test from 'ava'
import type { Disk } from '../../../../core/state/disk/disk.js'
import { createPins } from '../../../../core/state/disk/pins.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'

/** A disk of names alone, on which each removal takes a turn. */
const namesDisk = (names: Set<string>): Disk => ({
  ...createDisk(),
  stat: (path) =>
    names.has(path) ? { kind: 'file', size: 0, mode: 0o600, uid: 0, dev: 1, ino: 1, links: 1 } : undefined,
  unlink: async (path) => {
    await Promise.resolve()
    names.delete(path)
  },
  replace: async (path) => void names.add(path),
})

test('what is written again, or pinned again, while put-off removals are done stays', async (t) => {
  const names = new Set(['/a', '/b', '/c', '/d'])
  const { disk, pin } = createPins(namesDisk(names))
  const free = pin(() => true)
  for (const path of ['/a', '/b', '/c', '/d']) await disk.unlink(path)
  t.is(names.size, 4)
  const freed = free()
  const again = pin((path) => path === '/c')
  await disk.replace('/b', new Uint8Array())
  await freed
  t.deepEqual([...names], ['/b', '/c'])
  await again()
  t.deepEqual([...names], ['/b'])
})
