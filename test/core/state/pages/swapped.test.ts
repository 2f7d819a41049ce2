/** Files of pages and tables that stand in the place of others, whole and sound. */
import test from 'ava'
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '../../../../core/base/errors.js'
import { verifyRoot } from '../../../../core/state/inspect/verify.js'
import { declared, holdRoot, writeNotes } from '../../../support/kept-root.js'
import { note, tempRoot } from '../../../support/notes.js'
import { clock, disk } from '../../../support/taken-root.js'

/** Names of two files of a folder that are of one length. */
const twins = (folder: string, prefix: string): readonly [string, string] => {
  const bySize = new Map<number, string>()
  for (const name of readdirSync(folder).filter((one) => one.startsWith(prefix))) {
    const file = join(folder, name)
    const other = bySize.get(statSync(file).size)
    if (other !== undefined) return [other, file]
    bySize.set(statSync(file).size, file)
  }
  throw new Error(`no two files in ${folder} are of one length`)
}

test('a page in the place of another is damage that is met when it is read: nobody is given the record of another id', async (t) => {
  const root = tempRoot(t)
  const held = await holdRoot(root, undefined, { pageBytes: 600 })
  await held.state.commit((tx) => tx.insert(held.people, { name: 'ann' }))
  for (let n = 100; n < 160; n += 1) await held.state.commit((tx) => tx.put(held.notes, note(n, { done: true })))
  await held.end()
  const [one, other] = twins(join(root, 'data/notes'), 'page-')
  renameSync(one, `${one}.aside`)
  renameSync(other, one)
  renameSync(`${one}.aside`, other)
  const again = await holdRoot(root)
  const read = Array.from({ length: 60 }, (_, n) => {
    try {
      return again.notes.find(`n${n + 100}`)?.id === `n${n + 100}`
    } catch (error) {
      return error instanceof Problem && error.code === 'storage_damaged' ? 'damaged' : error
    }
  })
  t.deepEqual(Array.from(new Set(read.map(String))).toSorted(), ['damaged', 'true'])
  await again.end()
  const { findings } = await verifyRoot({ root, disk, clock, declared, live: false })
  t.deepEqual(
    findings.filter(({ rule }) => rule === 'the header is that of another file').map(({ file }) => file),
    [one, other].toSorted(),
  )
})

test('a table in the place of another is made again from the pages', async (t) => {
  const root = tempRoot(t)
  const held = await holdRoot(root)
  await held.state.commit((tx) => tx.insert(held.people, { name: 'ann' }))
  await writeNotes(held, 1, 40)
  await held.end()
  const table = (name: string): string => join(root, 'data', name, 'index-000000000001.ndjson')
  writeFileSync(table('people'), readFileSync(table('notes')))
  const again = await holdRoot(root)
  t.deepEqual(again.report.rebuilt, ['index of people: the header is that of another file'])
  t.is(again.people.find('ann')?.name, 'ann')
  await again.end()
})
