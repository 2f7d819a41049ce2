import test from 'ava'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Problem } from '../../../../core/base/errors.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { checkRoot } from '../../../../core/state/root/root-check.js'
import { freshFolder } from '../../../support/folders.js'

const disk = createDisk()

test('a folder with files of another program is refused', (t) => {
  const root = freshFolder()
  writeFileSync(join(root, 'thesis.tex'), 'years of work')
  t.throws(() => checkRoot({ root, disk }), { code: 'state_root_foreign' })
})

test('a folder of a state root is told as that, wherever in it', (t) => {
  const root = freshFolder()
  writeFileSync(join(root, 'root.json'), '{}')
  for (const part of ['data', 'data/runs', 'worktrees/one']) {
    mkdirSync(join(root, part), { recursive: true })
    writeFileSync(join(root, part, 'page'), 'ours')
    const problem = t.throws<Problem>(() => checkRoot({ root: join(root, part), disk }), { code: 'state_root_inner' })
    t.is(problem.action, `Name that one: --state-root ${root}`)
  }
})

test('a root that another process opens for the first time while it is looked at is not foreign', (t) => {
  const root = freshFolder()
  const list = (path: string): string[] => {
    writeFileSync(join(root, 'root.json'), '{}')
    return disk.list(path)
  }
  t.notThrows(() => checkRoot({ root, disk: { ...disk, list } }))
})
