import test, { type ExecutionContext } from 'ava'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, rmdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClock } from '../../../../core/base/clock.js'
import { createIds } from '../../../../core/base/ids.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { openState } from '../../../../core/state/store/root.js'

const clock = createClock()
const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
interface Note {
  readonly id: string
  readonly text: string
}

/** The path of a file system of its own, so small that it fills; undefined where mounting is not permitted. */
const mountSmall = (t: ExecutionContext): string | undefined => {
  const path = mkdtempSync(join(tmpdir(), 'holdfast-full-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=0700', 'tmpfs', path])
  if (status !== 0) {
    rmdirSync(path)
    t.log('not run: mounting a small file system is not permitted here')
    t.pass()
    return undefined
  }
  t.teardown(() => {
    spawnSync('umount', ['-l', path])
    rmdirSync(path)
  })
  return path
}

const open = async (root: string, generation: number, freeBytes = 0) => {
  const opened = await openState({
    root,
    disk: createDisk(),
    clock,
    ids: createIds(clock),
    log: quiet,
    publish: () => {},
    generation,
    tuning: { ballastBytes: 128 * 1024, freeBytes, retryMs: 1_000_000 },
  })
  const notes = opened.state.collection<Note>({
    name: 'notes',
    version: 1,
    id: (note) => note.id,
    indexes: { all: { group: () => 'all' } },
  })
  await opened.load()
  return {
    ...opened,
    notes,
    document: opened.state.document<{ text: string }>('settings'),
    blobs: opened.state.blobs('bytes'),
  }
}

test(
  'a disk that fills keeps every acknowledged commit, the old document and whole blobs, and takes changes again ' +
    'when there is room',
  async (t) => {
    const mounted = mountSmall(t)
    if (mounted === undefined) return
    const root = join(mounted, 'state')
    const life = await open(root, 1)
    await life.document.write({ text: 'old' })
    const ref = await life.blobs.put(Buffer.alloc(100_000, 1))
    writeFileSync(join(mounted, 'filler'), Buffer.alloc(2_900_000))
    const acked: string[] = []
    const refused = async (): Promise<string> => {
      for (let n = 0; ; n += 1) {
        try {
          await life.state.commit((tx) => tx.insert(life.notes, { id: `n${n}`, text: 'x'.repeat(2000) }))
          acked.push(`n${n}`)
        } catch (cause) {
          return cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
        }
      }
    }
    t.is(await refused(), 'storage_write_failed')
    t.like(life.state.health, { mode: 'read_only', reason: 'disk_full' })
    t.is(life.notes.count('all', 'all'), acked.length)
    await t.throwsAsync(life.document.write({ text: 'new' }), { code: 'storage_read_only' })
    await t.throwsAsync(life.blobs.put(Buffer.alloc(300_000, 2)), { code: 'storage_read_only' })
    await t.throwsAsync(createDisk().replace(life.document.path, Buffer.alloc(500_000)), { code: 'ENOSPC' })
    t.deepEqual(readdirSync(join(root, 'documents')), ['settings.json'])
    rmSync(join(mounted, 'filler'))
    t.true(await life.recover())
    await life.state.commit((tx) => tx.insert(life.notes, { id: 'after', text: 'room again' }))
    await life.close()
    const next = await open(root, 2)
    t.deepEqual([...next.notes.ids('all', 'all')].toSorted(), [...acked, 'after'].toSorted())
    t.deepEqual(next.document.read(), { text: 'old' })
    t.is((await next.blobs.read(ref))?.length, 100_000)
    await next.close()
  },
)

test('a start on a full disk serves what is there, refuses changes, and takes them when there is room', async (t) => {
  const mounted = mountSmall(t)
  if (mounted === undefined) return
  const root = join(mounted, 'state')
  const filler = join(mounted, 'filler')
  const life = await open(root, 1)
  await life.state.commit((tx) => tx.insert(life.notes, { id: 'kept', text: 'before' }))
  await life.close()
  const full = spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4096'])
  t.not(full.status, 0)

  const next = await open(root, 2, 64 * 1024)
  t.like(next.state.health, { mode: 'read_only', reason: 'disk_full' })
  t.is(next.notes.find('kept')?.text, 'before')
  await t.throwsAsync(
    next.state.commit((tx) => tx.insert(next.notes, { id: 'refused', text: '' })),
    { code: 'storage_read_only' },
  )
  rmSync(filler)
  t.true(await next.recover())
  await next.state.commit((tx) => tx.insert(next.notes, { id: 'after', text: 'room again' }))
  await next.close()
})
