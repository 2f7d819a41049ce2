import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClock } from '../../../../core/base/clock.js'
import { createPause } from '../../../../core/base/turns.js'
import { createIds } from '../../../../core/base/ids.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { indexName } from '../../../../core/state/format/layout.js'
import { brokenRule } from '../../../../core/state/inspect/verify-table.js'
import { OpenPages } from '../../../../core/state/pages/open-pages.js'
import { noTables, TableSet } from '../../../../core/state/pages/table-set.js'
import { createCacheRoom, type SizedCache } from '../../../../core/base/memory/sized-cache.js'
import { createBlockCache } from '../../../../core/state/tables/block-cache.js'
import type { Bloom } from '../../../../core/state/tables/bloom.js'
import { createBloomDraft, readBloom } from '../../../../core/state/tables/bloom.js'
import { firstTaken, firstTakenForGood } from '../../../../core/state/tables/compaction.js'
import { remembering } from '../../../../core/state/tables/remembering.js'
import { compareKeys, packRows, shapeOf, unpackRows, type Row } from '../../../../core/state/tables/rows.js'
import { TableFile } from '../../../../core/state/tables/table-file.js'
import { Tables } from '../../../../core/state/tables/tables.js'
import { rowSet } from '../../../support/row-set.js'

const [ids, byOwner] = [shapeOf('ids'), shapeOf('by:owner')]
const tuning = { blockRows: 3, levelRows: 4, fanOut: 3, fullRows: 30 }

interface Opened {
  readonly set: TableSet
  readonly again: () => TableSet
  readonly folder: string
  /** Numbers of tables of which a block was read, since it was emptied. */
  readonly read: Set<string>
}

const openSet = (t: ExecutionContext): Opened => {
  const folder = join(mkdtempSync(join(tmpdir(), 'holdfast-tables-')), 'notes')
  mkdirSync(folder)
  t.teardown(() => rmSync(join(folder, '..'), { recursive: true, force: true }))
  const read = new Set<string>()
  const blocks = createBlockCache(200)
  const noted = { ...blocks, get: (key: string) => (read.add(key.split(':')[1] ?? ''), blocks.get(key)) }
  const make = (): TableSet =>
    new TableSet(
      {
        disk: createDisk(),
        folder,
        ids: createIds(createClock()),
        root: 'r',
        of: 'notes',
        version: 1,
        pageBytes: 1000,
        files: new OpenPages(2),
        blocks: noted,
        pause: createPause(1),
        tables: tuning,
        onDamage: () => {},
      },
      ['mark'],
    )
  const set = make()
  const again = (): TableSet => {
    const other = make()
    t.is(
      other.load(set.refs, () => {}),
      set.refs.length === 0 ? noTables : undefined,
    )
    return other
  }
  return { set, again, folder, read }
}

interface Place {
  readonly group: string
  readonly sort: string
}
type Model = Map<string, Place | undefined>

/** What one checkpoint changes, as rows. */
const rowsOf = (model: Model, changes: ReadonlyMap<string, Place | undefined>): { ids: Row[]; owners: Row[] } => {
  const found: { ids: Row[]; owners: Row[] } = { ids: [], owners: [] }
  for (const [id, to] of changes) {
    const from = model.get(id)
    if (to === undefined && !model.has(id)) continue
    found.ids.push(to === undefined ? [id] : [id, 1, id.length, 10, 1])
    if (from?.group === to?.group && from?.sort === to?.sort) continue
    if (from !== undefined) found.owners.push([from.group, from.sort, id])
    if (to !== undefined) found.owners.push([to.group, to.sort, id, 1])
  }
  found.ids.sort((a, b) => compareKeys(a, b, 1))
  found.owners.sort((a, b) => compareKeys(a, b, 3))
  return found
}

const inOrder = (model: Model, group: string): Row[] =>
  Array.from(model)
    .flatMap(([id, place]): Row[] => (place?.group === group ? [[group, place.sort, id]] : []))
    .toSorted((a, b) => compareKeys(a, b, 3))

const keysOf = (rows: Iterable<Row>): Row[] => Array.from(rows, (row) => row.slice(0, 3))

const few = ['a', 'b', 'c']
/** More than a table lists. */
const many = [...few, ...Array.from({ length: 9 }, (_, n) => `m${n}`)]
const place = fc.option(
  fc.record({
    group: fc.oneof(fc.constantFrom(...few), fc.constantFrom(...many)),
    sort: fc.constantFrom('1', '2', '3', '4'),
  }),
  { nil: undefined },
)
const checkpoint = fc.array(fc.tuple(fc.nat({ max: 25 }).map(String), place), { minLength: 1, maxLength: 16 })

test('tables of many checkpoints say what one sorted list would: by key, in groups, both ways, from any place', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(checkpoint, { minLength: 1, maxLength: 14 }), async (checkpoints) => {
      const { set, again } = openSet(t)
      const model: Model = new Map()
      for (const changes of checkpoints) {
        const rows = rowsOf(model, new Map(changes))
        if (rows.ids.length === 0) continue
        const sections = [
          { shape: ids, rows: rows.ids },
          { shape: byOwner, rows: rows.owners },
        ]
        set.apply(await set.add({ rows: rowSet(sections), part: undefined }))
        await set.settle()
        for (const [id, to] of new Map(changes))
          if (to === undefined) model.delete(id)
          else model.set(id, to)
      }
      for (const { tables } of [set, again()]) {
        for (let n = 0; n <= 25; n += 1) t.is(tables.find(ids, [String(n)]) !== undefined, model.has(String(n)))
        for (const group of [...few, 'm0', 'm8', 'd']) {
          const expected = inOrder(model, group)
          t.is(tables.count(byOwner, group), expected.length)
          t.deepEqual(keysOf(tables.range(byOwner, { group, order: 'asc' })), expected)
          t.deepEqual(keysOf(tables.range(byOwner, { group, order: 'desc' })), expected.toReversed())
          for (const beyond of ['0', '2', '3', '9']) {
            const [above, below] = [
              expected.filter((row) => String(row[1]) > beyond),
              expected.filter((row) => String(row[1]) < beyond),
            ]
            t.is(tables.count(byOwner, group, beyond), above.length)
            t.deepEqual(keysOf(tables.range(byOwner, { group, order: 'asc', beyond })), above)
            t.deepEqual(keysOf(tables.range(byOwner, { group, order: 'desc', beyond })), below.toReversed())
          }
        }
        const groups = new Set([...tables.groups(byOwner)].filter((group) => tables.count(byOwner, group) > 0))
        t.deepEqual([...groups], [...new Set([...model.values()].map((one) => one?.group ?? ''))].toSorted())
      }
    }),
    { numRuns: 40 },
  )
})

/** In each table. */
const rowsOfGroup = 4

/** Checkpoints of records that are sorted by when they were made; each has something of every group. */
const writeInTime = async (set: TableSet, groups: readonly string[], checkpoints: number): Promise<void> => {
  const own = groups.length * rowsOfGroup
  for (let n = 0; n < checkpoints; n += 1) {
    const made = Array.from({ length: own }, (_, at) => ({ at, id: String(n * own + at).padStart(4, '0') }))
    const owners = made.map(({ at, id }): Row => [groups[at % groups.length] ?? '', id, id, 1])
    const sections = [
      { shape: ids, rows: made.map(({ id }): Row => [id, 1, 1, 10, 1]) },
      { shape: byOwner, rows: owners.toSorted((a, b) => compareKeys(a, b, 3)) },
    ]
    set.apply(await set.add({ rows: rowSet(sections), part: undefined }))
  }
}

for (const [told, groups] of Object.entries({ few, many }))
  test(`state-33: the newest of one of ${told} groups is read from the newest table, and what is before a time from those around it`, async (t) => {
    const { set, read } = openSet(t)
    const checkpoints = 20
    await writeInTime(set, groups, checkpoints)
    const [oldest, newest] = [set.refs[0], set.refs.at(-1)]
    const first = (query: Omit<Parameters<typeof set.tables.range>[1], 'group'>): void => {
      read.clear()
      for (const _ of set.tables.range(byOwner, { group: 'b', ...query })) break
    }
    first({ order: 'desc' })
    t.deepEqual([...read], [String(newest?.no)])
    first({ order: 'asc' })
    t.deepEqual([...read], [String(oldest?.no)])
    const middle = String((groups.length * rowsOfGroup * checkpoints) / 2).padStart(4, '0')
    first({ order: 'desc', beyond: middle })
    t.true(read.size <= 2, [...read].join())
    first({ order: 'asc', beyond: middle })
    t.true(read.size <= 2, [...read].join())
  })

test('a table that tells sort keys of which it has none is named, and one that tells none is read as before', async (t) => {
  const { set, folder } = openSet(t)
  await writeInTime(set, many, 1)
  const [ref] = set.refs
  if (ref === undefined) return t.fail('there is no table')
  const bytes = readFileSync(join(folder, indexName(ref.no)))
  const valueAt = (offset: number, length: number): any =>
    JSON.parse(bytes.subarray(offset, offset + length).toString())
  const { sections } = valueAt(ref.footer, ref.length - ref.footer)
  const owners = sections[byOwner.name]
  const fileWith = (sorts: unknown): TableFile => {
    const footer = { ...sections, [byOwner.name]: { ...owners, sorts } }
    const readLine = (offset: number, length: number): unknown =>
      offset === ref.footer ? { ...valueAt(offset, length), sections: footer } : valueAt(offset, length)
    return new TableFile({ ref, readLine, blocks: createBlockCache(10_000), key: 'altered' })
  }
  const ruleWith = (sorts: unknown): string | undefined => brokenRule(fileWith(sorts), byOwner, () => {})
  const [least, greatest] = owners.sorts
  t.is(ruleWith([least, greatest]), undefined)
  for (const sorts of [
    [greatest, greatest],
    [least, least],
    ['', greatest],
    [least, '9999'],
  ])
    t.regex(ruleWith(sorts) ?? '', /sort keys of section by:owner/u)
  t.is(ruleWith(undefined), undefined)
  const earlier = new Tables(() => fileWith(undefined))
  earlier.use([ref])
  for (const order of ['asc', 'desc'] as const)
    t.deepEqual(
      [...earlier.range(byOwner, { group: 'b', order })],
      [...set.tables.range(byOwner, { group: 'b', order })],
    )
})

test('filters that find no room are read again for each question, and answer as those that stay', async (t) => {
  const { set, folder } = openSet(t)
  await writeInTime(set, many, 1)
  const [ref] = set.refs
  if (ref === undefined) return t.fail('there is no table')
  const bytes = readFileSync(join(folder, indexName(ref.no)))
  let read = 0
  const fileIn = (filters?: SizedCache<Bloom>): TableFile => {
    const readLine = (offset: number, length: number): any => {
      const value = JSON.parse(bytes.subarray(offset, offset + length).toString())
      if (typeof value.bloom === 'string') read += 1
      return value
    }
    return new TableFile({ ref, readLine, blocks: createBlockCache(10_000), key: 'one', ...(filters && { filters }) })
  }
  const own = fileIn()
  const asked = ['b', 'absent'].map((group) => [group, own.mayHave(byOwner, group)] as const)
  for (const [filters, wanted] of [
    [undefined, 1],
    [createCacheRoom(1_000_000).cache<Bloom>(), 1],
    [createCacheRoom(0).cache<Bloom>(), 2 * asked.length],
  ] as const) {
    read = 0
    const file = fileIn(filters)
    for (const [group, has] of [...asked, ...asked]) t.is(file.mayHave(byOwner, group), has)
    t.is(read, wanted)
  }
})

test('the first rows of a range are read once, all of them are given each time, and a fault is not an end', (t) => {
  for (const count of [0, 1, 2, 3, 4, 9]) {
    const all = Array.from({ length: count }, (_, n): Row => ['g', String(n), String(n), 1])
    let reads = 0
    let fails = false
    const begin = function* (): Generator<Row> {
      for (const row of all) {
        if (fails) throw new Error('damaged')
        reads += 1
        yield row
      }
    }
    const rows = remembering(begin)
    const read = reads
    t.true(read <= 3)
    for (const _ of rows) break
    t.is(reads, read, 'the first is known')
    for (let round = 0; round < 3; round += 1) t.deepEqual([...rows], all)
    fails = true
    if (count > 0) t.throws(() => remembering(begin), { message: 'damaged' })
    if (count > 2) t.throws(() => [...rows], { message: 'damaged' })
    fails = false
    t.deepEqual([...rows], all)
  }
})

test('packed rows are the rows', (t) => {
  const cell = fc.constantFrom('a', 'b', 'ab', '')
  for (const shape of [ids, byOwner, shapeOf('extents')])
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell, cell, fc.nat())), (rows) => {
        const keys = new Map(rows.map((row) => [JSON.stringify(row.slice(0, shape.keyCells)), row]))
        const sorted = [...keys.values()].toSorted((a, b) => compareKeys(a, b, shape.keyCells))
        t.deepEqual(unpackRows(JSON.parse(packRows(sorted, shape)), shape), sorted)
      }),
    )
})

test('a filter knows all that was added, and errs for few of what was not', (t) => {
  const draft = createBloomDraft()
  for (let n = 0; n < 5000; n += 1) draft.add(`run_${n}`)
  const filter = readBloom(draft.finish())
  let errs = 0
  for (let n = 0; n < 5000; n += 1) {
    t.true(filter.mayHave(`run_${n}`))
    if (filter.mayHave(`run_${n + 5000}`)) errs += 1
  }
  t.true(errs < 30, `${errs} of 5000`)
})

test('a partition that gets no more is in few tables, and little that is copied within it writes little again', (t) => {
  const many = { blockRows: 128, levelRows: 4096, fanOut: 8, fullRows: 262_144 }
  const left = (...tables: number[]): number[] => {
    const from = firstTakenForGood(tables, many)
    return [...tables.slice(0, from), tables.slice(from).reduce((sum, one) => sum + one, 0)]
  }
  t.deepEqual(left(262_144, 32_768, 32_768, 32_768, 4096, 1600), [366_144])
  t.deepEqual(left(262_144, 262_144, 32_768, 32_768, 32_768), [262_144, 360_448], 'no more than two full ones at once')
  t.deepEqual(left(395_520, 10), [395_520, 10])
  t.deepEqual(left(395_520, 10, 12), [395_520, 22])
  t.deepEqual(left(395_520), [395_520])
  let tables = [395_520]
  let written = 0
  for (let n = 0; n < 5000; n += 1) {
    const before = [...tables, 20]
    tables = left(...before)
    if (tables.length < before.length) written += tables.at(-1) ?? 0
    t.true(tables.length < 8)
  }
  t.true(written < 40 * 5000 * 20, `${written / (5000 * 20)} times`)
})

test('tables stay few, a row is written few times, and a partition is never written again', (t) => {
  const many = { blockRows: 128, levelRows: 4096, fanOut: 8, fullRows: 262_144 }
  const tables: number[] = []
  let written = 0
  let most = 0
  const checkpoints = 2500
  for (let n = 0; n < checkpoints; n += 1) {
    tables.push(1600)
    written += 1600
    const from = firstTaken(tables, many)
    const taken = tables.splice(from)
    t.true(taken.every((rows) => rows < many.fullRows))
    const rows = taken.reduce((sum, one) => sum + one, 0)
    tables.push(rows)
    if (taken.length > 1) written += rows
    most = Math.max(most, tables.filter((rows) => rows < many.fullRows).length)
  }
  t.true(most < 4 * many.fanOut, `${most} tables`)
  t.true(written < 5 * checkpoints * 1600, `${written / (checkpoints * 1600)} times`)
})
