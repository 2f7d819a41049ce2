import test, { type ExecutionContext } from 'ava'
import { mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Json, JsonObject } from '../../../../core/base/schema.js'
import { createDocuments } from '../../../../core/state/side/document.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import type { Disk } from '../../../../core/state/disk/disk.js'

const place = (t: ExecutionContext, disk: Disk = createDisk()) => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-document-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const folder = join(root, 'documents')
  const aside: { path: string; reason: string }[] = []
  const setAside = async (path: string, reason: string): Promise<void> => {
    aside.push({ path, reason })
    renameSync(path, join(root, basename(path)))
  }
  return { folder, aside, open: () => createDocuments({ folder, disk, setAside }) }
}

test('a document is absent, then what was written, also for the next life', async (t) => {
  const { folder, open } = place(t)
  const document = open().document<{ mode: string }>('runtime')
  t.is(document.read(), undefined)
  await document.write({ mode: 'plan' })
  t.deepEqual(document.read(), { mode: 'plan' })
  t.deepEqual(open().document('runtime').read(), { mode: 'plan' })
  t.is(document.path, join(folder, 'runtime.json'))
  t.is(statSync(document.path).mode & 0o777, 0o600)
  t.like(JSON.parse(readFileSync(document.path, 'utf8')), { mode: 'plan' })
})

test('writes of one document settle in the order they were asked for, and each caller changes a copy', async (t) => {
  const { open } = place(t)
  const document = open().document<JsonObject>('runtime')
  const value: Record<string, Json> = { n: 0 }
  const writes = Array.from({ length: 20 }, (_, n) => {
    value['n'] = n
    return document.write(value)
  })
  value['n'] = 'later'
  await Promise.all(writes)
  t.deepEqual(document.read(), { n: 19 })
  t.deepEqual(open().document('runtime').read(), { n: 19 })
})

test('state-21: a damaged document is set aside with its reason when the root is opened, its neighbours stay', async (t) => {
  const { folder, aside, open } = place(t)
  const before = open()
  await before.document('good').write({ a: 1 })
  await before.document('bad').write({ a: 1 })
  const path = join(folder, 'bad.json')
  writeFileSync(path, readFileSync(path, 'utf8').replace('1', '2'))
  writeFileSync(join(folder, 'bad.json.4711'), '{"half')
  const documents = open()
  t.deepEqual(await documents.load(), { swept: [join(folder, 'bad.json.4711')], damaged: [path] })
  t.deepEqual(aside, [{ path, reason: 'its bytes do not match its digest' }])
  t.deepEqual(readdirSync(folder), ['good.json'])
  t.is(documents.document('bad').read(), undefined)
  t.deepEqual(documents.document('good').read(), { a: 1 })
})

test('a document that is damaged later is a problem, never a value', async (t) => {
  const { open } = place(t)
  const document = open().document('runtime')
  await document.write({ a: 1 })
  writeFileSync(document.path, '{}')
  t.throws(() => open().document('runtime').read(), { code: 'document_damaged' })
})

test('after a failed write the value is what the disk has', async (t) => {
  const real = createDisk()
  let full = false
  const disk: Disk = {
    ...real,
    replace: (path, bytes) =>
      full ? Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })) : real.replace(path, bytes),
  }
  const { open } = place(t, disk)
  const document = open().document('runtime')
  await document.write({ a: 1 })
  full = true
  await t.throwsAsync(document.write({ a: 2 }), { code: 'ENOSPC' })
  t.deepEqual(document.read(), { a: 1 })
  full = false
  await document.write({ a: 3 })
  t.deepEqual(document.read(), { a: 3 })
})

test('a write that fails behind its rename is read from the disk, also by who looked in between', async (t) => {
  const real = createDisk()
  let between = (): void => {}
  const disk: Disk = {
    ...real,
    replace: async (path, bytes) => {
      between()
      await real.replace(path, bytes)
      if (Buffer.from(bytes).includes('late')) throw Object.assign(new Error('no sync'), { code: 'EIO' })
    },
  }
  const { open } = place(t, disk)
  const document = open().document('runtime')
  await document.write({ a: 'early' })
  between = () => void t.deepEqual(document.read(), { a: 'early' })
  await t.throwsAsync(document.write({ a: 'late' }), { code: 'EIO' })
  t.deepEqual(document.read(), { a: 'late' })
})

test('a name that could leave the folder is refused', (t) => {
  const documents = place(t).open()
  for (const name of ['../root', 'a/b', '', 'A', '.hidden', 'a.json'])
    t.throws(() => documents.document(name), { message: /no name/u })
})
