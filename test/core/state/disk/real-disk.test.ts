import test from 'ava'
import fs, {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { tempRoot } from '../../../support/notes.js'
import { waitingCalls } from '../../../support/waiting-calls.js'

const disk = createDisk()
const text = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : Buffer.from(bytes).toString()

test('state-5: files and folders are private from birth, and a replaced file becomes private', async (t) => {
  const root = tempRoot(t)
  await disk.makeFolder(join(root, 'a'))
  await disk.makeFolder(join(root, 'a'))
  const file = await disk.open(join(root, 'a/f'), 'create')
  await file.write(Buffer.from('abc'), 0)
  await file.sync()
  t.is(file.size(), 3)
  await file.close()
  writeFileSync(join(root, 'a/g'), 'old')
  chmodSync(join(root, 'a/g'), 0o644)
  await disk.replace(join(root, 'a/g'), Buffer.from('new'))
  t.deepEqual(
    ['a', 'a/f', 'a/g'].map((name) => (disk.stat(join(root, name))?.mode ?? 0).toString(8)),
    ['700', '600', '600'],
  )
  t.deepEqual(disk.list(join(root, 'a')), ['f', 'g'])
})

test('state-5: a symbolic link is never followed', async (t) => {
  const root = tempRoot(t)
  writeFileSync(join(root, 'secret'), 'untouched')
  symlinkSync(join(root, 'secret'), join(root, 'link'))
  const link = join(root, 'link')
  await t.throwsAsync(disk.open(link, 'write'), { code: 'ELOOP' })
  await t.throwsAsync(disk.open(link, 'create'), { code: 'EEXIST' })
  await t.throwsAsync(disk.open(link, 'read'), { code: 'ELOOP' })
  t.throws(() => disk.openSync(link), { code: 'state_root_not_regular' })
  t.throws(() => disk.readFile(link), { code: 'state_root_not_regular' })
  await t.throwsAsync(disk.replace(link, Buffer.from('x')))
  await t.throwsAsync(disk.makeFolder(link))
  mkdirSync(join(root, 'folder'))
  t.throws(() => disk.readFile(join(root, 'folder')), { code: 'state_root_not_regular', message: /a folder/u })
  symlinkSync(join(root, 'folder'), join(root, 'folder-link'))
  await t.throwsAsync(disk.syncFolder(join(root, 'folder-link')))
  t.is(disk.stat(link)?.kind, 'link')
  t.is(readFileSync(join(root, 'secret'), 'utf8'), 'untouched')
})

test('a replace that fails leaves the old file and no other', async (t) => {
  const root = tempRoot(t)
  const path = join(root, 'f')
  await disk.replace(path, Buffer.from('good'))
  const huge = new Proxy(Buffer.from('bad'), {
    get: (target, key) => (key === 'length' ? 10 : Reflect.get(target, key)),
  })
  await t.throwsAsync(disk.replace(path, huge))
  t.is(text(disk.readFile(path)), 'good')
  t.deepEqual(readdirSync(root), ['f'])
})

test('what is absent is undefined or empty, and ranges end with the file', async (t) => {
  const root = tempRoot(t)
  t.is(disk.readFile(join(root, 'nothing')), undefined)
  t.is(disk.stat(join(root, 'nothing/below')), undefined)
  t.deepEqual(disk.list(join(root, 'nothing')), [])
  await disk.replace(join(root, 'f'), Buffer.from('0123456789'))
  const file = disk.openSync(join(root, 'f'))
  t.is(text(file.read(7, 100)), '789')
  t.is(text(file.read(50, 10)), '')
  await t.throwsAsync(file.write(Buffer.from('x'), 0))
  await file.close()
  const written = await disk.open(join(root, 'f'), 'write')
  await written.truncate(4)
  await written.close()
  await disk.link(join(root, 'f'), join(root, 'g'))
  await disk.rename(join(root, 'g'), join(root, 'h'))
  t.is(disk.stat(join(root, 'h'))?.links, 2)
  await disk.unlink(join(root, 'h'))
  t.is(statSync(join(root, 'f')).size, 4)
  t.true(disk.space(root).free > 0)
})

test('a file that was opened for reading is closed at once, and one that is gone beside the main thread', async (t) => {
  const path = join(tempRoot(t), 'f')
  await disk.replace(path, Buffer.from('0123456789'))
  const [there, gone] = [disk.openSync(path), disk.openSync(path)]
  const before = waitingCalls()
  const closed = [there.close()]
  t.is(waitingCalls(), before)
  unlinkSync(path)
  closed.push(gone.close())
  t.is(waitingCalls(), before + 1)
  await Promise.all(closed)
})

test.serial('state-14: a file system that takes no more files has no room, however many bytes are free', (t) => {
  const root = tempRoot(t)
  const real = fs.statfsSync
  const lie = (files: number, ffree: number): void => {
    Object.assign(fs, { statfsSync: (path: string) => ({ ...real(path), bavail: 1000, bsize: 1, files, ffree }) })
    syncBuiltinESMExports()
  }
  t.teardown(() => {
    Object.assign(fs, { statfsSync: real })
    syncBuiltinESMExports()
  })
  lie(2000, 3)
  t.is(disk.space(root).free, 0)
  lie(2000, 500)
  t.is(disk.space(root).free, 1000)
  lie(0, 0)
  t.is(disk.space(root).free, 1000, 'a file system that does not count files')
})
