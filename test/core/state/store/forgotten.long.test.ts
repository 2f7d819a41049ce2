/** Collections of which removed records leave nothing. */
import test, { type ExecutionContext } from 'ava'
import { appendFileSync, existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createIds } from '../../../../core/base/ids.js'
import { unsafeCast } from '../../../../core/base/schema.js'
import type { CollectionSpec } from '../../../../core/state/contract.js'
import type { Disk } from '../../../../core/state/disk/disk.js'
import { saltSeed, sealedLine } from '../../../../core/state/format/line.js'
import { seal, unseal } from '../../../../core/state/format/sealed.js'
import { repairRoot } from '../../../../core/state/inspect/repair.js'
import { listState, showRecords } from '../../../../core/state/inspect/show.js'
import { verifyRoot, type Declarations } from '../../../../core/state/inspect/verify.js'
import { writeTombstones } from '../../../../core/state/pages/tombstones.js'
import { readRoot } from '../../../../core/state/root/root-document.js'
import type { Tuning } from '../../../../core/state/tuning.js'
import { note, notesSpec, tempRoot, type Note } from '../../../support/notes.js'
import { clock, disk, silent, takeRoot } from '../../../support/taken-root.js'
import { createWrappedDisk, diskError } from '../../../../core/testing/wrapped-disk.js'

const spec: CollectionSpec<Note> = { ...notesSpec, removed: 'forgotten' }
const declared: Declarations = { collections: new Map([['notes', unsafeCast(spec)]]), streams: new Map() }
const small: Partial<Tuning> = {
  pageBytes: 2000,
  tables: { blockRows: 16, levelRows: 64, fanOut: 4, fullRows: 256 },
}

interface Holding {
  readonly spec?: Partial<CollectionSpec<Note>>
  readonly on?: typeof disk
  readonly tuning?: Partial<Tuning>
}

const hold = async (root: string, { spec: more = {}, on = disk, tuning = small }: Holding = {}) => {
  const taken = await takeRoot(root, { on, tuning: { ballastBytes: 0, ...tuning } })
  const notes = taken.state.collection<Note>({ ...spec, ...more })
  const report = await taken.load()
  const put = (n: number, also: Partial<Note> = {}) => taken.state.commit((tx) => tx.put(notes, note(n, also)))
  const remove = (n: number) => taken.state.commit((tx) => tx.remove(notes, `n${n}`, 'test'))
  return { ...taken, notes, report, put, remove }
}
type Held = Awaited<ReturnType<typeof hold>>

const view = ({ notes }: Held) => ({
  ids: notes.ids('by_owner', 'ann'),
  open: notes.ids('open', 'open'),
  counts: [notes.count('by_owner', 'ann'), notes.count('open', 'open')],
  records: notes.list({ index: 'by_owner', group: 'ann', limit: 10_000 }),
})
/** What is wrong; tables that a start made again and no checkpoint named yet are not. */
const findings = async (root: string) =>
  (await verifyRoot({ root, disk, clock, declared, live: false })).findings.filter(
    ({ severity }) => severity !== 'leftover',
  )
const files = (root: string, folder = 'data/notes'): string[] =>
  existsSync(join(root, folder)) ? readdirSync(join(root, folder)).map((name) => join(root, folder, name)) : []
const bytesOf = (root: string): number => files(root).reduce((sum, path) => sum + statSync(path).size, 0)
const pagesText = (root: string): string =>
  files(root)
    .filter((path) => path.includes('page-'))
    .map((path) => readFileSync(path, 'utf8'))
    .join('')
const removalLines = (root: string): number => pagesText(root).split('"r":null').length - 1

test('state-29: an id that was removed may be inserted again, and nothing tells that it was there', async (t) => {
  const root = tempRoot(t)
  const held = await hold(root)
  const { state, notes, put, remove, checkpoint } = held
  for (const done of [false, true]) {
    await put(1, { done })
    await checkpoint()
    await remove(1)
    t.deepEqual([notes.has('n1'), notes.find('n1'), notes.isDeleted('n1')], [false, undefined, false])
    t.deepEqual(view(held), { ids: [], open: [], counts: [0, 0], records: [] })
    await state.commit((tx) => tx.insert(notes, note(1, { text: 'again', done })))
    t.is(notes.find('n1')?.text, 'again')
    t.is(notes.count('by_owner', 'ann'), 1)
    await checkpoint()
    t.is(notes.find('n1')?.text, 'again')
    t.deepEqual(notes.ids('by_owner', 'ann'), ['n1'])
    await remove(1)
    await checkpoint()
    t.false(notes.has('n1'))
    t.deepEqual(view(held).counts, [0, 0])
  }
  await t.throwsAsync(
    state.commit((tx) => {
      tx.insert(notes, note(1))
      tx.insert(notes, note(1))
    }),
    { code: 'id_taken' },
  )
  t.false(notes.has('n1'))
  await held.end()
  t.deepEqual(files(root, 'tombstones'), [])
  t.deepEqual(await findings(root), [])
})

const histories: readonly { readonly what: string; readonly run: (held: Held) => Promise<unknown> }[] = [
  { what: 'insert, remove', run: async ({ put, remove }) => [await put(1), await remove(1)] },
  { what: 'insert, remove, insert', run: async ({ put, remove }) => [await put(1), await remove(1), await put(1)] },
  {
    what: 'insert, remove and insert at once',
    run: async ({ put, state, notes }) => {
      await put(1)
      await state.commit((tx) => {
        tx.remove(notes, 'n1', 'test')
        tx.insert(notes, note(1, { text: 'again', done: true }))
      })
    },
  },
  {
    what: 'a checkpoint, then remove and insert',
    run: async ({ put, remove, checkpoint }) => [
      await put(1, { done: true }),
      await checkpoint(),
      await remove(1),
      await put(1),
    ],
  },
  {
    what: 'remove after a checkpoint, another checkpoint, then insert and remove',
    run: async ({ put, remove, checkpoint }) => [
      await put(1, { done: true }),
      await checkpoint(),
      await remove(1),
      await checkpoint(),
      await put(1, { done: true }),
      await remove(1),
    ],
  },
  {
    what: 'remove, checkpoint, insert, checkpoint, remove',
    run: async ({ put, remove, checkpoint }) => [
      await put(1, { done: true }),
      await checkpoint(),
      await remove(1),
      await checkpoint(),
      await put(1, { done: true, text: 'third' }),
      await checkpoint(),
      await remove(1),
    ],
  },
]

for (const { what, run } of histories) {
  test(`a kill, an end, and tables that are made again show what was committed: ${what}`, async (t) => {
    for (const how of ['die', 'end'] as const) {
      const root = tempRoot(t)
      const first = await hold(root)
      await first.put(2, { done: true })
      await run(first)
      const seen = view(first)
      await first[how]()
      const second = await hold(root)
      t.deepEqual(view(second), seen, how)
      await second.end()
      const third = await hold(root, { spec: { version: 2 } })
      t.is(third.report.rebuilt.length, 1)
      t.deepEqual(view(third), seen, `${how}, from the pages`)
      await third.checkpoint()
      t.deepEqual(view(third), seen)
      await third.end()
      await (await hold(root)).end()
      t.deepEqual(await findings(root), [])
    }
  })
}

test('a removal stands on its page as long as an older line of its id does, and no longer', async (t) => {
  const root = tempRoot(t)
  const held = await hold(root)
  const { put, remove, checkpoint } = held
  const stay = (n: number, text: string) => put(n, { done: true, text: text.repeat(30) })
  // Two pages that stay, each with a dead line of n1.
  for (const first of [10, 40]) {
    await put(1, { done: true, text: `page of ${first}` })
    await Promise.all(Array.from({ length: 16 }, (_, n) => stay(first + n, 'abcd ')))
    await checkpoint()
  }
  await remove(1)
  await checkpoint()
  t.is(removalLines(root), 1)
  const dead = () => pagesText(root).split('"id":"n1","r":{').length - 1
  t.is(dead(), 2)
  // The page of the removal goes first, then those of the dead lines, one after the other.
  for (const [from, left] of [
    [70, 2],
    [10, 1],
    [40, 0],
  ] as const) {
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(Array.from({ length: 16 }, (_, n) => stay(from + n, 'wxyz ')))
      await checkpoint()
    }
    t.is(dead(), left)
    const copy = await hold(await copied(t, held, root), { spec: { version: 2 } })
    t.false(copy.notes.has('n1'), `${left} dead lines`)
    await copy.end()
  }
  await stay(99, 'last ')
  for (let round = 0; round < 4; round += 1) {
    await Promise.all(Array.from({ length: 40 }, (_, n) => stay(70 + n, 'wxyz ')))
    await checkpoint()
  }
  t.is(removalLines(root), 0)
  await held.end()
  t.deepEqual(await findings(root), [])
})

/** The root as a backup of it has it. */
const copied = async (t: ExecutionContext, held: Held, root: string): Promise<string> => {
  const to = tempRoot(t)
  await held.snapshot(async ({ manifest }) => {
    for (const name of ['log', 'data/notes', 'streams', 'tombstones'])
      for (const path of files(root, name)) {
        await disk.makeFolder(join(to, name.split('/')[0] ?? ''))
        await disk.makeFolder(join(to, name))
        writeFileSync(join(to, name, path.split('/').at(-1) ?? ''), readFileSync(path), { mode: 0o600 })
      }
    writeFileSync(join(to, 'manifest.json'), seal(manifest), { mode: 0o600 })
    writeFileSync(join(to, 'root.json'), readFileSync(join(root, 'root.json')), { mode: 0o600 })
  })
  return to
}

test('state-30: pages, tables and memory are bounded by what is there, not by what ever was', async (t) => {
  const root = tempRoot(t)
  const held = await hold(root)
  const { state, notes, checkpoint } = held
  const sizes: number[] = []
  let [first, next] = [0, 0]
  const add = () =>
    state.commit((tx) => {
      for (let n = 0; n < 50; n += 1) tx.insert(notes, note((next += 1), { done: n % 2 === 0 }))
    })
  const take = () =>
    state.commit((tx) => {
      for (let n = 0; n < 50; n += 1) tx.remove(notes, `n${(first += 1)}`, 'taken')
    })
  for (let round = 0; round < 4; round += 1) await add()
  await checkpoint()
  for (let round = 0; round < 120; round += 1) {
    await add()
    if (round % 3 === 0) await checkpoint()
    await take()
    await checkpoint()
    sizes.push(bytesOf(root))
  }
  const most = (from: number, to: number): number => Math.max(...sizes.slice(from, to))
  t.is(notes.count('by_owner', 'ann'), 200)
  t.true(most(90, 120) < 1.6 * most(10, 40), `${most(10, 40)}, then ${most(90, 120)} bytes`)
  while (first < next) await take()
  for (let round = 0; round < 12; round += 1) {
    await held.put(1_000_000)
    await held.remove(1_000_000)
    await held.put(1_000_001, { text: `${round}` })
    await checkpoint()
  }
  await held.end()
  t.true(bytesOf(root) < most(10, 40) / 4, `${bytesOf(root)} bytes of ${most(10, 40)}`)
  t.deepEqual(await findings(root), [])
})

test('what a failed commit removed is there again, and what it put over a removed id is not', async (t) => {
  const root = tempRoot(t)
  let failing = false
  const { disk: on } = createWrappedDisk((call, path) => {
    if (failing && call === 'write' && path.includes('/log/')) throw diskError('EIO')
  })
  const held = await hold(root, { on })
  const { state, notes, put, remove, checkpoint } = held
  await put(1, { done: true })
  await put(2)
  await put(3, { done: true })
  await checkpoint()
  await remove(3)
  const seen = view(held)
  failing = true
  const lost = [
    state.commit((tx) => tx.remove(notes, 'n1', 'test')),
    state.commit((tx) => tx.insert(notes, note(1, { text: 'new' }))),
    state.commit((tx) => tx.remove(notes, 'n2', 'test')),
    state.commit((tx) => tx.insert(notes, note(3, { text: 'new' }))),
  ]
  t.deepEqual(notes.ids('by_owner', 'ann'), ['n1', 'n3'])
  for (const one of lost) await t.throwsAsync(one, { code: 'storage_write_failed' })
  t.deepEqual(view(held), seen)
  failing = false
  t.true(await held.recover())
  await checkpoint()
  t.deepEqual(view(held), seen)
  await held.end()
  t.deepEqual(await findings(root), [])
})

test('root.json names the form before the first record of a collection that forgets is written: earlier versions leave the root alone', async (t) => {
  const root = tempRoot(t)
  const order: string[] = []
  const { disk: wrapped } = createWrappedDisk((call, path) => {
    if (call === 'write' && path.includes('/log/')) order.push('log')
  })
  const replace: Disk['replace'] = async (path, bytes) => {
    await wrapped.replace(path, bytes)
    if (path.endsWith('/root.json')) order.push('root.json')
  }
  const on = { ...wrapped, replace }
  const held = await hold(root, { on })
  t.deepEqual(readRoot({ root, disk })?.incompat, [])
  order.length = 0
  await held.put(1)
  t.deepEqual(order, ['root.json', 'log'])
  t.deepEqual(readRoot({ root, disk })?.incompat, ['forgotten-records'])
  order.length = 0
  await held.remove(1)
  await held.put(1)
  t.false(order.includes('root.json'))
  await held.end()
  rmSync(join(root, 'root.json'))
  await repairRoot({ root, disk, clock, ids: createIds(clock), log: silent, declared, apply: true })
  t.deepEqual(readRoot({ root, disk })?.incompat, ['forgotten-records'])
})

test('tombstones from before a collection forgot are gone after its first checkpoint, and their records stay gone', async (t) => {
  const root = tempRoot(t)
  const first = await hold(root, { spec: { removed: 'buried' } })
  for (let n = 1; n < 30; n += 1) await first.put(n, { done: n % 2 === 0 })
  await first.checkpoint()
  for (const n of [3, 4]) await first.remove(n)
  await first.checkpoint()
  for (const n of [5, 6]) await first.remove(n)
  t.true(first.notes.isDeleted('n3'))
  const seen = view(first)
  await first.die()
  t.deepEqual(await findings(root), [])
  const second = await hold(root)
  t.deepEqual(view(second), seen)
  t.false(second.notes.isDeleted('n3'))
  await second.state.commit((tx) => {
    for (const n of [3, 5]) tx.insert(second.notes, note(n, { text: 'again', done: true }))
  })
  const again = view(second)
  t.deepEqual(await findings(root), [])
  await second.die()
  const third = await hold(root)
  t.deepEqual(view(third), again)
  await third.checkpoint()
  t.deepEqual(files(root, 'tombstones'), [])
  await third.end()
  t.deepEqual(await findings(root), [])
  const fourth = await hold(root, { spec: { version: 2 } })
  t.deepEqual(view(fourth), again)
  await fourth.end()
  const fifth = await hold(root, { spec: { removed: 'buried' } })
  t.deepEqual(view(fifth), again)
  await fifth.put(40)
  await fifth.remove(40)
  t.true(fifth.notes.isDeleted('n40'))
  await fifth.end()
  const sixth = await hold(root, { spec: { removed: 'buried', version: 2 } })
  t.deepEqual(view(sixth), again)
  await sixth.end()
})

test('what a plugin that is away removed without a trace stays gone through checkpoints of others', async (t) => {
  const root = tempRoot(t)
  const first = await hold(root)
  for (let n = 1; n < 60; n += 1) await first.put(n, { done: true })
  await first.checkpoint()
  for (let n = 1; n < 20; n += 1) await first.remove(n)
  const seen = view(first)
  await first.die()
  for (let round = 0; round < 2; round += 1) {
    const others = await hold(root, { spec: { name: 'others' } })
    await others.put(round)
    await others.checkpoint()
    await others.end()
  }
  const again = await hold(root)
  t.deepEqual(view(again), seen)
  await again.end()
  t.deepEqual(await findings(root), [])
})

/** Writes a line on the first page as somebody would who knows the format, so that it counts or not. */
const plant = (root: string, line: object): void => {
  const path = join(root, 'manifest.json')
  const manifest = unsafeCast<any>(unseal(readFileSync(path)))
  const page = files(root).find((file) => file.includes('page-')) ?? ''
  const { salt } = JSON.parse(readFileSync(page, 'utf8').split('\n')[0] ?? '')
  const bytes = sealedLine(JSON.stringify(line).slice(0, -1), saltSeed(salt))
  appendFileSync(page, bytes)
  manifest.collections.notes.pages[0].length += bytes.length
  writeFileSync(path, seal(manifest))
}

const withRemoved = async (t: ExecutionContext): Promise<string> => {
  const root = tempRoot(t)
  const held = await hold(root, { tuning: { pageBytes: 100_000 } })
  for (let n = 1; n < 20; n += 1) await held.put(n, { done: true })
  await held.checkpoint()
  await held.remove(7)
  await held.end()
  t.deepEqual(await findings(root), [])
  return root
}

test('a check names the old line of a removed record that nothing keeps dead, where it stands; a person decides', async (t) => {
  const root = await withRemoved(t)
  const { length: offset } = readFileSync(files(root).find((file) => file.includes('page-')) ?? '')
  plant(root, { id: 'n77', r: note(77, { done: true }) })
  const rule = 'n77 of notes is gone, and nothing on the pages says so: this old line would bring it back'
  t.like(await findings(root), [{ kind: 'record', severity: 'damage', offset, rule }])
  const { actions, byHand } = await repairRoot({ root, disk, clock, ids: createIds(clock), log: silent, declared })
  t.deepEqual([actions.length, byHand.length], [0, 1])
})

test('a check finds rows that count the older lines of an id wrongly, and a repair makes them again', async (t) => {
  const root = await withRemoved(t)
  plant(root, { id: 'n3', r: note(3) })
  t.like(await findings(root), [{ kind: 'index', rule: 'section lines has 19 rows; the pages call for 20 or others' }])
  await repairRoot({ root, disk, clock, ids: createIds(clock), log: silent, declared, apply: true })
  const held = await hold(root)
  await held.put(1)
  await held.end()
  t.deepEqual(await findings(root), [])
})

test('a check finds a tombstone of a collection that forgets', async (t) => {
  const root = await withRemoved(t)
  const path = join(root, 'manifest.json')
  const manifest = unsafeCast<any>(unseal(readFileSync(path)))
  const target = { disk, folder: join(root, 'tombstones'), ids: createIds(clock), root: manifest.root }
  const tombstones = new Map([['n7', 'planted']])
  manifest.tombstones = { notes: await writeTombstones(target, 'notes', { length: 0, tombstones }) }
  writeFileSync(path, seal(manifest))
  t.like(await findings(root), [{ kind: 'index', rule: 'notes has tombstones, though it forgets what is removed' }])
  await repairRoot({ root, disk, clock, ids: createIds(clock), log: silent, declared, apply: true })
  const held = await hold(root)
  await held.put(7)
  await held.end()
  t.deepEqual(files(root, 'tombstones'), [])
  t.deepEqual(await findings(root), [])
})

test('state show of a removed record shows none, from the log and from pages', async (t) => {
  const root = tempRoot(t)
  const held = await hold(root)
  await held.put(1, { done: true })
  await held.checkpoint()
  await held.remove(1)
  const place = { root, disk }
  for (let look = 0; look < 2; look += 1) {
    const { value, faults } = showRecords(place, 'notes', 'n1')
    t.deepEqual(faults, [])
    t.is(value?.size, 0)
    t.is(listState(place).value.collections['notes']?.records ?? 0, 0)
    t.is(listState(place).value.collections['notes']?.buried ?? 0, 0)
    await held.checkpoint()
  }
  await held.end()
})

test('a salvage keeps what is removed away, and what came again', async (t) => {
  const root = tempRoot(t)
  const held = await hold(root, { tuning: { pageBytes: 100_000 } })
  for (let n = 1; n < 20; n += 1) await held.put(n, { done: true })
  await held.checkpoint()
  for (const n of [5, 6, 7]) await held.remove(n)
  await held.put(5, { text: 'again' })
  await held.checkpoint()
  await held.remove(8)
  await held.put(6, { text: 'again' })
  await held.die()
  const page = files(root).find((file) => file.includes('page-')) ?? ''
  const bytes = readFileSync(page)
  const at = bytes.indexOf('"text 12')
  bytes[at] = 65
  writeFileSync(page, bytes)
  await repairRoot({ root, disk, clock, ids: createIds(clock), log: silent, declared, apply: true, acceptLoss: true })
  t.deepEqual(await findings(root), [])
  const again = await hold(root)
  t.deepEqual(
    [5, 6, 7, 8, 12].map((n) => again.notes.find(`n${n}`)?.text),
    ['again', 'again', undefined, undefined, undefined],
  )
  t.is(again.notes.count('by_owner', 'ann'), 16)
  await again.end()
})
