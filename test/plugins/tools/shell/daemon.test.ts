import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { createClock } from '../../../../core/clock.js'
import { readProcesses } from '../../../../plugins/tools/shell/process-table.js'
import { rootTag } from '../../../../plugins/tools/shell/leftovers.js'
import { freshRoot, spawnDaemon } from '../../../support/daemon.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { makeFolder } from '../../../support/tools.js'

const clock = createClock()

const marked = async (root: string): Promise<number[]> =>
  (await readProcesses()).filter(({ marker }) => marker?.startsWith(`${rootTag(root)}.`) === true).map(({ pid }) => pid)

const eventually = async (holds: () => Promise<boolean>): Promise<boolean> => {
  for (let n = 0; n < 500; n += 1) {
    if (await holds()) return true
    await clock.sleep(20)
  }
  return false
}

test('a run uses files and the shell of its workspace, and a cancel stops its command', async (t) => {
  const [root, workspace] = [await freshRoot(), await makeFolder(t)]
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const daemon = await spawnDaemon({ root, flags: ['--workspace-root', workspace, '--permission-mode', 'bypassPermissions'] })
  await openSession(daemon)
  const done = await submit(daemon, 's1', '/tool write_file {"path":"a.txt","content":"made by a run"}\n---\n/tool bash {"command":"cp a.txt b.txt"}')
  t.is((await until(daemon, done.run_id, 'completed', 'failed')).status, 'completed')
  t.is(await readFile(join(workspace, 'b.txt'), 'utf8'), 'made by a run')
  const long = await submit(daemon, 's1', '/tool bash {"command":"(setsid sleep 300 &); touch ready; sleep 300"}')
  t.true(await eventually(() => readFile(join(workspace, 'ready')).then(() => true, () => false)))
  await daemon.request('POST', `/v1/runs/${long.run_id}/cancel`)
  t.true(await eventually(async () => (await marked(root)).length === 0))
  await daemon.stop()
})

test('when the daemon is killed its command goes with it, and what escaped is stopped at the next start', async (t) => {
  const [root, workspace] = [await freshRoot(), await makeFolder(t)]
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const flags = ['--workspace-root', workspace, '--permission-mode', 'bypassPermissions']
  const first = await spawnDaemon({ root, flags })
  await openSession(first)
  await submit(first, 's1', '/tool bash {"command":"setsid sleep 300 & while :; do date +%N > beat; touch ready; sleep 0.05; done"}')
  t.true(await eventually(() => readFile(join(workspace, 'ready')).then(() => true, () => false)))
  await first.kill('SIGKILL')
  t.true(await eventually(async () => (await marked(root)).length === 1), 'the group of the command is gone, the one that left it is not')
  const second = await spawnDaemon({ root, flags })
  t.deepEqual(await marked(root), [])
  await second.stop()
})
