/** A stop on a disk that is nearly stuck: what the commands put out is closed late, and nothing is changed too late. */
import test from 'ava'
import { startTestDaemon } from '../../../support/daemon.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { slowDisk } from '../../../support/slow-disk.js'
import { makeFolder } from '../../../support/tools.js'

const spoolMs = 9_000

test('a stop waits for commands whose output is closed slowly, and nothing of them comes after it', async (t) => {
  const { disk, slow } = slowDisk((path) => (path.includes('spools') ? spoolMs : 0))
  const daemon = await startTestDaemon(t, {
    disk,
    flags: { 'workspace-root': await makeFolder(t), 'permission-mode': 'bypassPermissions' },
    config: { shell: { grace_ms: 100 } },
  })
  await openSession(daemon)
  const call = `/tool bash {"command":"echo begun; sleep 300","run_in_background":true}\n/say Over.`
  await until(daemon, (await submit(daemon, 's1', call)).run_id, 'completed')
  slow(true)
  t.deepEqual(await daemon.daemon.stop(), { reason: 'stopped', clean: true })
  await new Promise((resolve) => setTimeout(resolve, spoolMs))
  t.deepEqual(
    daemon.daemon.view.plugins().filter(({ fault_count: faults }) => faults > 0),
    [],
  )
  t.deepEqual(
    daemon.log.filter(({ level }) => level === 'error' || level === 'warn'),
    [],
  )
})
