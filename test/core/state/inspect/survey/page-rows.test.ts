import test from 'ava'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { createScratch } from '../../../../../core/state/disk/scratch.js'
import { createPageRows } from '../../../../../core/state/inspect/survey/page-rows.js'
import { digestOf } from '../../../../../core/state/inspect/survey/row-digest.js'

const digest = (page: number, offset: number) => digestOf([`n${offset}`, page, offset, 10])

test('rows that come in any order are found by lines in theirs, each once, and a wrong one is not', (t) => {
  const scratch = createScratch()
  const rows = createPageRows(scratch, 2)
  const offsets = Array.from({ length: 5000 }, (_, n) => 100 + ((n * 7919) % 5000) * 10)
  for (const offset of offsets) for (const page of [1, 2]) rows.add(page, offset, digest(page, offset))
  rows.add(2, 7, digest(2, 7))
  const first = rows.of(1)
  for (const offset of offsets.toSorted((a, b) => a - b)) {
    t.false(first.takes(offset - 5, digest(1, offset - 5)))
    t.true(first.takes(offset, digest(1, offset)))
    t.false(first.takes(offset, digest(1, offset)))
  }
  t.false(rows.of(2).takes(100, digest(1, 100)))
  t.false(rows.of(3).takes(100, digest(3, 100)))
  t.deepEqual([rows.rows, rows.taken], [10_001, 5000])
  scratch.close()
})

test('of any number of rows a page keeps less than 1024 in memory', (t) => {
  let kept = 0
  const scratch = createScratch()
  const rows = createPageRows({ ...scratch, add: (bytes) => ((kept += bytes.length / 12), scratch.add(bytes)) }, 1)
  for (let n = 1; n <= 50_000; n += 1) {
    rows.add(1, n * 10, digest(1, n * 10))
    if (n - kept >= 1024) t.fail(`${n - kept} of ${n}`)
  }
  const page = rows.of(1)
  for (let n = 1; n <= 50_000; n += 1) if (!page.takes(n * 10, digest(1, n * 10))) t.fail(`row ${n}`)
  t.is(rows.taken, 50_000)
  scratch.close()
})

test('of any number of pages less than 2^18 rows are kept in memory', (t) => {
  let kept = 0
  const scratch = createScratch()
  const pages = 5000
  const rows = createPageRows({ ...scratch, add: (bytes) => ((kept += bytes.length / 12), scratch.add(bytes)) }, pages)
  for (let n = 0; n < 80 * pages; n += 1) {
    rows.add(n % pages, n, digest(n % pages, n))
    if (n + 1 - kept >= 2 ** 18) return t.fail(`${n + 1 - kept} of ${n + 1}`)
  }
  const page = rows.of(7)
  for (let n = 0; n < 80; n += 1) t.true(page.takes(n * pages + 7, digest(7, n * pages + 7)))
  scratch.close()
})

test('a scratch file has no name: nothing is left of it, whatever happens', (t) => {
  const before = new Set(readdirSync(tmpdir()))
  const scratch = createScratch()
  const at = scratch.add(Buffer.from('some bytes'))
  t.is(scratch.add(Buffer.from(', and more')), 10)
  t.is(Buffer.from(scratch.read(at, 20)).toString(), 'some bytes, and more')
  const made = readdirSync(tmpdir()).filter((name) => !before.has(name) && /^holdfast-\w{6}$/u.test(name))
  t.deepEqual(
    made.filter((name) => readdirSync(`${tmpdir()}/${name}`).includes('scratch')),
    [],
  )
  scratch.close()
})
