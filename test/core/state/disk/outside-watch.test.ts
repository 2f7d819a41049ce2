import { mkdirSync, rmSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { watchFolders } from '../../../../core/state/disk/outside-watch.js'
import { freshRoot } from '../../../support/daemon.js'

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

test('skills-6: a folder that was removed or moved and made anew is watched anew', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const folder = join(root, 'mine')
  let changes = 0
  const watching = watchFolders({ changed: () => void (changes += 1), failed: (_, error) => t.fail(String(error)) })
  t.teardown(() => watching.close())
  const isTold = async (work: () => void): Promise<boolean> => {
    const before = changes
    work()
    for (let left = 400; left > 0 && changes === before; left -= 1) await sleep(10)
    return changes > before
  }
  const write = (text: string) => () => writeFileSync(join(folder, 'SKILL.md'), text)
  mkdirSync(folder)
  t.true(watching.set([folder]))
  t.true(await isTold(write('one')))
  t.false(watching.set([folder]), 'it is watched already')
  const others = [() => rmSync(folder, { recursive: true }), () => renameSync(folder, join(root, 'aside'))]
  for (const take of others) {
    t.true(await isTold(take))
    mkdirSync(folder)
    await sleep(100)
    t.true(watching.set([folder]), 'another folder of that name is not watched yet')
    t.true(await isTold(write('two')))
  }
})
