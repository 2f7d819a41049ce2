/** The real disk port: which calls reach the kernel, and in which order. And that the simulated disk makes the same. */
import { basename, dirname, join } from 'node:path'
import test from 'ava'
import fc from 'fast-check'
import type { Disk } from '../../../../core/state/disk/disk.js'
import { codeOf } from '../../../../core/state/errors.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { createSimulatedDisk } from '../../../faults/simulated-disk.js'
import { acksOf, faultsIn, recorders, recordLife, type DiskCall } from '../../../support/disk-calls.js'
import { runSteps } from '../../../support/disk-steps.js'
import { tempRoot } from '../../../support/notes.js'

const isTemporary = (path: string): boolean => /\.\d+$/u.test(path)

for (const how of recorders()) {
  test(`data is synced before its name and its acknowledgement, and names before theirs (${how})`, async (t) => {
    const { root, calls } = await recordLife('disk-life.js', how)
    t.deepEqual(faultsIn(calls, root), [])
    t.is(calls.filter(({ call, path }) => path === acksOf(root) && call === 'write').length, 26)
    const without = (drop: (call: DiskCall) => boolean): string[] =>
      faultsIn(
        calls.filter((call) => call.call !== 'sync' || !drop(call)),
        root,
      )
    const inLog = ({ path }: DiskCall): boolean => dirname(path) === join(root, 'log')
    t.true(without(inLog).length > 0, 'appends without a sync are noticed')
    t.true(
      without(({ path }) => isTemporary(path)).some((fault) => fault.includes('before it was synced')),
      'replacements without a sync are noticed',
    )
    for (const folder of ['', 'log', 'data', 'data/notes', 'streams', 'documents', 'blobs', 'tombstones'])
      t.true(without(({ path }) => path === join(root, folder)).length > 0, `the folder '${folder}' without a sync`)
  })
}

/** The calls of each step, with temporary names made equal. */
const stepsIn = (calls: readonly DiskCall[], isEnd: (call: DiskCall) => boolean, root: string): string[][] => {
  const steps: string[][] = [[]]
  for (const one of calls) {
    if (isEnd(one)) steps.push([])
    else {
      const path = one.path.slice(root.length)
      const shown = `${one.call} ${isTemporary(path) ? `${dirname(path)}/temporary` : path}`
      if (steps.at(-1)?.at(-1) !== shown) steps.at(-1)?.push(shown)
    }
  }
  return steps.slice(0, -1)
}

for (const how of recorders()) {
  test(`the simulated disk takes the same steps as the real one (${how})`, async (t) => {
    const { root, calls } = await recordLife('disk-steps.js', how)
    const begun = calls.filter(({ call, path }) => !(call === 'makeFolder' && path === root))
    const real = stepsIn(
      begun.filter(({ call, path }) => path !== acksOf(root) || call === 'write'),
      ({ path }) => path === acksOf(root),
      root,
    )
    const made: DiskCall[] = []
    const simulated = createSimulatedDisk({
      root: '/root',
      before: ({ call, path }) => {
        if (call !== 'open') made.push({ call: call === 'syncFolder' ? 'sync' : call, path })
      },
    })
    await runSteps(simulated, '/root', () => void made.push({ call: 'write', path: 'end' }))
    // The simulated disk names the new name of a link, the kernel the old one first.
    const linked = made.map((one) => (one.call === 'link' ? { ...one, path: one.path.replace(/h$/u, 'f') } : one))
    t.deepEqual(
      real,
      stepsIn(linked, ({ path }) => path === 'end', '/root'),
    )
    t.true(real.flat().length > 15)
  })
}

const names = ['a', 'b', 'a/x', 'a/y', 'b/x']
const name = fc.constantFrom(...names)
const act = fc.oneof(
  fc.record({ do: fc.constant('replace' as const), name, size: fc.integer({ min: 0, max: 9 }) }),
  fc.record({ do: fc.constant('append' as const), name, size: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ do: fc.constant('create' as const), name }),
  fc.record({ do: fc.constant('cut' as const), name, size: fc.integer({ min: 0, max: 5 }) }),
  fc.record({ do: fc.constantFrom('makeFolder' as const, 'unlink' as const, 'syncFolder' as const), name }),
  fc.record({ do: fc.constantFrom('rename' as const, 'link' as const), name, to: name }),
)
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never

const perform = async (disk: Disk, root: string, one: Act): Promise<void> => {
  const path = join(root, one.name)
  if (one.do === 'replace') return disk.replace(path, Buffer.alloc(one.size, one.size))
  if (one.do === 'rename' || one.do === 'link') return disk[one.do](path, join(root, one.to))
  if (one.do === 'makeFolder' || one.do === 'unlink' || one.do === 'syncFolder') return disk[one.do](path)
  const file = await disk.open(path, one.do === 'create' ? 'create' : 'write')
  try {
    if (one.do === 'append') await file.write(Buffer.alloc(one.size, one.size), file.size())
    if (one.do === 'cut') await file.truncate(one.size)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** What can be seen of the disk. */
const seen = (disk: Disk, root: string): unknown[] =>
  ['.', ...names].map((one) => {
    const path = join(root, one)
    const stat = disk.stat(path)
    const kind = stat?.kind
    return [
      one,
      kind,
      kind === 'folder' ? disk.list(path) : [],
      kind === 'file' ? Buffer.from(disk.readFile(path) ?? []).toString('hex') : undefined,
    ]
  })

/** Only files are renamed, linked and replaced in the daemon, never folders. */
const isOfFiles = (disk: Disk, root: string, one: Act): boolean => {
  const kinds = [one.name, ...('to' in one ? [one.to] : [])].map((path) => disk.stat(join(root, path))?.kind)
  return one.do === 'makeFolder' || one.do === 'syncFolder' || !kinds.includes('folder')
}

test('what can be seen of the simulated disk is what can be seen of the real one', async (t) => {
  const real = createDisk()
  const outcome = (work: Promise<void>): Promise<string> =>
    work.then(
      () => 'done',
      (error: unknown) => codeOf(error) ?? 'refused',
    )
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 20 }), async (acts) => {
      const [root, pretended] = [join(tempRoot(t), 'root'), '/root']
      const simulated = createSimulatedDisk({ root: pretended })
      await real.makeFolder(root)
      for (const one of acts.filter((each) => isOfFiles(real, root, each))) {
        if (!isOfFiles(real, root, one)) continue
        const [there, here] = [
          await outcome(perform(real, root, one)),
          await outcome(perform(simulated, pretended, one)),
        ]
        t.is(there === 'done', here === 'done', `${basename(root)} ${JSON.stringify(one)}: ${there}, ${here}`)
        t.deepEqual(seen(simulated, pretended), seen(real, root), JSON.stringify(acts))
      }
    }),
    { numRuns: 60 },
  )
})
