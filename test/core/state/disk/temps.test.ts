import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { sweepTemps } from '../../../../core/state/disk/temps.js'
import { tempRoot } from '../../../support/notes.js'

test('half-written files are swept, also when one of them has just been put in its place', async (t) => {
  const folder = tempRoot(t)
  for (const name of ['a.json', 'a.json.1', 'b.json.22', 'c.json.333']) writeFileSync(join(folder, name), '')
  const disk = createDisk()
  const gone = join(folder, 'b.json.22')
  const unlink = (path: string): Promise<void> => {
    if (existsSync(gone)) rmSync(gone)
    return disk.unlink(path)
  }
  await sweepTemps({ ...disk, unlink }, folder)
  t.deepEqual(readdirSync(folder), ['a.json'])
  writeFileSync(gone, '')
  const refused = () => Promise.reject(Object.assign(new Error('no'), { code: 'EACCES' }))
  await t.throwsAsync(sweepTemps({ ...disk, unlink: refused }, folder), { code: 'EACCES' })
})
