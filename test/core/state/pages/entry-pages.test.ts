import test, { type ExecutionContext } from 'ava'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClock } from '../../../../core/base/clock.js'
import { createPause } from '../../../../core/base/turns.js'
import { createIds } from '../../../../core/base/ids.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { cutLines } from '../../../../core/state/pages/entry-codec.js'
import { EntryPages } from '../../../../core/state/pages/entry-pages.js'
import { OpenPages } from '../../../../core/state/pages/open-pages.js'
import { noTarget, type Target } from '../../../../core/state/pages/target.js'
import { createBlockCache } from '../../../../core/state/tables/block-cache.js'

/** Entries in as many tables as there were checkpoints, and how many lines were read so far. */
const openEntries = (t: ExecutionContext) => {
  const folder = join(mkdtempSync(join(tmpdir(), 'holdfast-entries-')), 'journal')
  t.teardown(() => rmSync(join(folder, '..'), { recursive: true, force: true }))
  let reads = 0
  const files = new OpenPages(256)
  const touch = files.touch.bind(files)
  files.touch = (page) => {
    reads += 1
    touch(page)
  }
  const pages = new EntryPages<string>({
    disk: createDisk(),
    folder,
    ids: createIds(createClock()),
    root: 'r',
    of: 'journal',
    version: 1,
    pageBytes: 1_000_000,
    files,
    blocks: createBlockCache(0),
    pause: createPause(1),
    tables: { blockRows: 8, levelRows: 1, fanOut: 2, fullRows: 1 },
    onDamage: () => {},
  })
  t.teardown(() => pages.upkeep.close())
  const all = new Map<string, string[]>()
  const checkpoint = async (added: Readonly<Record<string, number>>, target: Target = noTarget): Promise<void> => {
    const owners = new Map<string, { first: number; texts: readonly string[] }>()
    for (const [owner, count] of Object.entries(added)) {
      const known = all.get(owner) ?? []
      const texts = Array.from({ length: count }, (_, at) => JSON.stringify(`${owner} ${known.length + at + 1}`))
      owners.set(owner, { first: known.length + 1, texts })
      all.set(owner, [...known, ...texts])
    }
    const draft = await pages.write({ owners }, target)
    draft?.apply()
  }
  return { pages, all, checkpoint, reads: () => reads }
}

test('an entry among many tables is found in a few of them, its neighbour in one, and another of its line in none', async (t) => {
  const { pages, all, checkpoint, reads } = openEntries(t)
  const tables = 64
  for (let n = 0; n < tables; n += 1)
    await checkpoint({ busy: 3, ...(n % 7 === 3 && { rare: 2 }), ...(n === 9 && { once: 1 }), [`other-${n}`]: 1 })
  for (const [owner, texts] of all)
    for (let after = 0; after <= texts.length; after += 1)
      for (const length of [0, 1, 2, 5, texts.length])
        t.deepEqual(
          pages.read(owner, after, Math.min(texts.length, after + length)).map(({ seq, entry }) => `${seq} ${entry}`),
          texts.slice(after, after + length).map((text, at) => `${after + at + 1} ${String(JSON.parse(text))}`),
        )
  const costOf = (owner: string, after: number): number => {
    const before = reads()
    pages.read(owner, after, after + 1)
    return reads() - before
  }
  costOf('busy', tables * 3 - 1)
  t.true(costOf('busy', 4) < tables / 2, 'far from the last one')
  t.true(costOf('rare', 10) < tables / 2)
  costOf('busy', 30)
  t.true(costOf('rare', 3) <= 3, 'in the table of the last one')
  t.is(costOf('busy', 31), 0, 'in the line of its own last one, whatever was read of others')
})

test('what was read of an owner before it fell is not looked for where it was', async (t) => {
  const { pages, checkpoint } = openEntries(t)
  const kept = { kind: 'runs' }
  await checkpoint({ one: 2, two: 2 }, { part: 1, fall: 0, kept })
  await checkpoint({ one: 2 }, { part: 2, fall: 0, kept })
  const read = (owner: string, after: number): string[] => pages.read(owner, after, after + 1).map(({ entry }) => entry)
  t.deepEqual([...read('one', 0), ...read('two', 1)], ['one 1', 'two 2'])
  await checkpoint({}, { part: 2, fall: 1, kept })
  t.deepEqual([read('one', 0), read('one', 1), read('two', 1), read('one', 2)], [[], [], [], ['one 3']])
})

test('lines of entries are short, so that one entry is read without many others', (t) => {
  const texts = Array.from({ length: 1000 }, () => 'x'.repeat(100))
  const lines = cutLines(texts)
  t.true(lines.every(({ start, end }) => (end - start) * 100 <= 4200))
  t.deepEqual([lines[0]?.start, lines.at(-1)?.end], [0, 1000])
  t.deepEqual(cutLines(['x'.repeat(100_000), 'y']), [
    { start: 0, end: 1 },
    { start: 1, end: 2 },
  ])
})
