/** Tables of which every checksum is right, and that say what is not so. */
import test, { type ExecutionContext } from 'ava'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createIds } from '../../../../core/base/ids.js'
import type { Manifest } from '../../../../core/state/format/manifest.js'
import { createPause } from '../../../../core/base/turns.js'
import { seal, unseal } from '../../../../core/state/format/sealed.js'
import { repairRoot } from '../../../../core/state/inspect/repair.js'
import { verifyRoot } from '../../../../core/state/inspect/verify.js'
import { OpenPages } from '../../../../core/state/pages/open-pages.js'
import { TableSet } from '../../../../core/state/pages/table-set.js'
import { createBlockCache } from '../../../../core/state/tables/block-cache.js'
import { shapeOf, type Row } from '../../../../core/state/tables/rows.js'
import { clock, declared, disk, holdRoot, keptRoot } from '../../../support/kept-root.js'
import { rowSet } from '../../../support/row-set.js'

const verify = (root: string) => verifyRoot({ root, disk, clock, declared })
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

type Change = (section: string, rows: Row[]) => Row[]

/** Writes the tables of the notes or of the journal anew, as `change` has the rows of a section. */
const rewriteTables = async (root: string, change: Change, of: 'notes' | 'journal' = 'notes'): Promise<void> => {
  const path = join(root, 'manifest.json')
  const manifest = unseal<Manifest>(readFileSync(path))
  const ref = manifest?.collections[of] ?? manifest?.streams[of]
  if (manifest === undefined || ref === undefined) throw new Error(`no ${of}`)
  const options = {
    disk,
    folder: join(root, of === 'notes' ? 'data' : 'streams', of),
    ids: createIds(clock),
    root: manifest.root,
    of,
    version: 1,
    pageBytes: 1000,
    files: new OpenPages(8),
    blocks: createBlockCache(1_000_000),
    pause: createPause(1),
    tables: { blockRows: 16, levelRows: 1_000_000, fanOut: 8, fullRows: 1_000_000 },
    onDamage: () => {},
  }
  const old = new TableSet(options, ['undeclared'])
  old.load(ref.tables, () => {})
  const [file] = old.tables.files
  const names = [...new Set(old.tables.files.flatMap(({ footer }) => Object.keys(footer.sections)))]
  const sections = names.map((name) => ({
    shape: shapeOf(name),
    rows: change(name, [...old.tables.all(shapeOf(name))]),
  }))
  const made = new TableSet(options, [file?.footer.mark ?? ''])
  made.load([], () => {})
  const tables = await made.add({ rows: rowSet(sections), part: undefined })
  old.close()
  made.close()
  const changed = { [of]: { ...ref, tables } }
  const { collections, streams } = manifest
  const parts =
    of === 'notes' ? { collections: { ...collections, ...changed } } : { streams: { ...streams, ...changed } }
  await disk.replace(path, seal({ ...manifest, ...parts }))
}

/** It is named, a repair drops the tables without loss, and the next start makes them again. */
const isMended = async (t: ExecutionContext, root: string, rule: RegExp): Promise<void> => {
  const { findings } = await verify(root)
  t.true(
    findings.some((finding) => finding.kind === 'index' && rule.test(finding.rule)),
    JSON.stringify(findings),
  )
  await repairRoot({ root, disk, clock, ids: createIds(clock), log: silent, declared, apply: true })
  const held = await holdRoot(root)
  t.is(held.notes.count('by_owner', 'ann'), held.notes.ids('by_owner', 'ann').length)
  await held.end()
  t.deepEqual((await verify(root)).findings, [])
}

test('a table without the row of a record is named: the record would be lost to every reader', async (t) => {
  const root = await keptRoot(t)
  await rewriteTables(root, (section, rows) => (section === 'ids' ? rows.slice(1) : rows))
  await isMended(t, root, /bytes of it, and/u)
})

test('a table with a row of nothing is named', async (t) => {
  const root = await keptRoot(t)
  await rewriteTables(root, (section, rows) => (section === 'ids' ? [...rows, ['zzz', 1, 0, 10, 1]] : rows))
  await isMended(t, root, /section ids has/u)
})

test('a table whose index has another place for a record is named', async (t) => {
  const root = await keptRoot(t)
  await rewriteTables(root, (section, rows) =>
    section === 'by:by_owner' ? rows.map((row, at) => (at === rows.length - 1 ? ['zoe', ...row.slice(1)] : row)) : rows,
  )
  await isMended(t, root, /section by:by_owner has/u)
})

test('a table whose index lacks a place of a record, or sorts it elsewhere, is named', async (t) => {
  for (const change of [
    (rows: Row[]): Row[] => rows.slice(1),
    (rows: Row[]): Row[] => rows.map((row, at) => (at === 0 ? row.with(1, '0') : row)),
  ]) {
    const root = await keptRoot(t)
    await rewriteTables(root, (section, rows) => (section === 'by:by_owner' ? change(rows) : rows))
    await isMended(t, root, /section by:by_owner has/u)
  }
})

test('a table with another place or length of a line is named, of records and of entries', async (t) => {
  for (const at of [1, 2, 3]) {
    const root = await keptRoot(t)
    await rewriteTables(root, (section, rows) =>
      section === 'ids' ? rows.map((row, n) => (n === 3 ? row.with(at, Number(row[at]) + 1) : row)) : rows,
    )
    await isMended(t, root, /section ids has/u)
  }
  for (const at of [2, 3, 4, 5]) {
    const root = await keptRoot(t)
    const change: Change = (_, rows) => rows.map((row, n) => (n === 0 ? row.with(at, Number(row[at]) + 1) : row))
    await rewriteTables(root, change, 'journal')
    const { findings } = await verify(root)
    const kinds = new Set(findings.filter(({ severity }) => severity !== 'leftover').map(({ kind }) => kind))
    t.deepEqual([...kinds], ['index'], 'the lines are as they should be')
    await isMended(t, root, /section extents has/u)
  }
})

test('a table without the row of a line of entries, or with one of an owner that has none, is named', async (t) => {
  const without = await keptRoot(t)
  await rewriteTables(without, (_, rows) => rows.slice(1), 'journal')
  await isMended(t, without, /section extents has 1 rows; the pages call for 2 or others/u)
  const more = await keptRoot(t)
  await rewriteTables(more, (_, rows) => [...rows, ['zoe', 1, 1, 1, 0, 10]], 'journal')
  await isMended(t, more, /section extents has 3 rows; the pages call for 2 or others/u)
})
