import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { createIds } from '../../../../core/base/ids.js'
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { unseal } from '../../../../core/state/format/sealed.js'
import { repairRoot } from '../../../../core/state/inspect/repair.js'
import { listState } from '../../../../core/state/inspect/show.js'
import { declared, openKept, verifyKept, viewKept } from '../../../support/kept-notes.js'
import { tempRoot } from '../../../support/notes.js'

/** Ann's entries fell all, two of Bob's four are there. */
const fallenRoot = async (t: ExecutionContext) => {
  const root = tempRoot(t)
  const life = await openKept(root)
  const old = await life.write()
  for (let n = 0; n < 2; n += 1) await life.write({ owner: 'bob' })
  await life.checkpoint()
  life.pass()
  for (let n = 0; n < 2; n += 1) await life.write({ owner: 'bob', text: `kept ${n}` })
  await life.fall(1)
  const seen = viewKept(life)
  await life.close()
  return { root, old, seen }
}

const damagePage = async (root: string): Promise<void> => {
  const page = readdirSync(join(root, 'data/plain_marks')).find((name) => name.startsWith('page-')) ?? ''
  const path = join(root, 'data/plain_marks', page)
  const bytes = readFileSync(path)
  bytes[bytes.length - 20] = 0
  writeFileSync(path, bytes)
}

const repair = (root: string) => {
  const clock = createClock()
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const options = { root, disk: createDisk(), clock, ids: createIds(clock), log, declared }
  return repairRoot({ ...options, apply: true, acceptLoss: true })
}

test('a salvage keeps the numbers of entries behind those that fell, and what fell stays so', async (t) => {
  const { root, old, seen } = await fallenRoot(t)
  await damagePage(root)
  const report = await repair(root)
  t.true(report.actions.some(({ kind }) => kind === 'salvage'))
  t.deepEqual(report.after.findings, [])
  for (let start = 0; start < 2; start += 1) {
    const life = await openKept(root)
    t.deepEqual(viewKept(life), seen)
    t.true(life.notes.hasFallen(old.id))
    t.is(life.journal.length('ann'), 1)
    t.is(life.journal.first('bob'), 3)
    await life.close()
    t.deepEqual((await verifyKept(root)).findings, [])
  }
})

test('where the manifest is lost too, entries keep the numbers that their lines have', async (t) => {
  const { root, seen } = await fallenRoot(t)
  rmSync(join(root, 'manifest.json'))
  await repair(root)
  const life = await openKept(root)
  t.deepEqual(viewKept(life).journal, seen.journal)
  await life.close()
})

test('what is shown of streams are the entries that are there', async (t) => {
  const { root } = await fallenRoot(t)
  const { streams } = listState({ root, disk: createDisk() }).value
  t.deepEqual(streams, { kept_journal: { owners: 2, entries: 2 } })
})

test('a lost root.json is made again as that of a root of which something fell', async (t) => {
  const { root } = await fallenRoot(t)
  rmSync(join(root, 'root.json'))
  await repair(root)
  const made = unseal<{ incompat: string[] }>(readFileSync(join(root, 'root.json')))
  t.deepEqual(made?.incompat, ['partitions', 'forgotten-records'], 'nobody can tell whether something was forgotten')
})
