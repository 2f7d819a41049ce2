/** Files of any size: read in pieces, and never with one read that is too large. */
import test from 'ava'
import { closeSync, openSync, ftruncateSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClock } from '../../../../core/base/clock.js'
import type { Disk } from '../../../../core/state/disk/disk.js'
import { createFileLines } from '../../../../core/state/format/file-lines.js'
import { saltSeed, sealedLine } from '../../../../core/state/format/line.js'
import { lengthAt, scanLineFile, valueAt } from '../../../../core/state/format/line-file.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { scanSegment } from '../../../../core/state/format/segment.js'
import { verifyRoot } from '../../../../core/state/inspect/verify.js'
import { note, openNotes, tempRoot } from '../../../support/notes.js'

/** The real disk, which counts reads and remembers the longest. */
const countingDisk = (): { disk: Disk; reads: number[] } => {
  const disk = createDisk()
  const reads: number[] = []
  const openForReading: Disk['openSync'] = (path) => {
    const file = disk.openSync(path)
    const read = (position: number, length: number): Uint8Array => {
      reads.push(length)
      return file.read(position, length)
    }
    return { ...file, read }
  }
  return { disk: { ...disk, openSync: openForReading }, reads }
}

const seed = saltSeed('00000001')
const rowsOf = (n: number): string => `{"rows":[[${n},"${'é'.repeat(n % 90)}"]]`
const indexLines = (count: number): Buffer =>
  Buffer.concat([
    sealedLine('{"v":1,"k":"index","of":"notes","salt":"00000001","mark":"m"', 0),
    ...Array.from({ length: count }, (_, n) => sealedLine(rowsOf(n), seed)),
  ])

test('a file is read in pieces, forwards and backwards, with lines across their borders', (t) => {
  const path = join(tempRoot(t), 'index')
  const bytes = indexLines(500)
  writeFileSync(path, bytes)
  for (const piece of [64, 1000, 1_000_000]) {
    const { disk, reads } = countingDisk()
    const lines = createFileLines(disk, path, piece)
    const { starts, faults } = scanLineFile(lines, bytes.length, {})
    t.deepEqual([starts.length, faults], [500, []], `pieces of ${piece}`)
    t.true(Math.max(...reads) <= 8 * piece, `pieces of ${piece}: ${Math.max(...reads)}`)
    const seen = starts.toReversed().map((start) => valueAt(lines, start))
    t.deepEqual(seen[0], { ...JSON.parse(`${rowsOf(499)}}`), ...trustedSeal(seen[0]) })
    t.is(
      starts.reduce((sum, start) => sum + lengthAt(lines, start), starts[0] ?? 0),
      bytes.length,
    )
  }
})
const trustedSeal = (value: unknown): object => (value instanceof Object && 'c' in value ? { c: value.c } : {})

test('backwards, a piece holds many lines: a file is not read once for each', (t) => {
  const path = join(tempRoot(t), 'index')
  const bytes = indexLines(2000)
  writeFileSync(path, bytes)
  const { disk, reads } = countingDisk()
  const lines = createFileLines(disk, path, 20_000)
  const { starts } = scanLineFile(lines, bytes.length, {})
  reads.length = 0
  for (const start of starts.toReversed()) valueAt(lines, start)
  t.true(reads.length < 40, `${reads.length} reads`)
})

test('a changed line and a missing end are found whatever the size of the pieces', (t) => {
  const path = join(tempRoot(t), 'index')
  const bytes = indexLines(50)
  const at = bytes.indexOf('[[20,') + 2
  bytes[at] = 57
  writeFileSync(path, bytes.subarray(0, -3))
  for (const piece of [64, 300, 100_000]) {
    const { starts, faults } = scanLineFile(createFileLines(createDisk(), path, piece), bytes.length - 3, {})
    t.is(starts.length, 48)
    t.deepEqual(
      faults.map(({ rule }) => rule),
      ['the checksum does not match', 'the line has no end'],
    )
  }
})

test('a segment is told torn or damaged alike in pieces of any size', async (t) => {
  const root = tempRoot(t)
  const { state, notes } = await openNotes(root)
  for (let n = 0; n < 20; n += 1) await state.commit((tx) => tx.insert(notes, note(n)))
  const [name = ''] = readdirSync(join(root, 'log'))
  const path = join(root, 'log', name)
  truncateSync(path, statSync(path).size - 4)
  const disk = createDisk()
  const header = JSON.parse(Buffer.from(createFileLines(disk, path).line(0) ?? []).toString())
  const expected = { file: path, root: header.root, no: header.no, first: header.first, longestTail: 1000 }
  for (const piece of [64, 500, 1_000_000]) {
    let visited = 0
    const scan = scanSegment(createFileLines(disk, path, piece), expected, () => (visited += 1))
    t.like(scan, { verdict: 'torn', last: 19 })
    t.is(visited, 19)
    t.is(scanSegment(createFileLines(disk, path, piece), { ...expected, longestTail: 10 }, () => {}).verdict, 'damage')
  }
})

const grow = (path: string, size: number): void => {
  const fd = openSync(path, 'r+')
  ftruncateSync(fd, size)
  closeSync(fd)
}

test('files of more than 2 GiB start, are checked, and are cut to what counts', async (t) => {
  const root = tempRoot(t)
  const first = await openNotes(root)
  for (let n = 0; n < 3; n += 1)
    await first.state.commit((tx) => {
      tx.insert(first.notes, note(n))
      tx.append(first.journal, 'ann', `${n}`)
    })
  await first.state.commit((tx) => tx.remove(first.notes, 'n2', 'test'))
  await first.checkpoint()
  await first.state.commit((tx) => tx.insert(first.notes, note(3)))
  const big = 2 ** 31 + 10
  const files = ['data/notes', 'streams/journal', 'tombstones'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => join(root, folder, name)),
  )
  for (const path of files) grow(path, big)
  const clock = createClock()
  const { findings } = await verifyRoot({ root, disk: createDisk(), clock, live: false })
  t.deepEqual(
    findings.filter(({ severity, kind }) => severity === 'damage' && kind !== 'root'),
    [],
  )
  const second = await openNotes(root)
  t.is(second.report.damage, undefined)
  t.deepEqual(
    [0, 1, 2, 3].map((n) => second.notes.has(`n${n}`)),
    [true, true, false, true],
  )
  for (const path of files) t.true(statSync(path).size < 10_000, path)
  await second.close()
  const segment = join(root, 'log', readdirSync(join(root, 'log')).toSorted().at(-1) ?? '')
  grow(segment, big)
  const third = await openNotes(root)
  t.regex(third.report.damage?.rule ?? '', /no end/u)
  t.is(third.state.health.reason, 'damaged')
  await third.close()
})
