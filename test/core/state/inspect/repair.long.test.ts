import test from 'ava'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { createIds } from '../../../../core/base/ids.js'
import { unsafeCast } from '../../../../core/base/schema.js'
import { noteTaken } from '../../../../core/records/repair-notes.js'
import { unseal } from '../../../../core/state/format/sealed.js'
import { repairRoot, type RepairOptions } from '../../../../core/state/inspect/repair.js'
import { verifyRoot } from '../../../../core/state/inspect/verify.js'
import { damages, flip, lineAt, only } from '../../../support/damages.js'
import { clock, declared, disk, holdRoot, keptRoot, smallReads, writeNotes } from '../../../support/kept-root.js'
import { note, tempRoot } from '../../../support/notes.js'

const ids = createIds(clock)
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const repair = (root: string, more: Partial<RepairOptions> = {}) =>
  repairRoot({ root, disk: smallReads, clock, ids: createIds(clock), log: silent, declared, ...more })
const losing = { apply: true, acceptLoss: true }
const verify = (root: string) => verifyRoot({ root, disk: smallReads, clock, declared })
/** Every file but those of the lock, with its bytes. */
const filesOf = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(root, name)).isFile() && name !== 'daemon.lock')
    .toSorted()
    .map((name) => `${name} ${readFileSync(join(root, name)).toString('base64')}`)
const lossless: ReadonlySet<string> = new Set(['index', 'root', 'watermark', 'mode', 'stranger', 'spool'])

for (const { what, kind, make } of damages.filter(({ what: one }) => !one.startsWith('a link'))) {
  test(`state-23: ${what} is mended: planned first, then done, then clean, and a second time nothing`, async (t) => {
    const root = await keptRoot(t)
    await make(root, t)
    const before = filesOf(root)
    const plan = await repair(root)
    t.deepEqual(filesOf(root), before)
    t.false(plan.applied)
    t.true(
      plan.actions.length > 0 && plan.actions.every(({ reason, consequence }) => reason !== '' && consequence !== ''),
    )
    t.is(
      plan.actions.some(({ loss }) => loss),
      !lossless.has(kind),
    )
    if (!lossless.has(kind)) await t.throwsAsync(repair(root, { apply: true }), { message: /acknowledged data/u })
    t.deepEqual(filesOf(root), before)
    const done = await repair(root, { apply: true, acceptLoss: !lossless.has(kind) })
    t.deepEqual(
      done.after.findings.filter(({ kind: one }) => one !== 'reference'),
      [],
    )
    const mended = filesOf(root)
    t.deepEqual((await repair(root, losing)).actions, [])
    t.deepEqual(filesOf(root), mended)
    const held = await holdRoot(root)
    t.is(held.report.damage, undefined)
    t.is(held.state.health.mode, 'ok')
    await held.state.commit((tx) => tx.put(held.people, { name: 'ann' }))
    await writeNotes(held, 500, 5)
    await held.end()
    t.deepEqual((await verify(root)).findings, [])
  })
}

test('a salvage loses the damaged line and nothing else', async (t) => {
  const root = await keptRoot(t)
  const page = only(join(root, 'data/notes'), 'page')
  const text = readFileSync(page, 'latin1')
  flip(page, text.indexOf('"text 12 '))
  await repair(root, losing)
  t.true(readdirSync(join(root, 'quarantine')).some((name) => name.startsWith('data-notes-page')))
  const held = await holdRoot(root)
  t.false(held.notes.has('n12'))
  const left = Array.from({ length: 54 }, (_, at) => `n${at + 1}`).filter((id) => !['n7', 'n9', 'n12'].includes(id))
  t.deepEqual(held.notes.ids('by_owner', 'ann').toSorted(), left.toSorted())
  t.deepEqual(held.notes.find('n40'), note(40, { done: false }))
  t.true(held.notes.isDeleted('n7') && held.notes.isDeleted('n9'))
  t.is(held.journal.length('ann') + held.journal.length('bob'), 60)
  t.is(held.journal.read('ann', { after: 0, limit: 1 })[0]?.entry, 'entry 1')
  t.deepEqual(held.state.document('settings').read(), { theme: 'dark' })
  await held.end()
})

test('damage in the log takes the root back to the commit before, and keeps what was cut', async (t) => {
  const root = await keptRoot(t)
  const segment = only(join(root, 'log'))
  const offset = lineAt(segment, 4)
  const tail = readFileSync(segment).subarray(offset + 1)
  flip(segment, offset)
  await repair(root, { ...losing, onTaken: (at, taken) => noteTaken({ disk: smallReads, clock, ids }, at, taken) })
  const { findings } = unsafeCast<any>(unseal(readFileSync(join(root, 'documents/findings.json'))))
  t.like(findings, [{ finding: { code: 'repair_took', severity: 'warning', file: `log/${basename(segment)}` } }])
  t.is(findings[0].finding.byte, offset)
  const kept = readdirSync(join(root, 'quarantine')).find((name) => name.endsWith('.tail')) ?? ''
  t.deepEqual(readFileSync(join(root, 'quarantine', kept)).subarray(1), tail)
  t.is(JSON.parse(readFileSync(join(root, 'quarantine', `${kept}.json`), 'utf8')).offset, offset)
  const held = await holdRoot(root)
  t.is(held.journal.length('ann') + held.journal.length('bob'), 43)
  t.true(held.notes.has('n9'))
  await held.end()
})

test('without its manifest a root is put together from its files', async (t) => {
  const root = await keptRoot(t)
  const whole = await verify(root)
  rmSync(join(root, 'manifest.json'))
  await repair(root, losing)
  const mended = await verify(root)
  t.deepEqual(mended.findings, [])
  t.deepEqual([mended.records, mended.entries], [whole.records, whole.entries])
})

test('a folder that is no state root is refused before anything in it is changed', async (t) => {
  const folder = tempRoot(t)
  const project = join(folder, 'project')
  mkdirSync(join(project, 'log'), { recursive: true, mode: 0o755 })
  writeFileSync(join(project, 'log', 'app.log'), 'not ours')
  for (const options of [{}, losing]) await t.throwsAsync(repair(project, options), { code: 'state_root_absent' })
  t.deepEqual([readdirSync(project), statSync(project).mode & 0o777], [['log'], 0o755])
  await t.throwsAsync(repair(join(folder, 'absent'), losing), { code: 'state_root_absent' })
  const root = await keptRoot(t)
  for (const part of ['data', 'data/notes'])
    await t.throwsAsync(repair(join(root, part), { ...losing, disk }), { code: 'state_root_inner' })
})

test('without root.json, manifest and watermark the id of a root is read from its files', async (t) => {
  const root = await keptRoot(t)
  const whole = await verify(root)
  const id = JSON.parse(readFileSync(join(root, 'root.json'), 'utf8')).root_id
  for (const name of ['root', 'manifest', 'watermark']) rmSync(join(root, `${name}.json`))
  await repair(root, losing)
  const mended = await verify(root)
  t.deepEqual(mended.findings, [])
  t.deepEqual([mended.records, mended.entries], [whole.records, whole.entries])
  t.is(JSON.parse(readFileSync(join(root, 'root.json'), 'utf8')).root_id, id)
})

test('of a root.json that was edited a repair keeps what can be read and agrees with other files', async (t) => {
  const root = await keptRoot(t)
  const file = join(root, 'root.json')
  const before = JSON.parse(readFileSync(file, 'utf8'))
  const mend = async (change: object): Promise<Record<string, unknown>> => {
    writeFileSync(file, JSON.stringify({ ...before, ...change }))
    t.regex((await repair(root)).actions[0]?.consequence ?? '', /as much is kept as can be read/u)
    await repair(root, losing)
    t.deepEqual((await verify(root)).findings, [])
    const { created_at_ms, compat, generation } = JSON.parse(readFileSync(file, 'utf8'))
    return { created_at_ms, compat, risen: generation > before.generation }
  }
  const { created_at_ms } = before
  t.true(created_at_ms > 0)
  t.deepEqual(await mend({ compat: ['later'] }), { created_at_ms, compat: ['later'], risen: true })
  for (const wrong of [{ root_id: 'a'.repeat(32) }, { created_at_ms: clock.now() + 1e6 }, { created_at_ms: 'x' }])
    t.like(await mend(wrong), { created_at_ms: 0, compat: [] })
})

test('several kinds of damage at once are mended in one go', async (t) => {
  const root = await keptRoot(t)
  flip(join(root, 'root.json'), 40)
  flip(join(root, 'watermark.json'), 40)
  flip(only(join(root, 'data/notes'), 'index'), 300)
  flip(only(join(root, 'streams/journal'), 'page'), 300)
  appendFileSync(only(join(root, 'log')), '{"torn')
  writeFileSync(join(root, 'data/notes/mine.txt'), 'mine', { mode: 0o644 })
  chmodSync(root, 0o755)
  t.true((await repair(root)).actions.length >= 5)
  await repair(root, losing)
  t.deepEqual((await verify(root)).findings, [])
  t.deepEqual((await repair(root, losing)).actions, [])
  t.true(readdirSync(join(root, 'quarantine')).includes('data-notes-mine.txt'))
})

test('state-24: a root that a daemon holds is not touched', async (t) => {
  const root = await keptRoot(t)
  const held = await holdRoot(root)
  await t.throwsAsync(repair(root, losing), { message: /in use by process/u })
  await held.end()
})

test('what only a person can decide is named and left', async (t) => {
  const held = await holdRoot(await keptRoot(t))
  await held.state.commit((tx) => tx.put(held.notes, note(77, { owner: 'nobody' })))
  await held.end()
  const { actions, byHand, applied } = await repair(held.lock.root, losing)
  t.deepEqual([actions, applied], [[], false])
  t.deepEqual(
    byHand.map(({ kind }) => kind),
    ['reference'],
  )
})
