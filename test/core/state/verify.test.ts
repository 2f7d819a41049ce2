import test from 'ava'
import type { ExecutionContext } from 'ava'
import { appendFileSync, chmodSync, copyFileSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { trusted } from '../../../core/schema.js'
import { verifyRoot } from '../../../core/state/verify.js'
import type { VerifyReport } from '../../../core/state/verify.js'
import { clock, declared, disk, holdRoot, keptRoot, writeNotes } from '../../support/kept-root.js'
import { note, tempRoot } from '../../support/notes.js'

const verify = (root: string): Promise<VerifyReport> => verifyRoot({ root, disk, clock, declared })
const flip = (file: string, at: number): void => {
  const bytes = readFileSync(file)
  bytes[at] = (bytes[at] ?? 0) ^ 0x10
  writeFileSync(file, bytes)
}
/** The one file in a folder whose name begins so. */
const only = (folder: string, start = ''): string => join(folder, readdirSync(folder).filter((name) => name.startsWith(start)).at(-1) ?? '')
const lineAt = (file: string, line: number): number => readFileSync(file, 'latin1').split('\n').slice(0, line).join('\n').length + 1

test('a root is clean after an orderly end, after a kill, and while a daemon writes to it', async (t) => {
  const root = await keptRoot(t)
  const killed = await verify(root)
  t.deepEqual(killed.findings, [])
  t.true(killed.clean)
  t.false(killed.live)
  t.deepEqual(killed.records, { people: 1, notes: 52 })
  t.deepEqual(killed.entries, { journal: 60 })
  t.true(killed.checked.every(({ ms }) => ms >= 0) && killed.checked.some(({ area, bytes }) => area === 'log' && bytes > 0))
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
})

test('a root that is checked again and again under load and checkpoints is never called damaged', async (t) => {
  const held = await holdRoot(tempRoot(t))
  await held.state.commit((tx) => tx.insert(held.people, { name: 'ann' }))
  for (let round = 0; round < 12; round += 1) {
    const work = [writeNotes(held, round * 20, 60), held.checkpoint()]
    await clock.sleep(round)
    const { findings } = await verify(held.lock.root)
    t.deepEqual(findings.filter(({ severity }) => severity !== 'leftover'), [])
    await Promise.all(work)
  }
  await held.end()
})

interface Damage { readonly what: string; readonly kind: string; readonly make: (root: string, t: ExecutionContext) => { file: string; offset: number } | Promise<{ file: string; offset: number }> }

const damages: readonly Damage[] = [
  { what: 'a flipped bit in a page', kind: 'page', make: (root) => { const file = only(join(root, 'data/notes'), 'page'); const offset = lineAt(file, 3); flip(file, offset + 20); return { file, offset } } },
  { what: 'a flipped bit in the header of a page', kind: 'page', make: (root) => { const file = only(join(root, 'data/notes'), 'page'); flip(file, 8); return { file, offset: 0 } } },
  { what: 'a page that was cut', kind: 'page', make: (root) => { const file = only(join(root, 'data/notes'), 'page'); const offset = lineAt(file, 20); truncateSync(file, offset); return { file, offset } } },
  { what: 'a page that is gone', kind: 'page', make: (root) => { const file = only(join(root, 'data/notes'), 'page'); rmSync(file); return { file, offset: 0 } } },
  { what: 'a flipped bit in a stream page', kind: 'page', make: (root) => { const file = only(join(root, 'streams/journal'), 'page'); const offset = lineAt(file, 1); flip(file, offset + 30); return { file, offset } } },
  { what: 'pages that were swapped', kind: 'page', make: (root) => {
    const [ours, theirs] = [only(join(root, 'data/notes'), 'page'), only(join(root, 'streams/journal'), 'page')]
    copyFileSync(ours, `${root}-swap`)
    copyFileSync(theirs, ours)
    renameSync(`${root}-swap`, theirs)
    return { file: theirs, offset: 0 }
  } },
  { what: 'the page of another root', kind: 'page', make: async (root, t) => {
    const file = only(join(root, 'data/notes'), 'page')
    copyFileSync(only(join(await keptRoot(t), 'data/notes'), 'page'), file)
    return { file, offset: 0 }
  } },
  { what: 'a flipped bit in an index', kind: 'index', make: (root) => { const file = only(join(root, 'data/notes'), 'index'); const offset = lineAt(file, 1); flip(file, offset + 12); return { file, offset } } },
  { what: 'a flipped bit in the tombstones', kind: 'tombstones', make: (root) => { const file = join(root, 'tombstones/notes.ndjson'); const offset = lineAt(file, 1); flip(file, offset + 4); return { file, offset } } },
  { what: 'a flipped bit in the middle of the log', kind: 'log', make: (root) => { const file = only(join(root, 'log')); const offset = lineAt(file, 4); flip(file, offset + 9); return { file, offset } } },
  { what: 'a log that is gone', kind: 'log', make: (root) => { const file = only(join(root, 'log')); rmSync(file); return { file, offset: 0 } } },
  { what: 'the log of another root', kind: 'log', make: async (root, t) => { const file = only(join(root, 'log')); copyFileSync(only(join(await keptRoot(t), 'log')), file); return { file, offset: 0 } } },
  { what: 'a flipped bit in the manifest', kind: 'manifest', make: (root) => { flip(join(root, 'manifest.json'), 50); return { file: join(root, 'manifest.json'), offset: 0 } } },
  { what: 'a manifest that is gone', kind: 'manifest', make: (root) => { rmSync(join(root, 'manifest.json')); return { file: join(root, 'manifest.json'), offset: 0 } } },
  { what: 'a flipped bit in root.json', kind: 'root', make: (root) => { flip(join(root, 'root.json'), 30); return { file: join(root, 'root.json'), offset: 0 } } },
  { what: 'a flipped bit in the watermark', kind: 'watermark', make: (root) => { flip(join(root, 'watermark.json'), 30); return { file: join(root, 'watermark.json'), offset: 0 } } },
  { what: 'a flipped bit in a document', kind: 'document', make: (root) => { flip(join(root, 'documents/settings.json'), 8); return { file: join(root, 'documents/settings.json'), offset: 0 } } },
  { what: 'a flipped bit in a blob', kind: 'blob', make: (root) => { const file = only(only(join(root, 'blobs/pictures'))); flip(file, 3); return { file, offset: 0 } } },
  { what: 'a file that anyone may read', kind: 'mode', make: (root) => { const file = only(join(root, 'log')); chmodSync(file, 0o644); return { file, offset: 0 } } },
  { what: 'a folder that anyone may enter', kind: 'mode', make: (root) => { chmodSync(join(root, 'data'), 0o755); return { file: join(root, 'data'), offset: 0 } } },
  { what: 'a file that nobody knows', kind: 'stranger', make: (root) => { const file = join(root, 'data/notes/notes.bak'); writeFileSync(file, 'x', { mode: 0o600 }); return { file, offset: 0 } } },
  { what: 'a link in the place of a folder', kind: 'stranger', make: (root) => { renameSync(join(root, 'blobs'), `${root}-blobs`); symlinkSync(`${root}-blobs`, join(root, 'blobs')); return { file: join(root, 'blobs'), offset: 0 } } },
]

for (const { what, kind, make } of damages) {
  test(`${what} is found with its path and byte`, async (t) => {
    const root = await keptRoot(t)
    const { file, offset } = await make(root, t)
    const { findings, clean } = await verify(root)
    t.false(clean)
    t.true(findings.some((found) => found.kind === kind && found.file === file && found.offset === offset), JSON.stringify(findings.slice(0, 3)))
  })
}

test('what a kill leaves behind is named, and is no damage', async (t) => {
  const root = await keptRoot(t)
  const orphans = [join(root, 'log/000000000099.ndjson'), join(root, 'data/notes/page-000000000099.ndjson'), join(root, 'tombstones/people.ndjson'), join(root, 'manifest.json.123456')]
  for (const file of orphans) writeFileSync(file, '{', { mode: 0o600 })
  appendFileSync(only(join(root, 'data/notes'), 'page-000000000001'), '{"id":')
  appendFileSync(join(root, 'log/000000000002.ndjson'), '{"s":')
  const { findings, clean } = await verify(root)
  t.true(clean)
  for (const file of orphans) t.true(findings.some((found) => found.kind === 'leftover' && found.file === file), file)
  t.deepEqual([...new Set(findings.map(({ kind }) => kind))].toSorted(), ['behind', 'leftover', 'torn'])
  await (await holdRoot(root)).end()
  t.deepEqual((await verify(root)).findings, [])
})

test('a record that breaks its struct or names what is not there is found where it stands', async (t) => {
  const held = await holdRoot(tempRoot(t))
  await held.state.commit((tx) => {
    tx.insert(held.people, { name: 'ann' })
    tx.insert(held.notes, note(1))
    tx.insert(held.notes, note(2, { owner: 'nobody' }))
    tx.insert(held.notes, note(3, { text: trusted<string>(3) }))
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

test('a check changes nothing, and a folder without a root is refused', async (t) => {
  const root = await keptRoot(t)
  const seen = (): string[] => readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted().map((name) => `${name} ${statSync(join(root, name)).mtimeMs} ${statSync(join(root, name)).size}`)
  const before = seen()
  await verify(root)
  t.deepEqual(seen(), before)
  const empty = tempRoot(t)
  await t.throwsAsync(verify(empty), { message: /no state root/u })
  mkdirSync(join(empty, 'log'))
  t.deepEqual((await verify(empty)).findings.map(({ kind }) => kind).filter((kind) => kind !== 'mode'), ['root'])
})
