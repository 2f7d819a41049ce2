/** Folders that programs fill are removed, whatever they put there. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { openWorkFolders } from '../../../../core/state/side/work-folders.js'
import { freshRoot } from '../../../support/folders.js'

const made = async (script: string) => {
  const [root, outside] = [await freshRoot(), await freshRoot()]
  const folders = openWorkFolders(root, 'worktrees')
  await folders.prepare()
  execFileSync('/bin/sh', ['-c', `mkdir work; cd work; ${script}`, 'sh', outside], { cwd: join(root, 'worktrees') })
  return { folders, outside, left: () => readdirSync(join(root, 'worktrees')) }
}

test('worktrees-3: a folder is removed that is deeper than a path can say', async (t) => {
  const deep = `for (let at = 0; at < 150; at++) { fs.mkdirSync("${'d'.repeat(100)}"); process.chdir("${'d'.repeat(100)}") }`
  const { folders, left } = await made(`'${process.execPath}' -e '${deep}'`)
  await folders.remove('work')
  t.deepEqual(left(), [])
  await folders.remove('work')
})

test('worktrees-3: folders that are closed to writing are removed, and nothing that a link leads to', async (t) => {
  const { folders, outside, left } = await made(
    'mkdir -p cache/mod; echo x > cache/mod/f; touch $1/kept; ln -s $1 cache/out; chmod -R a-w cache; chmod 0 cache/mod',
  )
  await folders.remove('work')
  t.deepEqual(left(), [])
  t.true(existsSync(join(outside, 'kept')))
})
