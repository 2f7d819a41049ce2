import test from 'ava'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fault } from '../../../../core/base/assert.js'
import type { Disk, DiskFile } from '../../../../core/state/disk/disk.js'
import { verifyRoot } from '../../../../core/state/inspect/verify.js'
import { clock, declared, disk, holdRoot } from '../../../support/kept-root.js'
import { note, tempRoot } from '../../../support/notes.js'

/** The files of a root in memory, for reading only. */
const memoryDisk = (root: string): { readonly files: Map<string, Buffer>; readonly disk: Disk } => {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name))
  const files = new Map(names.filter((path) => statSync(path).isFile()).map((path) => [path, readFileSync(path)]))
  const stats = new Map([root, ...names].map((path) => [path, disk.stat(path)]))
  const lists = new Map(
    [root, ...names].map((path) => [
      path,
      names
        .filter((name) => dirname(name) === path)
        .map((name) => name.slice(path.length + 1))
        .toSorted(),
    ]),
  )
  const refuse = (): Promise<never> => Promise.reject(fault('a check changes nothing'))
  const fileAt = (path: string): DiskFile => {
    const bytes = files.get(path) ?? Buffer.alloc(0)
    return {
      path,
      size: () => bytes.length,
      read: (position, length) => bytes.subarray(position, position + length),
      write: refuse,
      sync: refuse,
      truncate: refuse,
      close: async () => {},
    }
  }
  return {
    files,
    disk: {
      open: refuse,
      replace: refuse,
      rename: refuse,
      unlink: refuse,
      link: refuse,
      makeFolder: refuse,
      removeFolder: refuse,
      restrict: refuse,
      syncFolder: refuse,
      openSync: fileAt,
      readFile: (path) => files.get(path),
      list: (path) => lists.get(path) ?? [],
      stat: (path) => stats.get(path),
      space: () => ({ free: 1e12, type: 0 }),
    },
  }
}

/** What only people read, and what nobody does. */
const harmless = /\/(?:ballast|daemon\.lock|owner\.json)$/u

test('every single bit of a root that is flipped is noticed, with the path of its file', async (t) => {
  const held = await holdRoot(tempRoot(t), disk, { watermarkMs: 1 })
  await held.state.commit((tx) => {
    tx.insert(held.people, { name: 'ann' })
    tx.insert(held.notes, note(1, { done: true }))
    tx.insert(held.notes, note(2))
    tx.append(held.journal, 'ann', 'one')
  })
  await held.state.commit((tx) => tx.remove(held.notes, 'n2', 'test'))
  await held.checkpoint()
  await held.state.commit((tx) => {
    tx.put(held.notes, note(1))
    tx.append(held.journal, 'ann', 'two')
  })
  await held.state.blobs('pictures').put(Buffer.from('a picture'))
  await held.state.document<{ theme: string }>('settings').write({ theme: 'dark' })
  await setTimeout(100)
  await held.die()
  const { files, disk: memory } = memoryDisk(held.lock.root)
  const check = () => verifyRoot({ root: held.lock.root, disk: memory, clock, declared, live: false })
  t.deepEqual((await check()).findings, [])
  let bits = 0
  for (const [path, bytes] of files) {
    if (harmless.test(path)) continue
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const at = bit >> 3
      const whole = bytes[at] ?? 0
      bytes[at] = whole ^ (1 << (bit & 7))
      const { clean, findings } = await check()
      bytes[at] = whole
      if (clean || !findings.some(({ file }) => file === path))
        t.fail(`bit ${bit & 7} of byte ${at} of ${path} went unnoticed: ${JSON.stringify(findings)}`)
      bits += 1
    }
  }
  t.true(bits > 20_000, `${bits} bits`)
})
