/** Roots of versions without partitions are carried over, and back and forth while nothing fell. */
import test from 'ava'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { seal, unseal } from '../../../../core/state/format/sealed.js'
import type { Manifest } from '../../../../core/state/format/manifest.js'
import { turned } from '../../../../core/state/partitions/partitions.js'
import { kind, openKept, verifyKept, viewKept } from '../../../support/kept-notes.js'
import { tempRoot } from '../../../support/notes.js'

const manifestIn = (root: string): Manifest | undefined => unseal<Manifest>(readFileSync(join(root, 'manifest.json')))

/** An earlier version copies of a page what it does not know, and leaves the rest out. */
const forgetKept = (root: string): void => {
  const manifest = manifestIn(root)
  const stores = (refs: Manifest['collections'] = {}): Manifest['collections'] =>
    Object.fromEntries(
      Object.entries(refs).map(([name, { pages, tables, index }]) => [
        name,
        { pages, tables: tables.map(({ no, length, footer, rows }) => ({ no, length, footer, rows })), index },
      ]),
    )
  const told = { ...manifest, collections: stores(manifest?.collections), streams: stores(manifest?.streams) }
  writeFileSync(join(root, 'manifest.json'), seal(told))
}

test('what a version without partitions wrote is the oldest partition, and falls as one', async (t) => {
  const root = tempRoot(t)
  const before = await openKept(root, { kept: false })
  const waits = await before.write({ done: false })
  for (let n = 0; n < 5; n += 1) await before.write()
  await before.checkpoint()
  await before.write()
  const seen = viewKept(before)
  before.pass(0)
  await before.close()
  const life = await openKept(root)
  t.deepEqual(life.report.rebuilt, [], 'its tables are taken as they are')
  t.deepEqual(viewKept(life), seen)
  const [first] = life.state.retention.kinds()
  t.deepEqual(
    first?.partitions.map(({ no, from }) => [no, from]),
    [[1, 0]],
  )
  t.deepEqual(manifestIn(root)?.kinds[kind]?.partitions, [{ no: 1, from: 0, to: life.clock.now() }])
  life.pass(1)
  const young = await life.write()
  await life.checkpoint()
  t.deepEqual(
    life.state.retention.kinds()[0]?.partitions.map(({ no }) => no),
    [1, 2],
  )
  await life.fall(1)
  t.deepEqual(life.notes.ids('all', 'all'), [waits.id, young.id])
  const after = viewKept(life)
  await life.close()
  t.deepEqual((await verifyKept(root)).findings, [])
  const again = await openKept(root)
  t.deepEqual(viewKept(again), after)
  await again.close()
})

test('a version without partitions may write meanwhile: everything is one partition again', async (t) => {
  const root = tempRoot(t)
  const first = await openKept(root)
  const same = await first.write()
  await first.checkpoint()
  first.pass()
  await first.change(same, { text: 'other' })
  await first.change(same, { text: 'new' })
  await first.write()
  await first.checkpoint()
  t.is(first.state.retention.kinds()[0]?.partitions.length, 2)
  await first.close()
  forgetKept(root)
  const earlier = await openKept(root, { kept: false })
  await earlier.write()
  await earlier.change(same, { text: 'earlier' })
  await earlier.checkpoint()
  const seen = viewKept(earlier)
  await earlier.close()
  forgetKept(root)
  const life = await openKept(root)
  t.deepEqual(viewKept(life), seen)
  await life.change(same, { text: 'later' })
  await life.checkpoint()
  t.is(life.notes.count('all', 'all'), 3)
  const newest = life.state.retention.kinds()[0]?.partitions.at(-1)?.no ?? 0
  await life.fall(newest)
  t.is(life.notes.count('all', 'all'), 0)
  await life.close()
  t.deepEqual((await verifyKept(root)).findings, [])
})

test('a partition begins where the newest is due and has something, and behind one that falls', (t) => {
  const t0 = 1000
  const begun = turned(undefined, { t: t0, isDue: false, fall: 0, isFilled: false })
  t.deepEqual(begun, { partitions: [{ no: 1, from: t0, to: t0 }], fell: 0 })
  const grown = turned(begun, { t: 2000, isDue: false, fall: 0, isFilled: true })
  t.deepEqual(grown, { partitions: [{ no: 1, from: t0, to: 2000 }], fell: 0 })
  const empty = turned(begun, { t: 2000, isDue: true, fall: 0, isFilled: false })
  t.deepEqual(empty, { partitions: [{ no: 1, from: 2000, to: 2000 }], fell: 0 })
  const next = turned(grown, { t: 3000, isDue: true, fall: 0, isFilled: true })
  t.deepEqual(next.partitions.at(-1), { no: 2, from: 3000, to: 3000 })
  t.deepEqual(turned(next, { t: 3000, isDue: false, fall: 2, isFilled: true }).partitions.at(-1)?.no, 3)
  t.is(
    turned(next, { t: 1, isDue: false, fall: 0, isFilled: true }).partitions.at(-1)?.to,
    3000,
    'stamps never go back',
  )
})

test('state-31: the tables of a partition that gets no more become one', async (t) => {
  const root = tempRoot(t)
  const life = await openKept(root)
  const write = async (): Promise<void> => {
    await life.write()
    await life.checkpoint()
    for (let turns = 0; turns < 50; turns += 1) await setImmediate()
  }
  const tablesIn = (wanted: number): number | undefined =>
    manifestIn(root)?.collections['kept_notes']?.tables.filter(({ part }) => part === wanted).length
  for (let n = 0; n < 5; n += 1) await write()
  t.is(tablesIn(1), 5, 'more may come')
  const first = life.notes.ids('all', 'all')
  life.pass(1)
  for (let looks = 0; looks < 50 && tablesIn(1) !== 1; looks += 1) await write()
  t.is(tablesIn(1), 1)
  t.deepEqual(life.notes.ids('all', 'all').slice(0, 5), first)
  const seen = viewKept(life)
  await life.close()
  t.deepEqual((await verifyKept(root)).findings, [])
  const again = await openKept(root)
  t.deepEqual(viewKept(again), seen)
  await again.close()
})
