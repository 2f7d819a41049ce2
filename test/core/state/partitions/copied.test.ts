/** Of pages that are mostly dead what counts is copied within its partition: it falls when it would have fallen. */
import test, { type ExecutionContext } from 'ava'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Manifest } from '../../../../core/state/format/manifest.js'
import { seal, unseal } from '../../../../core/state/format/sealed.js'
import { createRandom } from '../../../faults/random.js'
import { openKept, verifyKept, viewKept, type KeptNote, type KeptNotes } from '../../../support/kept-notes.js'
import { tempRoot } from '../../../support/notes.js'

const tuning = { pageBytes: 600 }

const manifestIn = (root: string): Manifest => {
  const manifest = unseal<Manifest>(readFileSync(join(root, 'manifest.json')))
  if (manifest === undefined) throw new Error('there is no manifest')
  return manifest
}
const dropTables = (root: string): void => {
  const { collections, ...manifest } = manifestIn(root)
  const bare = Object.entries(collections).map(([name, ref]) => [name, { ...ref, tables: [] }])
  writeFileSync(join(root, 'manifest.json'), seal({ ...manifest, collections: Object.fromEntries(bare) }))
}
/** Notes by partition. */
const countsOf = ({ state }: KeptNotes): readonly (readonly [number, number])[] =>
  state.retention
    .kinds()
    .flatMap(({ partitions }) =>
      partitions.map(({ no, shares }) => [no, shares.find(({ name }) => name === 'kept_notes')?.records ?? 0] as const),
    )
/** Another life sees the same, also where it makes the tables again from the pages. */
const live = async (t: ExecutionContext, life: KeptNotes): Promise<KeptNotes> => {
  await life.checkpoint()
  const [seen, counts] = [viewKept(life), countsOf(life)]
  await life.close()
  t.deepEqual((await verifyKept(life.root)).findings, [])
  dropTables(life.root)
  const next = await openKept(life.root, { tuning })
  t.deepEqual(viewKept(next), seen)
  t.deepEqual(countsOf(next), counts)
  return next
}

test('a note beside others that ended later stays in the partition in which it ended', async (t) => {
  const life = await openKept(tempRoot(t), { tuning })
  const early = await life.write()
  const open = [await life.write({ done: false }), await life.write({ done: false }), await life.write({ done: false })]
  await life.checkpoint()
  life.pass()
  await life.write()
  await life.checkpoint()
  const pages = manifestIn(life.root).collections['kept_notes']?.pages.map(({ no }) => no)
  for (const note of open) await life.change(note, { done: true })
  await life.checkpoint()
  t.notDeepEqual(
    manifestIn(life.root)
      .collections['kept_notes']?.pages.slice(0, 1)
      .map(({ no }) => no),
    pages?.slice(0, 1),
  )
  t.deepEqual(countsOf(life), [
    [1, 1],
    [2, 4],
  ])
  const next = await live(t, life)
  next.pass()
  await next.write()
  await next.checkpoint()
  await next.fall(1)
  t.false(next.notes.ids('all', 'all').includes(early.id))
  t.is(next.notes.count('all', 'all'), 5)
  await (await live(t, next)).close()
})

for (const seed of [1, 2, 3, 4])
  test(`whatever is written, ended and let fall, tables made again say the same (seed ${seed})`, async (t) => {
    const random = createRandom(seed)
    let life = await openKept(tempRoot(t), { tuning })
    const open: KeptNote[] = []
    for (let step = 0; step < 150; step += 1) {
      if (random.chance(0.5)) {
        const note = await life.write({ done: random.chance(0.3), text: 'x'.repeat(random.below(90)) })
        if (!note.done) open.push(note)
      } else if (open.length > 0) {
        const [note] = open.splice(random.below(open.length), 1)
        if (note !== undefined) await life.change(note, { done: true })
      }
      if (random.chance(0.3)) await life.checkpoint()
      if (random.chance(0.1)) life.pass()
      const [oldest, ...newer] = countsOf(life)
      if (oldest !== undefined && newer.length > 4) await life.fall(oldest[0])
      if (step % 50 === 49) life = await live(t, life)
    }
    t.true(life.state.retention.kinds().some(({ fell }) => fell > 0))
    await life.close()
  })
