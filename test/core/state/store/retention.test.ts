/** Kinds in partitions: they close, fall as a whole, and nothing that is kept falls with them. */
import test, { type ExecutionContext } from 'ava'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FallingLine } from '../../../../core/state/contract.js'
import { unseal } from '../../../../core/state/format/sealed.js'
import { kind, openKept, verifyKept, viewKept, type KeptNote, type KeptNotes } from '../../../support/kept-notes.js'
import { tempRoot } from '../../../support/notes.js'

const nos = ({ state }: KeptNotes): readonly number[] =>
  state.retention.kinds().flatMap(({ partitions }) => partitions.map(({ no }) => no))
const bytesIn = (root: string): number =>
  ['data', 'streams'].reduce(
    (sum, folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).reduce(
        (all, name) => all + (name.endsWith('.ndjson') ? readFileSync(join(root, folder, name)).length : 0),
        sum,
      ),
    0,
  )
/** The root is in order, and another life sees the same. */
const isSound = async (t: ExecutionContext, life: KeptNotes): Promise<KeptNotes> => {
  const seen = viewKept(life)
  await life.close()
  const { findings } = await verifyKept(life.root)
  t.deepEqual(findings, [])
  const again = await openKept(life.root)
  t.is(again.report.damage, undefined)
  t.deepEqual(again.report.rebuilt, [])
  t.deepEqual(again.report.swept, [])
  t.deepEqual(viewKept(again), seen)
  return again
}

test('what leads a kind falls with its partition, its followers when nothing that is kept can have a part in them', async (t) => {
  const life = await openKept(tempRoot(t))
  const old = [await life.write(), await life.write()]
  await life.checkpoint()
  life.pass()
  const later = await life.write({ owner: 'bob' })
  await life.checkpoint()
  life.pass()
  const last = await life.write()
  await life.checkpoint()
  t.deepEqual(nos(life), [1, 2, 3])
  const preview = life.state.retention.preview(kind, 1)
  const before = bytesIn(life.root)
  for (const { id } of old) t.truthy(life.notes.find(id), 'what was read before it falls')
  const fall = await life.fall(1)
  t.deepEqual(fall, preview)
  t.deepEqual(
    fall.partitions.map(({ no, shares }) => [no, shares.map(({ name, records }) => [name, records])]),
    [
      [
        1,
        [
          ['kept_notes', 2],
          ['kept_marks', 2],
          ['kept_journal', 2],
        ],
      ],
    ],
  )
  t.true(bytesIn(life.root) < before)
  t.deepEqual(nos(life), [2, 3])
  for (const { id } of old) {
    t.is(life.notes.find(id), undefined)
    t.false(life.notes.has(id))
    t.true(life.notes.hasFallen(id))
    t.false(life.notes.isDeleted(id))
  }
  for (const { id } of [later, last]) t.false(life.notes.hasFallen(id))
  t.false(life.notes.hasFallen(life.ids.make('note')), 'one that was never there is not told to have fallen')
  t.false(life.notes.hasFallen('chosen'))
  t.is(life.notes.count('all', 'all'), 2)
  t.is(life.marks.count('all', 'all'), 2)
  t.is(life.journal.length('ann'), 3)
  t.is(life.journal.first('ann'), 3)
  const seqs = (after: number) => life.journal.read('ann', { after, limit: 2 }).map(({ seq }) => seq)
  t.deepEqual(seqs(0), [], 'an entry that fell is never taken for another')
  t.deepEqual(seqs(1), [3])
  await (await isSound(t, life)).close()
})

test('a record that can still change is carried, and holds what follows of its time', async (t) => {
  let life = await openKept(tempRoot(t))
  const waits = await life.write({ done: false })
  await life.write()
  await life.checkpoint()
  life.pass()
  await life.write()
  await life.checkpoint()
  const preview = life.state.retention.preview(kind, 1)
  const fall = await life.fall(1)
  t.deepEqual(fall, preview)
  t.deepEqual(fall.held?.by, { collection: 'kept_notes', id: waits.id, since: waits.at, isOpen: true })
  t.deepEqual(
    fall.partitions.map(({ no, shares }) => [no, shares.map(({ name, records }) => [name, records])]),
    [[1, [['kept_notes', 1]]]],
  )
  t.deepEqual(life.notes.find(waits.id), waits)
  t.is(life.journal.first('ann'), 1)
  life = await isSound(t, life)
  t.deepEqual(life.notes.ids('all', 'all')[0], waits.id)
  await life.change(waits, { done: true })
  await life.checkpoint()
  life.pass()
  await life.write()
  await life.checkpoint()
  const newest = nos(life).at(-1) ?? 0
  const second = await life.fall(newest - 1)
  t.is(second.held, undefined)
  t.deepEqual(nos(life), [newest])
  t.is(life.journal.first('ann'), 5)
  await (await isSound(t, life)).close()
})

test('a record that is written again in a later partition stays in every index when the earlier one falls', async (t) => {
  let life = await openKept(tempRoot(t))
  const [same, moved, back] = [await life.write(), await life.write(), await life.write()]
  await life.checkpoint()
  life.pass()
  await life.change(same, { text: 'new' })
  await life.change(moved, { text: 'other' })
  await life.change(back, { text: 'other' })
  await life.checkpoint()
  await life.change(back, { text: 'new' })
  await life.checkpoint()
  const before = viewKept(life).counts
  t.deepEqual(before[2], [
    ['new', 2, [same.id, back.id]],
    ['other', 1, [moved.id]],
  ])
  await life.fall(1)
  t.deepEqual(viewKept(life).counts, before)
  life = await isSound(t, life)
  await life.state.commit((tx) => tx.remove(life.notes, same.id, 'test'))
  await life.checkpoint()
  t.is(life.notes.count('all', 'all'), 2)
  await (await isSound(t, life)).close()
})

test('everything may fall, the newest partition too; what was numbered goes on with its numbers', async (t) => {
  let life = await openKept(tempRoot(t))
  for (let n = 0; n < 3; n += 1) await life.write({ owner: `owner ${n}` })
  await life.checkpoint()
  life.pass()
  await life.fall(1)
  t.deepEqual(viewKept(life).notes, [])
  t.is(life.journal.length('owner 1'), 1)
  t.is(life.journal.first('owner 1'), 2)
  life = await isSound(t, life)
  await life.write({ owner: 'owner 1' })
  t.deepEqual(
    life.journal.read('owner 1', { after: 0, limit: 5 }).map(({ seq }) => seq),
    [2],
  )
  await life.checkpoint()
  life.pass()
  await life.fall(2)
  life = await isSound(t, life)
  t.is(life.journal.length('owner 1'), 2)
  t.is(life.journal.length('owner 0'), 1)
  await life.close()
})

test('a record of a page that falls is as it was committed where a commit writes it again meanwhile', async (t) => {
  const life = await openKept(tempRoot(t))
  const note = await life.write()
  await life.checkpoint()
  life.pass()
  await life.write()
  await life.checkpoint()
  const falls = life.fall(1)
  const changes = life.change(note, { text: 'again' })
  await Promise.all([falls, changes])
  t.is(life.notes.find(note.id)?.text, 'again')
  t.is(life.notes.count('all', 'all'), 2)
  t.false(life.notes.hasFallen(note.id))
  await (await isSound(t, life)).close()
})

test('what is written between what is told of a fall and the fall itself stays', async (t) => {
  const life = await openKept(tempRoot(t))
  const { retention } = life.state
  const old = await life.write()
  await life.checkpoint()
  const open = retention.preview(kind, 1)
  await t.throwsAsync(retention.fall(open), { code: 'fall_outdated' }, 'it is written to')
  const second = await life.write()
  await life.checkpoint()
  await t.throwsAsync(retention.fall(open), { code: 'fall_outdated' }, 'it is still written to, and was')
  await retention.checkpoint(new Set([kind]))
  t.deepEqual(nos(life), [1, 2])
  await t.throwsAsync(retention.fall(open), { code: 'fall_outdated' }, 'more was written to it')
  const told = retention.preview(kind, 1)
  life.pass(1)
  const third = await life.write()
  await life.checkpoint()
  const heard: string[] = []
  retention.onFall((of) => heard.push(`${of}, of which ${life.notes.count('all', 'all')} is left`))
  await t.throwsAsync(retention.fall({ ...told, upto: 2 }), { code: 'fall_outdated' })
  t.deepEqual(await retention.fall(told), told)
  t.deepEqual(heard, ['notes, of which 1 is left'], 'behind a fall, and not where nothing fell')
  t.deepEqual(life.notes.ids('all', 'all'), [third.id])
  for (const { id } of [old, second]) t.true(life.notes.hasFallen(id))
  await (await isSound(t, life)).close()
})

test('what follows falls no further than was told, also where nothing holds it any more', async (t) => {
  const life = await openKept(tempRoot(t))
  await life.write()
  await life.checkpoint()
  life.pass()
  await life.write()
  await life.checkpoint()
  const told = life.state.retention.preview(kind, 1)
  t.is(told.free, 1)
  await life.state.retention.fall({ ...told, free: 0 })
  t.is(life.notes.count('all', 'all'), 1)
  t.is(life.journal.first('ann'), 1)
  await life.fall(1)
  t.is(life.journal.first('ann'), 2)
  await (await isSound(t, life)).close()
})

test('a partition that was begun under a clock that was ahead ends when the clock is right again', async (t) => {
  const years = 3650
  const life = await openKept(tempRoot(t))
  life.pass(years)
  await life.write()
  await life.checkpoint()
  life.pass(-years)
  const now = life.clock.now()
  for (let n = 0; n < 6; n += 1) {
    await life.write()
    await life.checkpoint()
  }
  const partitions = life.state.retention.kinds()[0]?.partitions ?? []
  t.like(partitions.at(-1), { from: now, to: now })
  life.pass()
  await life.write()
  await life.checkpoint()
  t.is(nos(life).length, partitions.length + 1)
  await (await isSound(t, life)).close()
})

test('earlier versions are kept out from the first fall on, and not before', async (t) => {
  const root = tempRoot(t)
  const incompat = () => unseal<{ incompat: string[] }>(readFileSync(join(root, 'root.json')))?.incompat
  const life = await openKept(root)
  await life.write()
  await life.checkpoint()
  t.deepEqual(incompat(), [])
  await life.fall(1)
  t.deepEqual(incompat(), ['partitions'])
  await life.fall(1)
  await (await isSound(t, life)).close()
  t.deepEqual(incompat(), ['partitions'])
})

test('a fall of what is not there, or of which a plugin is missing, is refused and changes nothing', async (t) => {
  const root = tempRoot(t)
  const life = await openKept(root)
  await t.throwsAsync(life.fall(1), { message: /nothing is kept as/u })
  await life.write()
  await life.checkpoint()
  for (const upto of [0, -1, 1.5, 2]) await t.throwsAsync(life.fall(upto), { message: /has no partition/u })
  await life.close()
  const other = await openKept(root, { without: 'marks' })
  t.is(other.state.retention.kinds()[0]?.undeclared, 'kept_marks')
  await t.throwsAsync(other.fall(1), { message: /kept_marks of notes is not declared/u })
  t.is(other.notes.count('all', 'all'), 1)
  await other.close()
})

for (const end of ['goes on', 'is killed'] as const)
  test(`a clock that was ahead and is set back lets nothing fall of what is kept, where the daemon ${end}`, async (t) => {
    const hour = 60 * 60 * 1000
    const root = tempRoot(t)
    let life = await openKept(root)
    life.clock.advance(hour)
    const waits = await life.write({ done: false })
    life.clock.advance(-hour)
    await life.change(waits, { text: 'behind' })
    if (end === 'is killed') life = await openKept(root)
    await life.checkpoint()
    life.pass()
    await life.write()
    await life.checkpoint()
    const { held } = await life.fall(1)
    t.is(held?.by.id, waits.id)
    t.is(life.journal.first('ann'), 1)
    await (await isSound(t, life)).close()
  })

/** Ids of the notes among lines. */
const notesAmong = (lines: readonly FallingLine[]): string[] =>
  lines.flatMap((line) => ('collection' in line && line.collection === 'kept_notes' ? [line.id] : []))
const pagesOf = (root: string): string[] =>
  readdirSync(join(root, 'data', 'kept_notes')).filter((name) => name.startsWith('page-'))

test('pages stay while what would fall is read, also those of which a checkpoint makes new ones', async (t) => {
  const life = await openKept(tempRoot(t), { tuning: { pageBytes: 600 } })
  const notes: KeptNote[] = []
  for (let no = 0; no < 16; no += 1) {
    // Of each page but the first, little stays when these settle, and so it is copied.
    notes.push(await life.write({ done: no < 4 || no % 4 === 0, text: 'x'.repeat(90) }))
    await life.checkpoint()
  }
  life.pass()
  await life.write({ owner: 'bob' })
  await life.checkpoint()
  const { retention } = life.state
  const before = pagesOf(life.root)
  const settled = notes.filter(({ done }) => done).map(({ id }) => id)
  let kept: string[] = []
  const read = await retention.contents(retention.preview(kind, 1), async (lines) => {
    const rows = lines[Symbol.iterator]()
    const first = rows.next()
    for (const note of notes.filter(({ done }) => !done)) await life.change(note, { done: true })
    await life.checkpoint()
    kept = before.filter((name) => pagesOf(life.root).includes(name))
    const all: FallingLine[] = first.done === true ? [] : [first.value]
    for (let row = rows.next(); row.done !== true; row = rows.next()) all.push(row.value)
    return all
  })
  t.is(life.state.health.mode, 'ok')
  t.deepEqual(kept, before)
  const left = pagesOf(life.root)
  t.true(
    before.some((name) => !left.includes(name)),
    'no page was moved',
  )
  t.deepEqual(notesAmong(read).toSorted(), settled.toSorted(), 'what falls is archived')
  await life.fall(1)
  const there = new Set(life.notes.ids('all', 'all'))
  for (const id of settled) t.false(there.has(id), 'what was copied falls with its partition')
  await (await isSound(t, life)).close()
})
