import test from 'ava'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { noInterrupts, type Interrupts } from '../../../../core/base/interrupts.js'
import { unsafeCast } from '../../../../core/base/schema.js'
import type { CollectionSpec } from '../../../../core/state/contract.js'
import type { Disk } from '../../../../core/state/disk/disk.js'
import { planRepair } from '../../../../core/state/inspect/repair-plan.js'
import { verifyRoot, type VerifyReport } from '../../../../core/state/inspect/verify.js'
import { damages, only } from '../../../support/damages.js'
import { clock, declared, disk, holdRoot, keptRoot, writeNotes } from '../../../support/kept-root.js'
import { note, tempRoot } from '../../../support/notes.js'
import { waitingCalls } from '../../../support/waiting-calls.js'

const verify = (root: string): Promise<VerifyReport> => verifyRoot({ root, disk, clock, declared })
/** Files below a folder that this process has open. */
const openIn = (folder: string): string[] =>
  readdirSync('/proc/self/fd')
    .flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/self/fd/${fd}`)]
      } catch {
        return []
      }
    })
    .filter((path) => path.startsWith(folder))
test('a check is one turn, and nothing of the files that it has read waits for the end of it', async (t) => {
  const root = await keptRoot(t)
  const waiting: number[] = []
  const inOneGo: Interrupts['inOneGo'] = async (work) => {
    waiting.push(waitingCalls())
    const result = work()
    waiting.push(waitingCalls())
    return result
  }
  await verifyRoot({ root, disk, clock, declared, interrupts: { ...noInterrupts, inOneGo } })
  t.is(waiting.length, 2)
  t.is(waiting[1], waiting[0])
})

test('blobs are looked at one folder after the other: the names of all never come together', async (t) => {
  const root = await keptRoot(t)
  const held = await holdRoot(root)
  for (let n = 0; n < 20; n += 1) await held.state.blobs('pictures').put(Buffer.from(`picture ${n}`))
  await held.end()
  let [listed, most] = [0, 0]
  const list = (path: string): string[] => {
    if (/\/blobs\/pictures\/../u.test(path)) listed += 1
    most = Math.max(most, listed)
    return disk.list(path)
  }
  const stat: Disk['stat'] = (path) => {
    if (/\/blobs\/pictures\/..\/./u.test(path)) listed = 0
    return disk.stat(path)
  }
  const { findings } = await verifyRoot({ root, disk: { ...disk, list, stat }, clock, declared })
  t.deepEqual([findings, most], [[], 1])
})

test('a root is clean after an orderly end, after a kill, and while a daemon writes to it', async (t) => {
  const root = await keptRoot(t)
  const killed = await verify(root)
  t.deepEqual(killed.findings, [])
  t.true(killed.clean)
  t.false(killed.live)
  t.deepEqual(killed.records, { people: 1, notes: 52 })
  t.deepEqual(killed.entries, { journal: 60 })
  t.true(
    killed.checked.every(({ ms }) => ms >= 0) && killed.checked.some(({ area, bytes }) => area === 'log' && bytes > 0),
  )
  const held = await holdRoot(root)
  const writing = writeNotes(held, 100, 300)
  const live = await verify(root)
  t.true(live.live && live.clean, JSON.stringify(live.findings))
  await Promise.all([writing, held.checkpoint()])
  t.deepEqual((await verify(root)).findings, [])
  await held.end()
  const ended = await verify(root)
  t.deepEqual(ended.findings, [])
  t.is(ended.sequence, held.state.health.sequence)
  t.deepEqual(openIn(root), [])
})

test('a spool that a kill or a power cut left without its header is a leftover, which the next start clears', async (t) => {
  for (const left of ['', '{"v":1,"k":"spool","drop', '\0'.repeat(4096)]) {
    const root = await keptRoot(t)
    const file = only(join(root, 'spools/tasks'))
    writeFileSync(file, left)
    const report = await verify(root)
    t.like(report.findings, [{ kind: 'leftover', file }])
    t.true(report.clean)
    const held = await holdRoot(root)
    t.like(held.report.spools, [{ file }])
    await held.end()
    t.deepEqual((await verify(root)).findings, [])
  }
})

test('a root that is checked again and again under load and checkpoints is never called damaged', async (t) => {
  const held = await holdRoot(tempRoot(t))
  await held.state.commit((tx) => tx.insert(held.people, { name: 'ann' }))
  for (let round = 0; round < 12; round += 1) {
    const work = [writeNotes(held, round * 20, 60), held.checkpoint()]
    await setTimeout(round)
    const { findings } = await verify(held.lock.root)
    t.deepEqual(
      findings.filter(({ severity }) => severity !== 'leftover'),
      [],
    )
    await Promise.all(work)
  }
  await held.end()
})

for (const { what, kind, make } of damages) {
  test(`state-22: ${what} is found with its path and byte`, async (t) => {
    const root = await keptRoot(t)
    const { file, offset } = await make(root, t)
    const { findings, clean } = await verify(root)
    t.false(clean)
    t.true(
      findings.some((found) => found.kind === kind && found.file === file && found.offset === offset),
      JSON.stringify(findings.slice(0, 3)),
    )
  })
}

test('what a kill leaves behind is named, and is no damage', async (t) => {
  const root = await keptRoot(t)
  const orphans = [
    join(root, 'log/000000000099.ndjson'),
    join(root, 'data/notes/page-000000000099.ndjson'),
    join(root, 'tombstones/people.ndjson'),
    join(root, 'manifest.json.123456'),
  ]
  for (const file of orphans) writeFileSync(file, '{', { mode: 0o600 })
  appendFileSync(only(join(root, 'data/notes'), 'page-000000000001'), '{"id":')
  appendFileSync(join(root, 'log/000000000002.ndjson'), '{"s":')
  const { findings, clean } = await verify(root)
  t.true(clean)
  for (const file of orphans)
    t.true(
      findings.some((found) => found.kind === 'leftover' && found.file === file),
      file,
    )
  t.deepEqual([...new Set(findings.map(({ kind }) => kind))].toSorted(), ['behind', 'leftover', 'torn'])
  await (await holdRoot(root)).end()
  t.deepEqual((await verify(root)).findings, [])
})

test('a file of another name is a stranger wherever it lies; folders of people are theirs', async (t) => {
  const root = await keptRoot(t)
  const strangers = ['notes.txt', 'log/notes.txt', 'data/notes/notes.txt', 'documents/notes.txt'].map((name) =>
    join(root, name),
  )
  for (const file of [...strangers, join(root, 'README.md')]) writeFileSync(file, 'x', { mode: 0o600 })
  mkdirSync(join(root, 'skills'), { recursive: true, mode: 0o700 })
  writeFileSync(join(root, 'skills/any.md'), 'x', { mode: 0o600 })
  t.deepEqual(
    (await verify(root)).findings.map(({ kind, file }) => `${kind} ${file}`).toSorted(),
    strangers.map((file) => `stranger ${file}`).toSorted(),
  )
})

test('what has a strange name and is no file is to be removed by hand, and not to be replaced', async (t) => {
  const root = await keptRoot(t)
  const strange = [join(root, 'data/notes/pipe'), join(root, 'pipe')]
  for (const path of strange) execFileSync('mkfifo', [path])
  const { byHand, actions } = planRepair(await verify(root))
  t.deepEqual(
    byHand.map(({ file, rule, advice }) => [file, rule, advice]).toSorted(),
    strange.map((file) => [
      file,
      'no file of the daemon has this name, and it is no file',
      'Remove it, or move it out of the root: nothing counts on it.',
    ]),
  )
  t.deepEqual(actions, [])
})

test('a record that breaks its struct or names what is not there is found where it stands', async (t) => {
  const held = await holdRoot(tempRoot(t))
  await held.state.commit((tx) => {
    tx.insert(held.people, { name: 'ann' })
    tx.insert(held.notes, note(1))
    tx.insert(held.notes, note(2, { owner: 'nobody' }))
    tx.insert(held.notes, note(3, { text: unsafeCast<string>(3) }))
    tx.append(held.journal, 'ann', 'far longer than twenty characters')
  })
  const inLog = (await verify(held.lock.root)).findings
  await held.end()
  const onPages = (await verify(held.lock.root)).findings
  for (const findings of [inLog, onPages]) {
    t.deepEqual(findings.map(({ kind }) => kind).toSorted(), ['record', 'record', 'reference'])
    t.true(findings.some(({ rule }) => rule === 'n2 of notes names nobody of people, which is not there'))
    t.true(findings.every(({ offset }) => offset > 0))
  }
  t.regex(onPages.find(({ kind }) => kind === 'reference')?.file ?? '', /data\/notes\/page-/u)
})

test('a blob that a record names and that is missing or cut is found where the record stands', async (t) => {
  const root = await keptRoot(t)
  const sha256 = createHash('sha256').update('a picture').digest('hex')
  const notes: CollectionSpec<{ id: string }> = {
    name: 'notes',
    version: 1,
    id: ({ id }) => id,
    indexes: {},
    blobs: ({ id }) => (id === 'n3' ? [{ area: 'pictures', sha256, bytes: 9 }] : []),
  }
  const naming = { ...declared, collections: new Map([...declared.collections, ['notes', unsafeCast(notes)]]) }
  const look = (live?: boolean) =>
    verifyRoot({ root, disk, clock, declared: unsafeCast(naming), ...(live !== undefined && { live }) })
  t.deepEqual((await look()).findings, [])
  const file = join(root, 'blobs', 'pictures', sha256.slice(0, 2), sha256)
  truncateSync(file, 4)
  t.deepEqual((await look()).findings.map(({ kind }) => kind).toSorted(), ['blob', 'reference'])
  unlinkSync(file)
  const missing = await look()
  t.false(missing.clean)
  t.like(missing.findings, [
    {
      kind: 'reference',
      severity: 'damage',
      rule: `n3 of notes names ${sha256} of blobs/pictures, which is not there whole`,
    },
  ])
  t.true((await look(true)).clean)
})

test('state-22: a check changes nothing, and a folder without a root is refused', async (t) => {
  const root = await keptRoot(t)
  const seen = (): string[] =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .toSorted()
      .map((name) => `${name} ${statSync(join(root, name)).mtimeMs} ${statSync(join(root, name)).size}`)
  const before = seen()
  await verify(root)
  t.deepEqual(seen(), before)
  const empty = tempRoot(t)
  await t.throwsAsync(verify(empty), { message: /no state root/u })
  for (const name of ['log', 'data']) mkdirSync(join(empty, name))
  writeFileSync(join(empty, 'manifest.json'), '{"name":"an app"}')
  writeFileSync(join(empty, 'log', 'app.log'), 'not ours')
  await t.throwsAsync(verify(empty), { code: 'state_root_absent' })
})
